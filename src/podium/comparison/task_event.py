"""TaskEvent: how far a task of a comparison is, and how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from podium.comparison.plan import Task

State = Literal["running", "compiling", "done", "kept", "failed"]
"""compiling: its functions are being compiled, for the first use on this machine; kept: an earlier run has done it."""


@dataclass(frozen=True)
class TaskEvent:
    """A task is running, or has ended; one that failed says why."""

    task: Task
    state: State
    share: float = 1.0  # of its work that is done
    error: str | None = None
    traceback: str | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will be told of this task."""
        return self.state not in ("running", "compiling")


TaskObserver = Callable[[TaskEvent], None]
