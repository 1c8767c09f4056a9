"""Compile Python functions to machine code with numba when they are first called, and cache it on disk.

>>> @compiled
... def double(x):
...     return 2.0 * x
>>> double(4.0)
8.0

numba is imported at the first call of a compiled function, not at import, so that commands that compute nothing start
fast. At that call numba looks at the types of the arguments (the *signature*), compiles the function for them and keeps
the result in its *dispatcher*, the callable that chooses the machine code for a signature. `machine_code` makes
dispatchers; `disk_cache` keeps machine code for the next process and compiles again after an edit of any file that the
function's module imports. If no cache folder can be written, every process compiles anew.

An *intrinsic* is a function whose machine code is written by hand, for the compiler LLVM that numba uses; it has a
*plain form* in Python as well. With NUMBA_DISABLE_JIT=1 nothing is compiled: functions run as Python and intrinsics as
their plain forms, which a debugger can step through. Small work runs in the same way: see `tiers`.
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
"""When this process began to import modules with compiled functions: it does not run later edits."""

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_REASSOCIATE = {"reassoc", "contract"}


class Deferred:
    """A compiled function or intrinsic that is created at its first use; `py_func` is its plain form."""

    def __init__(
        self, function: Callable[..., Any], make: Callable[[], Any], make_inner: Callable[[], Any] | None = None
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._make, self._make_inner, self._lock = make, make_inner, threading.RLock()
        self._target: Any = None
        self._inner: Any = None
        self.code_address: Callable[[], int] | None = None
        """Of an outlined function: where its machine code is."""

    @property
    def target(self) -> Any:
        """numba's dispatcher or intrinsic; the plain form if nothing is compiled."""
        if self._target is None:
            with self._lock:
                if self._target is None:
                    self._target = functools.partial(interpret, self.py_func) if is_interpreted() else self._make()
        return self._target

    @property
    def inner(self) -> Any:
        """The target for calls from machine code, which need no code that converts Python's objects."""
        if self._make_inner is None or is_interpreted():
            return self.target
        if self._inner is None:
            with self._lock:
                if self._inner is None:
                    self._inner = self._make_inner()
        return self._inner

    def __call__(self, *args: object) -> Any:
        return interpret(self.py_func, *args) if own.plain else (self._target or self.target)(*args)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by copy, pickle and inspect
            raise AttributeError(name)
        return getattr(self.target, name)


def compiled(function: F) -> F:
    """Compile a function when it is first called."""
    return _deferred(function, _OPTIONS)


def vectorised(function: F) -> F:
    """Compile a loop whose sums may be added in another order, so that it uses vector instructions.

    Only for small helpers that call nothing and write to no array: called functions may be reordered too, and a loop
    that writes is compiled in two orders, of which the addresses of its arrays choose one. See `kernels.sums`.
    """
    return _deferred(function, {**_OPTIONS, "fastmath": _REASSOCIATE})


def inlined(function: F) -> F:
    """Copy a function into each compiled function that calls it; it may take functions as arguments.

    A call that passes a function as an argument would keep the caller out of the disk cache.
    """
    return _deferred(function, {"inline": "always", "error_model": "numpy"})


def outlined(signature: str) -> Callable[[F], F]:
    """Compile a function once, for a signature, when another compiled function first calls it, by its address.

    Other functions are compiled with each of their callers, whether or not they are called. So this is for long
    functions with several callers and for branches that rarely run, if the call itself does not count. CPU seconds of
    a first `podium train`, without → with: regression 6.1 → 3.0, lambdarank 10.4 → 7.5, structrank 26.1 → 13.0.
    """

    def decorate(function: F) -> F:
        whole = cast(Deferred, _deferred(function, _OPTIONS))

        def make_call() -> Any:
            from podium.jit.symbols import make_call

            return make_call(whole, signature)

        called = Deferred(function, lambda: whole.target, make_call)
        called.code_address = lambda: _find_address(cast(Any, whole), signature, plain=False)
        return cast(F, called)

    return decorate


def intrinsic(define: Callable[..., Any]) -> Callable[[F], F]:
    """Make an intrinsic of a plain form; `define` writes its code for LLVM, as for `numba.extending.intrinsic`."""

    def decorate(plain: F) -> F:
        def make() -> Any:
            from podium.jit.machine_code import make_intrinsic

            return make_intrinsic(define, plain)

        return cast(F, Deferred(plain, make))

    return decorate


