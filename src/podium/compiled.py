"""Compiled functions: numba's decorator in one place. Machine code is cached on disk, where a folder can be written.

>>> @compiled
... def double(x):
...     return 2.0 * x
>>> double(4.0)
8.0

The cache lies beside the source, else in the user's cache folder, or where NUMBA_CACHE_DIR says. Where none of these
can be written, functions are compiled anew in every process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, cast

import numba
from numba.core import event
from numba.core.caching import FunctionCache

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_REASSOCIATE = {"reassoc", "contract"}


def compiled(function: F) -> F:
    """Compile a function when it is first used."""
    return _cached(function, _OPTIONS)


def vectorised(function: F) -> F:
    """As `compiled`, for a loop whose sums may be added in another order, which lets them fill vector registers.

    The order is fixed when it is compiled. Only for small helpers that call nothing: what they call is inlined and may
    be reordered too.
    """
    return _cached(function, {**_OPTIONS, "fastmath": _REASSOCIATE})


def inlined(function: F) -> F:
    """A piece of a compiled function that takes functions as arguments: inlined into each function that calls it.

    Passing a compiled function as an argument would keep the caller out of the disk cache.
    """
    return cast(F, numba.njit(inline="always", error_model="numpy")(function))


def specialised(function: F, *parts: Any) -> F:
    """Compile a closure over other compiled functions, the `parts`.

    numba's disk cache knows a closure by what it holds, which for compiled functions differs from process to process;
    here it is known by the names and the code of the parts.
    """
    made = numba.njit(**_OPTIONS)(function)
    with suppress(RuntimeError):  # no folder for the cache can be written
        made._cache = _ClosureCache(function, parts)
    return cast(F, made)


@contextmanager
def on_long_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` once if compilation takes more than a second within the block; it may come from another thread."""
    with event.install_listener("numba:compile", _CompileTimer(tell)) as timer:
        try:
            yield
        finally:
            timer.stop()


def is_cached() -> bool:
    """Whether machine code is kept on disk for the next process."""
    try:
        FunctionCache(is_cached)
    except RuntimeError:  # no folder for the cache can be written
        return False
    return True


class _CompileTimer(event.Listener):  # type: ignore[misc]
    """Counts the time that numba compiles, and calls a function once when it exceeds a second."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell, self._left, self._depth, self._begun = tell, 1.0, 0, 0.0
        self._timer: threading.Timer | None = None

    def on_start(self, _: Any) -> None:
        self._depth += 1  # compiling a function compiles those that it calls
        if self._depth == 1 and self._left > 0.0:
            self._begun = time.monotonic()
            self._timer = threading.Timer(self._left, self._expired)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, _: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._left > 0.0:
            self._left -= time.monotonic() - self._begun
            self.stop()
            if self._left <= 0.0:
                self._tell()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expired(self) -> None:
        if self._left > 0.0:
            self._left = 0.0
            self._tell()


def _cached(function: F, options: dict[str, Any]) -> F:
    try:
        return cast(F, numba.njit(cache=True, **options)(function))
    except RuntimeError:  # no folder for the cache can be written
        return cast(F, numba.njit(**options)(function))


class _ClosureCache(FunctionCache):  # type: ignore[misc]
    """A disk cache whose entries are known by the names and the code of what a closure holds."""

    def __init__(self, function: Callable[..., Any], parts: tuple[Any, ...]) -> None:
        super().__init__(function)
        self._parts = tuple((f"{part.__module__}.{part.__qualname__}", part.__code__.co_code) for part in parts)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return sig, codegen.magic_tuple(), self._parts
