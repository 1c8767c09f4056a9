"""Experiments: folds × methods × seeds, side by side, kept as they come, and gone on with after an interruption."""

from podium.experiments.plan import Plan, Task
from podium.experiments.run import Failure, Seen, compare
from podium.experiments.spec import Spec, make_spec, read_spec

__all__ = ["Failure", "Plan", "Seen", "Spec", "Task", "compare", "make_spec", "read_spec"]
