"""The contract suites: what everything registered promises, with one function for each kind.

    from podium.testing import check_loss
    check_loss(MyLoss())

A check raises AssertionError and says what broke. podium's own tests run the same checks over everything registered.
Examples are drawn in general position: no two scores near each other, no difference near a kink, because losses that
look at ranks jump.
"""

from podium.testing.aggregators import AGGREGATOR_CHECKS, check_aggregator
from podium.testing.click_models import CLICK_MODEL_CHECKS, check_click_model
from podium.testing.distributions import DISTRIBUTION_CHECKS, all_rankings, check_distribution
from podium.testing.examples import draw_query, general_position, instances, linear_data, variants
from podium.testing.features import FEATURE_CHECKS, check_feature
from podium.testing.learners import LEARNER_CHECKS, check_learner
from podium.testing.losses import LOSS_CHECKS, check_loss, equals_reference
from podium.testing.methods import METHOD_CHECKS, check_method
from podium.testing.metrics import METRIC_CHECKS, check_metric
from podium.testing.scorers import SCORER_CHECKS, check_scorer
from podium.testing.solvers import SOLVER_CHECKS, check_solver
from podium.testing.transforms import TRANSFORM_CHECKS, check_transform

__all__ = [
    "AGGREGATOR_CHECKS",
    "CLICK_MODEL_CHECKS",
    "DISTRIBUTION_CHECKS",
    "FEATURE_CHECKS",
    "LEARNER_CHECKS",
    "LOSS_CHECKS",
    "METHOD_CHECKS",
    "METRIC_CHECKS",
    "SCORER_CHECKS",
    "SOLVER_CHECKS",
    "TRANSFORM_CHECKS",
    "all_rankings",
    "check_aggregator",
    "check_click_model",
    "check_distribution",
    "check_feature",
    "check_learner",
    "check_loss",
    "check_method",
    "check_metric",
    "check_scorer",
    "check_solver",
    "check_transform",
    "draw_query",
    "equals_reference",
    "general_position",
    "instances",
    "linear_data",
    "variants",
]
