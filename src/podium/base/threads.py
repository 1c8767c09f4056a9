"""Threads: how many, and blocks of rows that run on them with the same bits for any number of threads.

Blocks depend on the data alone, so that sums over them have the same order on any machine.
"""

from __future__ import annotations

import functools
import os
import re
import reprlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from podium.base.errors import ParameterError

T = TypeVar("T")

BLOCK = 8192
"""Rows per block: large enough to hide the cost of a call, small enough to stay in cache."""


def default_threads() -> int:
    """Number of threads: PODIUM_THREADS, or the cores this process may use."""
    text = os.environ.get("PODIUM_THREADS")
    if text is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = int(text) if re.fullmatch("[0-9]{1,9}", text) else 0  # int() reads more: digits of other scripts, 1_0
    if threads < 1:
        raise ParameterError(f"PODIUM_THREADS must be a whole number of at least 1; got {reprlib.repr(text)}.")
    return threads


def pool(threads: int) -> ThreadPoolExecutor:
    """The thread pool of all numeric work; a forked process gets a new one, as threads do not survive a fork."""
    return _pool(threads, os.getpid())


def map_blocks(work: Callable[[int, int], T], n_rows: int) -> list[T]:
    """`work(first, last)` for each block of rows, in the order of the blocks."""
    return map_ranges(work, [(a, min(a + BLOCK, n_rows)) for a in range(0, n_rows, BLOCK)])


def map_ranges(work: Callable[[int, int], T], ranges: Sequence[tuple[int, int]]) -> list[T]:
    """`work(first, last)` for each range, in their order; the ranges must depend on the data alone."""
    threads = default_threads() if len(ranges) > 1 and not is_busy() else 1
    if threads == 1:
        return [work(first, last) for first, last in ranges]
    return list(pool(threads).map(lambda ends: work(*ends), ranges))


def is_busy() -> bool:
    """Whether this thread must not hand work to others: it is one of the pool, or within `on_this_thread`."""
    return hasattr(_own, "busy")


@contextmanager
def on_this_thread() -> Iterator[None]:
    """Keep blocks of rows on this thread, for small work."""
    if is_busy():
        yield
        return
    _own.busy = True
    try:
        yield
    finally:
        del _own.busy


def openmp_threads() -> int:
    """Threads for libraries that use OpenMP, such as LightGBM: one in a forked process.

    OpenMP's threads do not survive a fork, and GNU's library waits for them forever if the parent had started any.
    """
    return 1 if _FORKED else default_threads()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep matrix products on one thread each: blocks already use the cores, and sums keep their order.

    The limit holds for the whole process while any thread is inside; entering it again is free.
    """
    global _inside, _limit
    with _lock:
        if _inside == 0:
            _limit = _controller(with_scipy="scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()


_FORKED: list[bool] = []
_lock, _inside = threading.Lock(), 0
_own = threading.local()  # of a thread of the pool: work inside its work must not wait for other threads of the pool
_limit: Any = None


def _after_fork() -> None:
    global _lock
    _FORKED.append(True)
    _lock = threading.Lock()  # another thread of the parent may have held it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@functools.cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "podium", initializer=lambda: setattr(_own, "busy", True))


@functools.cache
def _controller(*, with_scipy: bool) -> ThreadpoolController:
    """Control of the libraries that are loaded by now; scipy brings a BLAS of its own."""
    return ThreadpoolController()