def instruction(signature: str, generate: Callable[..., Any]) -> Callable[[F], F]:
    """Make an intrinsic of one signature: `generate(builder, *arguments)` gives LLVM's value of the result."""

    def define(*types: object) -> Any:
        from podium.jit.machine_code import typed_code

        return typed_code(signature, generate)

    return intrinsic(define)


def address(function: Callable[..., Any], signature: str) -> int:
    """Address of the machine code of a compiled function for a signature, to be called through `function_at`.

    Passing the function itself would cost a tenth of a millisecond per call.
    """
    plain = own.plain or is_interpreted()
    place = _ADDRESSES.get((function, signature, plain))
    if place is None:
        place = _ADDRESSES[function, signature, plain] = _find_address(function, signature, plain=plain)
    return place


def _find_address(function: Callable[..., Any], signature: str, *, plain: bool) -> int:
    if plain:
        _PLAIN.append((function, signature))
        return -len(_PLAIN)
    from podium.jit.machine_code import find_address

    return find_address(function, signature)


_ADDRESSES: dict[tuple[Any, str, bool], int] = {}
_PLAIN: list[tuple[Any, str]] = []  # interpreted, function k has the address −1 − k


def function_at(signature: str) -> Any:
    """Make the intrinsic that turns an address into a function of this signature, within compiled functions."""

    def at(address: int) -> Any:
        assert address < 0, "machine code cannot be called from an interpreted function"
        function, declared = _PLAIN[-1 - address]
        assert declared == signature, f"{function.__name__} has the signature {declared}, not {signature}"
        return function

    def make() -> Any:
        from podium.jit.machine_code import make_function_at

        return make_function_at(signature)

    return Deferred(at, make)


@contextmanager
def on_long_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` once if compilation takes more than a second within the block, perhaps from another thread."""
    if is_interpreted():
        yield
        return
    from podium.jit.machine_code import CompileTimer, listening

    with listening(CompileTimer(tell)) as timer:
        try:
            yield
        finally:
            timer.stop()


@contextmanager
def counting_compilations() -> Iterator[list[str]]:
    """Names of podium's functions that are compiled within the block, not loaded from the cache; a name per signature.

    Functions of numba itself, which it compiles on their behalf, are left out.
    """
    names = list[str]()
    if is_interpreted():
        yield names
        return
    from podium.jit.machine_code import CompileCounter, listening

    with listening(CompileCounter(names)):
        yield names


def is_cached() -> bool:
    """Whether machine code is kept on disk for the next process."""
    from podium.jit.disk_cache import can_write

    return can_write(is_cached)


def is_interpreted() -> bool:
    """Whether compiled functions run as Python: NUMBA_DISABLE_JIT."""
    if "numba" in sys.modules:
        return bool(sys.modules["numba"].config.DISABLE_JIT)
    return os.environ.get("NUMBA_DISABLE_JIT", "").strip() not in ("", "0")


def interpret(function: Callable[..., Any], *args: object) -> Any:
    """Call a plain form with the arithmetic of compiled code: integers overflow silently, and x / 0 is no error."""
    if own.interprets:
        return function(*args)
    import numpy as np

    own.interprets = True
    try:
        with np.errstate(all="ignore"):
            return function(*(np.float64(value) if type(value) is float else value for value in args))
    finally:
        own.interprets = False


class _Own(threading.local):
    """State of a thread: whether an interpreted function runs, and what `podium.jit.tiers` decided."""

    interprets = False
    decided = False
    plain = False
    repeated = False


own = _Own()


def _deferred(function: F, options: dict[str, Any]) -> F:
    def make(**more: Any) -> Any:
        from podium.jit.machine_code import dispatcher

        return dispatcher(function, {**options, **more})

    def make_inner() -> Any:
        target = deferred._target
        return target if target is not None and target.signatures else make(no_cpython_wrapper=True)

    calls_itself = function.__name__ in function.__code__.co_names  # numba compiles it once, for both kinds of calls
    deferred = Deferred(function, make, None if "inline" in options or calls_itself else make_inner)
    return cast(F, deferred)
