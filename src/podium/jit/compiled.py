"""Compiled functions: numba's decorator in one place. Machine code is cached on disk, where a folder can be written.

>>> @compiled
... def double(x):
...     return 2.0 * x
>>> double(4.0)
8.0

numba itself is imported at the first call of a compiled function, so that commands which compute nothing start fast.

The cache lies beside the source, else in the user's cache folder, or where NUMBA_CACHE_DIR says. Where none of these
can be written, functions are compiled anew in every process. After an edit of any file that a function's module reaches
by its imports it is compiled again: see `disk_cache`.

With NUMBA_DISABLE_JIT=1 nothing is compiled: functions run as Python, which a debugger can step through.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

STARTED = time.time()
"""When this process began to import modules with compiled functions: what is edited later is not what it runs."""

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_REASSOCIATE = {"reassoc", "contract"}


class Deferred:
    """A value for compiled code that numba makes when it is first used: a compiled function or an intrinsic.

    `py_func` is its plain form.
    """

    def __init__(self, function: Callable[..., Any], make: Callable[[], Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._make, self._lock = make, threading.RLock()
        self._made: Any = None

    @property
    def made(self) -> Any:
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = functools.partial(interpret, self.py_func) if is_interpreted() else self._make()
        return self._made

    def __call__(self, *args: Any) -> Any:
        return (self._made or self.made)(*args)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by copy, pickle and inspect
            raise AttributeError(name)
        return getattr(self.made, name)


def compiled(function: F) -> F:
    """Compile a function when it is first used."""
    return _deferred(function, _OPTIONS)


def vectorised(function: F) -> F:
    """As `compiled`, for a loop whose sums may be added in another order, which lets them fill vector registers.

    Only for small helpers that call nothing and write to no array: what they call may be reordered too, and a loop that
    also writes is compiled in two orders, between which the places of its arrays in memory decide. See `kernels.sums`.
    """
    return _deferred(function, {**_OPTIONS, "fastmath": _REASSOCIATE})


def inlined(function: F) -> F:
    """A piece of a compiled function that takes functions as arguments: inlined into each function that calls it.

    Passing a compiled function as an argument would keep the caller out of the disk cache.
    """
    return _deferred(function, {"inline": "always", "error_model": "numpy"})


def intrinsic(define: Callable[..., Any]) -> Callable[[F], F]:
    """Code written for LLVM by `define`, as `numba.extending.intrinsic` takes it; the function is its plain form."""

    def decorate(plain: F) -> F:
        def make() -> Any:
            from podium.jit.machine_code import make_intrinsic

            return make_intrinsic(define, plain)

        return cast(F, Deferred(plain, make))

    return decorate


def instruction(signature: str, generate: Callable[..., Any]) -> Callable[[F], F]:
    """As `intrinsic`, for one signature: `generate(builder, *arguments)` gives LLVM's value of the result."""

    def define(*types: Any) -> Any:
        from podium.jit.machine_code import one_signature

        return one_signature(signature, generate)

    return intrinsic(define)


def address(function: Any, signature: str) -> int:
    """Where the machine code of a compiled function for a signature lies, to be called by `function_at`.

    To pass the function itself would cost a tenth of a millisecond for each call.
    """
    place = _ADDRESSES.get((function, signature))
    if place is None:
        place = _ADDRESSES[function, signature] = _find_address(function, signature)
    return place


def _find_address(function: Any, signature: str) -> int:
    if is_interpreted():
        _PLAIN.append((function, signature))
        return len(_PLAIN) - 1
    from podium.jit.machine_code import find_address

    return find_address(function, signature)


_ADDRESSES: dict[tuple[Any, str], int] = {}
_PLAIN: list[tuple[Any, str]] = []


def function_at(signature: str) -> Any:
    """Within compiled functions: the function of this signature at an address."""

    def at(address: int) -> Any:
        function, known = _PLAIN[address]
        assert known == signature, f"{function.__name__} has the signature {known}, not {signature}"
        return function

    def make() -> Any:
        from podium.jit.machine_code import make_function_at

        return make_function_at(signature)

    return Deferred(at, make)


@contextmanager
def on_long_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` once if compilation takes more than a second within the block; it may come from another thread."""
    if is_interpreted():
        yield
        return
    from podium.jit.machine_code import CompileTimer, listening

    with listening(CompileTimer(tell)) as timer:
        try:
            yield
        finally:
            timer.stop()


def is_cached() -> bool:
    """Whether machine code is kept on disk for the next process."""
    from podium.jit.disk_cache import can_write

    return can_write(is_cached)


def is_interpreted() -> bool:
    """Whether compiled functions run as Python: NUMBA_DISABLE_JIT."""
    if "numba" in sys.modules:
        return bool(sys.modules["numba"].config.DISABLE_JIT)
    return os.environ.get("NUMBA_DISABLE_JIT", "").strip() not in ("", "0")


def interpret(function: Callable[..., Any], *args: Any) -> Any:
    """Call a plain form with the arithmetic of compiled code: numbers that wrap, and no error for x / 0."""
    if getattr(_own, "interprets", False):
        return function(*args)
    import numpy as np

    _own.interprets = True
    try:
        with np.errstate(all="ignore"):
            return function(*(np.float64(value) if type(value) is float else value for value in args))
    finally:
        _own.interprets = False


_own = threading.local()


def _deferred(function: F, options: dict[str, Any]) -> F:
    def make() -> Any:
        from podium.jit.machine_code import dispatcher

        return dispatcher(function, options)

    return cast(F, Deferred(function, make))
