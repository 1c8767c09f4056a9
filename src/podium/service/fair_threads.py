"""Lane: threads that do what takes longer than a moment, so that the event loop goes on answering.

Callers take turns, and none has all threads at once: who asks for much waits for himself alone. How much may wait is
bounded by the number of requests that a caller may have in work; see `State.working`.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class _Job(NamedTuple):
    who: str
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[Any]


class Lane:
    """A few threads, with a queue for each caller."""

    def __init__(self, name: str, *, threads: int, share: int) -> None:
        """`share` is the number of threads that one caller may have at once."""
        self._waiting: dict[str, deque[_Job]] = {}  # by caller; the first one is next
        self._busy: Counter[str] = Counter()
        self._share = share
        self._changed, self._closed = threading.Condition(), False
        self._threads = [
            threading.Thread(target=self._work, name=f"podium-{name}-{number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    async def run(self, who: str, work: Callable[[], T]) -> T:
        """What some work gives, in its caller's turn. If nobody waits for it any longer, it is not begun."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        with self._changed:
            if self._closed:
                raise RuntimeError("the lane is closed.")
            self._waiting.setdefault(who, deque()).append(_Job(who, work, loop, done))
            self._changed.notify()
        return await done

    def close(self) -> None:
        """Do what waits, and end the threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            _do(job)
            with self._changed:
                self._busy[job.who] -= 1
                self._changed.notify_all()
            del job  # and what it held, while nothing else comes

    def _next(self) -> _Job | None:
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


def _do(job: _Job) -> None:
    if job.done.cancelled():
        return
    result, problem = None, None
    try:
        result = job.work()
    except BaseException as error:  # whatever it is, the thread lives on, and the caller is told
        problem = error
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
        job.loop.call_soon_threadsafe(_tell, job.done, result, problem)
    del job, result, problem  # an error holds this frame, which would hold the error, and what the request held


def _tell(done: asyncio.Future[Any], result: Any, problem: BaseException | None) -> None:
    if done.cancelled():
        return
    if problem is None:
        done.set_result(result)
    else:
        done.set_exception(problem)
