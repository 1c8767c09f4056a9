"""Lane: threads that do what takes longer than a moment, so that the event loop goes on answering.

Callers take turns, and none has all threads at once: who asks for much waits for himself alone. How much may wait is
bounded by the number of requests that a caller may have in work; see `endpoint`.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

Job = tuple[str, Callable[[], Any], "Future[Any]"]
"""Who asks, what is to be done, and who is told."""


class Lane:
    """A few threads, with a queue for each caller."""

    def __init__(self, name: str, threads: int = 3) -> None:
        self._waiting: dict[str, deque[Job]] = {}  # by caller; the first one is next
        self._busy: Counter[str] = Counter()
        self._share = max(1, threads - 1)
        self._changed, self._closed = threading.Condition(), False
        self._threads = [
            threading.Thread(target=self._work, name=f"podium-{name}-{number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def put(self, who: str, work: Callable[[], Any]) -> Future[Any]:
        """Do some work of a caller soon. A future that is cancelled before its turn is never begun."""
        done: Future[Any] = Future()
        with self._changed:
            if self._closed:
                raise RuntimeError("the lane is closed.")
            self._waiting.setdefault(who, deque()).append((who, work, done))
            self._changed.notify()
        return done

    def close(self) -> None:
        """Do what waits, and end the threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            who, work, done = job
            try:
                if done.set_running_or_notify_cancel():
                    done.set_result(work())
            except BaseException as error:  # whatever it is, the thread lives on
                done.set_exception(error)
            with self._changed:
                self._busy[who] -= 1
                self._changed.notify_all()
            del job, work, done  # what a request held is free while nothing else comes

    def _next(self) -> Job | None:
        """The first job of the next caller who may have another thread; None where the lane is closed and empty."""
        with self._changed:
            while True:
                who = next((who for who in self._waiting if self._busy[who] < self._share), None)
                if who is not None:
                    break
                if self._closed and not self._waiting:
                    return None
                self._changed.wait()
            jobs = self._waiting.pop(who)
            job = jobs.popleft()
            if jobs:  # to the end of the line
                self._waiting[who] = jobs
            self._busy[who] += 1
            return job
