"""Compiled functions: numba's decorator in one place. Machine code is cached on disk, where a folder can be written.

>>> @compiled
... def double(x):
...     return 2.0 * x
>>> double(4.0)
8.0

The cache lies beside the source, else in the user's cache folder, or where NUMBA_CACHE_DIR says. Where none of these
can be written, functions are compiled anew in every process. A cached function is found by its own code and that of
every compiled function and constant that it uses, so it is compiled again after any of them has changed.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import CodeType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import cgutils, event, types
from numba.core.caching import FunctionCache
from numba.extending import intrinsic

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


def address(function: Any, signature: Any) -> int:
    """Where the machine code of a compiled function for a signature lies, to be called by `function_at`.

    To pass the function itself would cost a tenth of a millisecond for each call.
    """
    known = _ADDRESSES.setdefault(id(signature), (signature, {}))[1]  # hashing a signature takes long
    if function not in known:
        made = function.get_compile_result(signature)
        known[function] = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
    return known[function]


_ADDRESSES: dict[int, tuple[Any, dict[Any, int]]] = {}


def function_at(signature: Any) -> Any:
    """Within compiled functions: the function of this signature at an address."""
    kind = types.FunctionType(signature)

    @intrinsic  # type: ignore[untyped-decorator]
    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, args: Any) -> Any:
            found = cgutils.create_struct_proxy(kind)(context, builder)
            found.jit_addr = builder.inttoptr(args[0], found.jit_addr.type)
            return found._getvalue()

        return kind(types.int64), generate

    return at


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
    made = numba.njit(**options)(function)
    with suppress(RuntimeError):  # no folder for the cache can be written
        made._cache = _Cache(function)
    return cast(F, made)


class _Cache(FunctionCache):  # type: ignore[misc]
    """A disk cache that knows a function by all code and constants that went into it.

    numba's own looks at the function and its file alone, and would go on to use what was compiled with an older version
    of a function from another file.
    """

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        parts: dict[str, str] = {}
        _add_parts(self._py_func, parts)
        return sig, codegen.magic_tuple(), hashlib.sha256(repr(sorted(parts.items())).encode()).hexdigest()


def _add_parts(function: Any, parts: dict[str, str]) -> None:
    """Add the code of a function, and of all compiled functions and constants that it uses, under their names."""
    name = f"{function.__module__}.{function.__qualname__}"
    if name in parts:
        return
    parts[name] = ""
    used = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    names, text = _read(function.__code__)
    parts[name] = text
    for word in sorted(names):
        value = used[word].cell_contents if word in used else function.__globals__.get(word)
        if isinstance(value, ModuleType):  # `module.function` in the code: any of the names may be of the module
            for other in sorted(names & vars(value).keys()):
                _add_value(f"{name}.{word}.{other}", getattr(value, other), parts)
        else:
            _add_value(f"{name}.{word}", value, parts)


def _add_value(where: str, value: Any, parts: dict[str, str]) -> None:
    if hasattr(value, "py_func"):
        parts[where] = f"{value.py_func.__module__}.{value.py_func.__qualname__}"
        _add_parts(value.py_func, parts)
    elif hasattr(value, "_defn"):  # a function written for LLVM directly
        parts[where] = _read(value._defn.__code__)[1]
    elif isinstance(value, np.ndarray):
        parts[where] = hashlib.sha256(value.tobytes()).hexdigest()
    elif isinstance(value, bool | int | float | str | tuple | np.generic):
        parts[where] = repr(value)


def _read(code: CodeType) -> tuple[set[str], str]:
    """The names that code uses, and the code as text, with that of code inside it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    plain = [repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType | frozenset)]
    names, text = {*code.co_names, *code.co_freevars}, f"{code.co_code.hex()} {plain} {code.co_names}"
    for part in inner:
        more, inside = _read(part)
        names, text = names | more, f"{text} {inside}"
    return names, text
