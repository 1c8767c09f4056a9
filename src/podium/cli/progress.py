"""A progress bar on standard error, with the time left; only where someone looks at it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.solvers import Step


class Bar:
    """Counts parts, each of some fits, each of some iterations. Without a terminal it counts for nobody."""

    def __init__(self, progress: Any, task: Any) -> None:
        self._progress, self._task = progress, task
        self._done, self._fits, self._fit = 0, 1, 0

    def begin(self, what: str, *, fits: int = 1) -> None:
        """Start a part that takes so many fits."""
        self._fits, self._fit = max(fits, 1), -1
        if self._progress is not None:
            self._progress.update(self._task, description=what, completed=self._done)

    def see(self, step: Step) -> None:
        """Take note of an iteration; the first one begins a fit."""
        self._fit += step.iteration == 1
        share = (max(self._fit, 0) + step.iteration / step.total) / self._fits
        if self._progress is not None:
            self._progress.update(self._task, completed=self._done + min(share, 1.0))

    def end(self) -> None:
        """A part is done."""
        self._done += 1
        if self._progress is not None:
            self._progress.update(self._task, completed=self._done)


@contextmanager
def progress_bar(parts: int) -> Iterator[Bar]:
    """A bar over so many parts, which vanishes at the end."""
    if not sys.stderr.isatty():
        yield Bar(None, None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.text import Text

    class Description(TextColumn):
        def render(self, task: Any) -> Text:
            return Text(task.description)

    columns = [Description(""), BarColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bar(progress, progress.add_task("", total=parts))
