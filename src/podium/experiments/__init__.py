"""Experiments: folds × methods × seeds, in parallel; finished tasks are saved, and a killed experiment continues."""

from podium.experiments.plan import Plan, Task
from podium.experiments.run import compare
from podium.experiments.run_spec import Observer, run_spec
from podium.experiments.spec import Spec, make_spec, read_spec
from podium.experiments.task_event import TaskEvent

__all__ = ["Observer", "Plan", "Spec", "Task", "TaskEvent", "compare", "make_spec", "read_spec", "run_spec"]
