"""Machine code: what numba makes of compiled functions, and its disk cache. Imported when it is first needed."""

from __future__ import annotations

import functools
import inspect
import threading
import time
from collections.abc import Callable
from typing import Any

import numba
import numba.extending
import numba.np.linalg
from numba.core import cgutils, event, types
from numba.core.caching import FunctionCache
from numba.core.registry import cpu_target
from numba.core.sigutils import normalize_signature
from numba.core.typing.typeof import typeof_impl
from numba.np.numpy_support import as_dtype

from podium.code_parts import digest
from podium.compiled import Deferred
from podium.dispatcher import Dispatcher
from podium.stored_code import array_kind, store

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
    cache = disk_cache(function, options)
    if cache is not None:
        made._cache = cache
    return made


def disk_cache(function: Callable[..., Any], options: dict[str, Any]) -> FunctionCache | None:
    """The disk cache of a function, or None if no folder for it can be written."""
    try:
        return _Cache(function, options)
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

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function)
        self._options = options

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return sig, codegen.magic_tuple(), digest(self._py_func), "also stored"

    def _save_overload(self, sig: Any, data: Any) -> None:
        super()._save_overload(sig, data)
        module, names = data.library._final_module, data.fndesc
        symbols = [
            used.name
            for used in (*module.functions, *module.global_variables)
            if used.is_declaration and not used.name.startswith("llvm.")
        ]
        if not data.environment.consts and not any(name.startswith(".numba") for name in symbols):
            about = {
                "function": names.llvm_func_name,
                "wrapper": names.llvm_cpython_wrapper_name,
                "environment": names.env_name,
                "returns": str(data.signature.return_type),
                "symbols": symbols,
            }
            code = data.library._get_compiled_object()
            store(self._py_func, self._options, tuple(map(_kind, data.signature.args)), about, code)


def _kind(kind: Any) -> str | None:
    """The word of `stored_code` for a type of numba's."""
    if isinstance(kind, types.Array):
        plain = kind.aligned and isinstance(kind.dtype, types.Number | types.Boolean)
        return array_kind(as_dtype(kind.dtype), kind.ndim, kind.layout, kind.mutable) if plain else None
    return {types.int64: "int64", types.float64: "float64", types.boolean: "bool"}.get(kind)
