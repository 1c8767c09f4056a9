"""Evaluation: how good scores and runs are, and which method does best."""

from podium.evaluation.attribution import importance
from podium.evaluation.calibration import Calibration, calibration
from podium.evaluation.compare import Comparison, Outcome
from podium.evaluation.compare_runs import compare_evaluations, compare_runs, evaluate_runs
from podium.evaluation.cross_validate import cross_validate
from podium.evaluation.evaluate import Evaluation, evaluate, evaluate_run, read_metrics
from podium.evaluation.explain import Explanation, explain
from podium.evaluation.reconcile import Reconciliation, reconcile, reconcile_run
from podium.evaluation.scores import read_scores
from podium.evaluation.significance import SystemComparison, compare_systems
from podium.evaluation.tie_spread import TieSpread, tie_spread

__all__ = [
    "Calibration",
    "Comparison",
    "Evaluation",
    "Explanation",
    "Outcome",
    "Reconciliation",
    "SystemComparison",
    "TieSpread",
    "calibration",
    "compare_evaluations",
    "compare_runs",
    "compare_systems",
    "cross_validate",
    "evaluate",
    "evaluate_run",
    "evaluate_runs",
    "explain",
    "importance",
    "read_metrics",
    "read_scores",
    "reconcile",
    "reconcile_run",
    "tie_spread",
]
