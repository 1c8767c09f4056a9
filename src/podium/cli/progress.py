"""Progress on standard error: a progress bar with the time left on a terminal, elsewhere a line every half minute."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from podium.base.progress import Progress
from podium.cli import console

_INTERVAL = 30.0
"""Seconds between two lines if standard error is no terminal."""
_LARGE = 50e6
"""Bytes of data from which on reading is announced if standard error is no terminal."""


class Bar:
    """Progress bar: the sum of the finished shares of parts that run in parallel."""

    def __init__(self, parts: int, *, live: Any = None, line: Any = None) -> None:
        self._parts, self._live, self._line = parts, live, line
        self._shares: dict[str, float] = {}
        self._finished, self._skipped, self._begun = 0, 0, time.monotonic()
        self._told_of_compiling = False
        self._lock = threading.Lock()
        self.interrupted = False

    def put(self, part: str, share: float, *, finished: bool = False, skipped: bool = False) -> None:
        """Record the finished share of a part; skipped parts do not count for the estimate of time.

        Raises KeyboardInterrupt again if one was lost.
        """
        if self.interrupted and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        with self._lock:
            self._finished += finished
            self._skipped += finished and skipped
            if finished:
                self._shares.pop(part, None)
            else:
                self._shares[part] = share
            if self._live is not None:
                done = self._finished + sum(self._shares.values())
                self._live.update(self._line, completed=done, description=" · ".join(self._shares))

    def progress(self, part: str = "") -> Progress:
        """Callback for the progress of one part, or of stages of a computation: each finishes the one before it."""
        last = part

        def report(share: float, stage: str = "", /) -> None:
            nonlocal last
            if stage and last and stage != last:
                self.put(last, 1.0, finished=True)
            last = stage or last
            self.put(last, share)

        return report

    def compiling(self, what: str = "") -> None:
        """Say, once, that functions are being compiled."""
        with self._lock:
            said, self._told_of_compiling = self._told_of_compiling, True
            what = what or " · ".join(self._shares) or "functions"
        if said:
            return
        from podium.jit.compiled import is_cached

        after = "cached afterwards" if is_cached() else "no cache folder can be written; set NUMBA_CACHE_DIR to keep it"
        self.say(f"compiling {what} for the first use ({after})")

    def say(self, text: str) -> None:
        """Print a message above the bar."""
        if self._live is None:
            console.say(text)
        else:
            self._live.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def words(self) -> str:
        """Progress in one line."""
        with self._lock:
            running = ", ".join(f"{part} {share:.0%}" for part, share in self._shares.items())
            gone = time.monotonic() - self._begun
            done = self._finished - self._skipped + sum(self._shares.values())
            left = gone / done * (self._parts - self._skipped - done) if done > 0 else None
            parts = [f"{self._finished} of {self._parts} done"] if self._parts > 1 else []
            parts += [f"running: {running}"] if running else []
            parts += [f"{_duration(gone)} so far"] + ([] if left is None else [f"about {_duration(left)} left"])
        return "; ".join(parts)


@contextmanager
def progress_bar(parts: int) -> Iterator[Bar]:
    """Show a bar over a number of parts, removed at the end. Says so if compiling functions takes long."""
    from podium.jit.compiled import on_long_compilation

    with ExitStack() as stack:
        live = stack.enter_context(_live()) if sys.stderr.isatty() else None
        bar = Bar(parts) if live is None else Bar(parts, live=live, line=live.add_task("", total=parts))
        stack.enter_context(on_long_compilation(bar.compiling))
        if live is None:
            stack.enter_context(_lines(bar))
        stack.enter_context(_interrupts(bar))
        yield bar


@contextmanager
def _interrupts(bar: Bar) -> Iterator[None]:
    """Keep Ctrl-C from getting lost: while functions are compiled, C code drops the exception that it raises."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: Any) -> None:
        bar.interrupted = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Say that data is being read: a labelled, moving bar on a terminal, elsewhere a line if it is large."""
    size = _size(path)
    label = f"reading {path}" + (f" ({size / 1e6:.0f} MB)" if size >= 1e6 else "")
    if sys.stderr.isatty():
        with _live() as live:
            live.add_task(label, total=None)
            yield
        return
    if size >= _LARGE:
        console.say(label)
    yield


@contextmanager
def _lines(bar: Bar) -> Iterator[None]:
    """Print the progress of a bar from time to time."""
    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(_INTERVAL):
            bar.say(bar.words())

    threading.Thread(target=tell, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _live() -> Any:
    import rich.progress
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.text import Text

    class Description(TextColumn):
        def render(self, task: Any) -> Text:
            return Text(task.description)

    class Remaining(TimeRemainingColumn):
        def render(self, task: Any) -> Text:
            return Text("") if task.total is None else Text("left ") + super().render(task)

    columns = [Description(""), BarColumn(), TimeElapsedColumn(), Remaining()]
    return rich.progress.Progress(*columns, console=Console(stderr=True), transient=True)


def _size(path: str) -> int:
    """Bytes of a file, or of the files in a folder."""
    place = Path(path)
    try:
        files = [file for file in place.rglob("*") if file.is_file()] if place.is_dir() else [place]
        return sum(file.stat().st_size for file in files)
    except OSError:  # standard input, or an error that reading will report
        return 0


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
