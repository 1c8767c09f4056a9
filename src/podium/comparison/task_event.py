"""Events of the tasks of a comparison: progress and end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from podium.comparison.plan import Task

State = Literal["running", "compiling", "done", "kept", "failed"]
"""compiling: its functions are compiled, for the first use on this machine; kept: an earlier run has finished it."""


@dataclass(frozen=True)
class TaskEvent:
    """Progress of a task, or its end, with the error if it failed."""

    task: Task
    state: State
    share: float = 1.0  # of its work that is done
    error: str | None = None
    traceback: str | None = None

    @property
    def ended(self) -> bool:
        """Whether this is the last event of the task."""
        return self.state not in ("running", "compiling")


TaskObserver = Callable[[TaskEvent], None]
