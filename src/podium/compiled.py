"""Compiled functions: numba's decorator in one place. Machine code is cached on disk, where a folder can be written.

>>> @compiled
... def double(x):
...     return 2.0 * x
>>> double(4.0)
8.0

numba itself is imported at the first call of a compiled function, so that commands which compute nothing start fast.

The cache lies beside the source, else in the user's cache folder, or where NUMBA_CACHE_DIR says. Where none of these
can be written, functions are compiled anew in every process. A cached function is found by its own code and that of
every compiled function and constant that it uses, so it is compiled again after any of them has changed.

For commands that should answer at once, `prefer_stored` calls it without numba: see `stored_code`.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_REASSOCIATE = {"reassoc", "contract"}


class Deferred:
    """A value for compiled code that numba makes when it is first used: a compiled function or an intrinsic."""

    def __init__(self, function: Callable[..., Any], make: Callable[[], Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._make, self._made, self._lock = make, None, threading.RLock()

    @property
    def made(self) -> Any:
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = self._make()
        return self._made

    def __call__(self, *args: Any) -> Any:
        return (self._made or self.made)(*args)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by copy, pickle and inspect
            raise AttributeError(name)
        return getattr(self.made, name)


class CompiledFunction(Deferred):
    """A function that numba compiles, or that is called as an earlier process stored it; see `prefer_stored`."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        def make() -> Any:
            from podium.machine_code import dispatcher

            return dispatcher(function, options)

        super().__init__(function, make)
        self.options = options
        self._stored: dict[tuple[str | None, ...], Any] = {}

    def __call__(self, *args: Any) -> Any:
        if self._made is None and _asks_for_stored():
            return self._stored_entry(args)(*args)
        return (self._made or self.made)(*args)

    def _stored_entry(self, args: tuple[Any, ...]) -> Any:
        from podium.stored_code import entry, kind_of

        kinds = tuple(map(kind_of, args))
        if kinds not in self._stored:
            self._stored[kinds] = entry(self.py_func, self.options, kinds)
        return self._stored[kinds] or self.made


def prefer_stored() -> None:
    """Call functions as earlier processes stored them, until one is missing: for commands that call few, few times."""
    global _prefers_stored
    _prefers_stored = True


_prefers_stored = False


def _asks_for_stored() -> bool:
    return _prefers_stored and "podium.machine_code" not in sys.modules  # once numba has started, it is faster


def compiled(function: F) -> F:
    """Compile a function when it is first used."""
    return _deferred(function, _OPTIONS)


def vectorised(function: F) -> F:
    """As `compiled`, for a loop whose sums may be added in another order, which lets them fill vector registers.

    The order is fixed when it is compiled. Only for small helpers that call nothing: what they call is inlined and may
    be reordered too.
    """
    return _deferred(function, {**_OPTIONS, "fastmath": _REASSOCIATE})


def inlined(function: F) -> F:
    """A piece of a compiled function that takes functions as arguments: inlined into each function that calls it.

    Passing a compiled function as an argument would keep the caller out of the disk cache.
    """
    return _deferred(function, {"inline": "always", "error_model": "numpy"})


def intrinsic(signature: str) -> Callable[[Callable[..., Any]], Any]:
    """Code written for LLVM directly: a function (builder, *arguments) that gives LLVM's value of the result."""

    def define(generate: Callable[..., Any]) -> Any:
        def make() -> Any:
            from podium.machine_code import intrinsic as make_intrinsic

            return make_intrinsic(signature, generate)

        return Deferred(generate, make)

    return define


def address(function: Any, signature: str) -> int:
    """Where the machine code of a compiled function for a signature lies, to be called by `function_at`.

    To pass the function itself would cost a tenth of a millisecond for each call.
    """
    known = _ADDRESSES.get((function, signature))
    if known is None:
        known = _ADDRESSES[function, signature] = _stored_address(function, signature) or _made_address(
            function, signature
        )
    return known


def _stored_address(function: Any, signature: str) -> int | None:
    if not _asks_for_stored():
        return None
    from podium.stored_code import address as find_address

    return find_address(function.py_func, function.options, signature)


def _made_address(function: Any, signature: str) -> int:
    from podium.machine_code import address as find_address

    return find_address(function, signature)


_ADDRESSES: dict[tuple[Any, str], int] = {}


def function_at(signature: str) -> Any:
    """Within compiled functions: the function of this signature at an address."""

    def at() -> None: ...

    def make() -> Any:
        from podium.machine_code import function_at as make_function_at

        return make_function_at(signature)

    at.__qualname__ = f"function_at({signature})"  # the disk cache knows it by its name
    return Deferred(at, make)


@contextmanager
def on_long_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` once if compilation takes more than a second within the block; it may come from another thread."""
    from podium.machine_code import CompileTimer, listening

    with listening(CompileTimer(tell)) as timer:
        try:
            yield
        finally:
            timer.stop()


def is_cached() -> bool:
    """Whether machine code is kept on disk for the next process."""
    from podium.machine_code import disk_cache

    return disk_cache(is_cached, {}) is not None


def _deferred(function: F, options: dict[str, Any]) -> F:
    return cast(F, CompiledFunction(function, options))
