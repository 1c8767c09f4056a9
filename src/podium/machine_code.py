"""Machine code: what numba makes of compiled functions, and its disk cache. Imported when it is first needed."""

from __future__ import annotations

import functools
import hashlib
import inspect
import threading
import time
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

import numba
import numba.extending
import numba.np.linalg
import numpy as np
from numba.core import cgutils, event, types
from numba.core.caching import FunctionCache
from numba.core.registry import cpu_target
from numba.core.sigutils import normalize_signature
from numba.core.typing.typeof import typeof_impl

from podium.compiled import Deferred
from podium.dispatcher import Dispatcher

listening = functools.partial(event.install_listener, "numba:compile")

# numba imports scipy.linalg when it starts, only to learn whether it is there, which takes as long as the rest of it.
numba.np.linalg.ensure_blas = lambda: None


@typeof_impl.register(Deferred)  # type: ignore[untyped-decorator]
def _type_of_deferred(value: Deferred, context: Any) -> Any:
    made = value.made
    if hasattr(made, "py_func"):
        return typeof_impl(made, context)
    typing = cpu_target.typing_context
    typing.refresh()  # it learns of an intrinsic that was just made
    return typing.resolve_value_type(made)


def dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """The function that compiles itself when it is called, with the disk cache unless it is inlined."""
    if "inline" in options or numba.config.DISABLE_JIT:
        return numba.njit(**options)(function)
    made = Dispatcher(function, targetoptions={**options, "nopython": True, "boundscheck": None})
    cache = disk_cache(function)
    if cache is not None:
        made._cache = cache
    return made


def disk_cache(function: Callable[..., Any]) -> FunctionCache | None:
    """The disk cache of a function, or None if no folder for it can be written."""
    try:
        return _Cache(function)
    except RuntimeError:
        return None


@functools.cache
def _signature(text: str) -> Any:
    arguments, result = normalize_signature(text)
    return result(*arguments)


def address(function: Any, signature: str) -> int:
    wanted = _signature(signature)
    made = function.get_compile_result(wanted)
    if made.signature.return_type != wanted.return_type:
        raise TypeError(f"{function.__name__} returns {made.signature.return_type}; expected {wanted.return_type}.")
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))


def intrinsic(signature: str, generate: Callable[..., Any]) -> Any:
    """Compiled code written for LLVM directly."""
    kind = _signature(signature)

    def code(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        found = generate(builder, *arguments)
        return context.get_dummy_value() if found is None else found

    def define(typing_context: Any, *arguments: Any) -> Any:
        return kind, code

    define.__signature__ = inspect.signature(generate)  # type: ignore[attr-defined]  # numba counts the arguments
    return numba.extending.intrinsic(define)


def function_at(signature: str) -> Any:
    """An intrinsic that makes a function of this signature from its address."""
    kind = types.FunctionType(_signature(signature))

    @numba.extending.intrinsic  # type: ignore[untyped-decorator]
    def at(typing_context: Any, address: Any) -> Any:
        def code(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            found = cgutils.create_struct_proxy(kind)(context, builder)
            found.jit_addr = builder.inttoptr(arguments[0], found.jit_addr.type)
            return found._getvalue()

        return kind(types.int64), code

    return at


class CompileTimer(event.Listener):  # type: ignore[misc]
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
    elif hasattr(value, "_defn"):  # an intrinsic
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
