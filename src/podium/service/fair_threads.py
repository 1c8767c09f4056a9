"""Fair thread pool (`Lane`) for slow work, so that the event loop keeps answering.

Callers take turns, and no caller has all threads at once, so that many requests of one do not delay the others. The
queue is bounded by the number of requests that a caller may have in work; see `State.working`.
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
    """Thread pool with a queue for each caller."""

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
        """Run work in a thread, in its caller's turn; cancelled work is not started."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        with self._changed:
            if self._closed:
                raise RuntimeError("the lane is closed.")
            self._waiting.setdefault(who, deque()).append(_Job(who, work, loop, done))
            self._changed.notify()
        return await done

    def close(self) -> None:
        """Finish the queued work, and end the threads."""
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
            del job  # frees its memory while the thread waits

    def _next(self) -> _Job | None:
        """First job of the next caller below its share of threads; None if the lane is closed and empty."""
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
            if jobs:  # the caller goes to the end of the queue
                self._waiting[who] = jobs
            self._busy[who] += 1
            return job


def _do(job: _Job) -> None:
    if job.done.cancelled():
        return
    result, problem = None, None
    try:
        result = job.work()
    except BaseException as error:  # the thread must survive; the caller gets the error
        problem = error
    with contextlib.suppress(RuntimeError):  # the event loop is closed
        job.loop.call_soon_threadsafe(_tell, job.done, result, problem)
    del job, result, problem  # breaks the cycle of error and frame, which would keep the request in memory


def _tell(done: asyncio.Future[Any], result: Any, problem: BaseException | None) -> None:
    if done.cancelled():
        return
    if problem is None:
        done.set_result(result)
    else:
        done.set_exception(problem)
