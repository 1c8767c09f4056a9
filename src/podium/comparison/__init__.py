"""Comparison of methods on judged data: folds × methods × seeds, in parallel; an interrupted one can be resumed."""

from podium.comparison.plan import Plan, Task
from podium.comparison.run import compare
from podium.comparison.run_spec import Observer, run_spec
from podium.comparison.spec import Spec, make_spec, read_spec
from podium.comparison.task_event import TaskEvent

__all__ = ["Observer", "Plan", "Spec", "Task", "TaskEvent", "compare", "make_spec", "read_spec", "run_spec"]
