"""YetiRank: the weights of pairs that CatBoost draws, and two documents, whose loss is exact."""

import itertools
import math

import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.losses import Loss, RankNet, YetiRank
from podium.metrics import Metric

SCORES, LABELS = np.array([0.0, 1.0, 3.0, 2.0]), np.array([0.0, 0.0, 1.0, 2.0])
PAIRS = [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]  # winner, loser
CLASSIC, NDCG = "yeti-rank(samples=2000,seed={})", "yeti-rank(metric=ndcg,samples=2000,seed={})"


def near_the_mean(samples: np.ndarray, expected: np.ndarray | float, known_to: float) -> None:
    """Assert that the mean is within three standard errors, of the samples and of the expected figures."""
    samples = np.asarray(samples)
    error = 3 * samples.std(axis=0, ddof=1) / math.sqrt(len(samples)) + known_to
    assert (np.abs(samples.mean(axis=0) - expected) <= error).all(), (samples.mean(axis=0), expected, error)


@pytest.mark.parametrize(("loss", "value"), [(CLASSIC, 0.1842), (NDCG, 0.1759)])
def test_the_mean_value_is_that_of_many_draws(loss, value):
    near_the_mean([Loss.parse(loss.format(seed))(SCORES, LABELS).value for seed in range(40)], value, 2e-4)


@pytest.mark.parametrize(
    ("loss", "quotients"),
    [(CLASSIC, [-0.488, -0.687, -1.519, 2.695]), (NDCG, [-0.418, -0.619, -2.246, 3.284])],
)
def test_gradient_over_curvature_is_that_of_many_draws(loss, quotients):
    """Less their mean; CatBoost's trees have them within 1 %."""
    rows = [Loss.parse(loss.format(seed))(SCORES, LABELS) for seed in range(40)]
    newton = -sum(row.gradient for row in rows) / sum(row.curvature for row in rows)
    assert newton - newton.mean() == pytest.approx(quotients, rel=0.01)


@pytest.mark.parametrize(
    ("loss", "weights"),
    [
        ("yeti-rank(samples=300,seed={})", [0.0407, 0.0627, 0.1097, 0.1364, 0.0896]),
        ("yeti-rank(metric=ndcg,samples=300,seed={})", [0.0165, 0.0312, 0.0463, 0.0728, 0.1085]),
    ],
)
def test_the_mean_weights_of_pairs_are_those_of_many_draws(loss, weights):
    samples = []
    for seed in range(12):
        fixed = Loss.parse(loss.format(seed)).objective(SCORES, LABELS)
        samples.append([mixed_difference(fixed, i, j) for i, j in PAIRS])
    near_the_mean(samples, weights, 2e-4)


def mixed_difference(fixed, i: int, j: int, h: float = 0.02) -> float:
    """w_ij = −4 ∂²/∂s_i ∂s_j of Σ w log(1 + e^(−(s_i − s_j))) at equal scores."""
    total = 0.0
    for a, b in itertools.product((-h, h), repeat=2):
        moved = np.zeros(4)
        moved[i], moved[j] = a, b
        total += math.copysign(1.0, a * b) * fixed(moved)
    return -4 * total / (4 * h * h)


def test_two_documents_are_ranknet():
    got, pair = YetiRank()([0.3, 1.7], [2, 0.5]), RankNet()([0.3, 1.7], [2, 0.5])
    for field in ("value", "gradient", "curvature"):
        assert getattr(got, field) == pytest.approx(0.15 * 1.5 * getattr(pair, field), rel=1e-12)


def test_documents_of_equal_score_and_grade_share_their_gradient():
    gradient = YetiRank(samples=3)([1.0, 1.0, 0.0, 1.0], [0, 1, 2, 0]).gradient
    assert gradient[0] == gradient[3]


def test_a_metric_without_swaps_is_refused():
    with pytest.raises(IncompatibleError, match="unjudged does not know in constant time"):
        YetiRank(metric=Metric.parse("unjudged@5"))
