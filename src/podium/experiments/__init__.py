"""Experiments: folds × methods × seeds, side by side, kept as they come, and gone on with after an interruption."""

from podium.experiments.plan import Plan, Task
from podium.experiments.run import Failure, Seen, compare

__all__ = ["Failure", "Plan", "Seen", "Task", "compare"]
