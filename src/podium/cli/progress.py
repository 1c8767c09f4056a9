"""A progress bar on standard error, with the time left; only where someone looks at it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Bar:
    """Adds up the shares of parts that go on side by side. Without a terminal it does so for nobody."""

    def __init__(self, progress: Any, task: Any) -> None:
        self._progress, self._task = progress, task
        self._shares: dict[str, float] = {}
        self._finished = 0.0

    def put(self, part: str, share: float, *, finished: bool = False) -> None:
        """So much of a part is done."""
        if finished:
            self._shares.pop(part, None)
            self._finished += 1.0
        else:
            self._shares[part] = share
        if self._progress is not None:
            done = self._finished + sum(self._shares.values())
            self._progress.update(self._task, completed=done, description=" · ".join(self._shares))


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
