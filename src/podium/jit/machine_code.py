"""Machine code: what numba makes of compiled functions. Imported when it is first needed."""

from __future__ import annotations

import functools
import inspect
import threading
import time
from collections.abc import Callable
from typing import Any

import numba
import numba.extending
from numba.core import cgutils, event, types
from numba.core.registry import cpu_target
from numba.core.sigutils import normalize_signature
from numba.core.typing.typeof import typeof_impl

from podium.jit.compiled import Deferred
from podium.jit.disk_cache import DiskCache

listening = functools.partial(event.install_listener, "numba:compile")


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
    if "inline" in options:
        return numba.njit(**options)(function)
    made = numba.njit(**options, no_cfunc_wrapper=True)(function)  # which nothing here calls
    # numba has no public way to give a function another cache than its own, which looks at the function's file alone.
    made._cache = DiskCache(function, options)
    return made


@functools.cache
def _signature(text: str) -> Any:
    arguments, result = normalize_signature(text)
    return result(*arguments)


def find_address(function: Any, signature: str) -> int:
    """The address of a function's machine code for a signature."""
    wanted = _signature(signature)
    made = function.get_compile_result(wanted)
    if made.signature.return_type != wanted.return_type:
        raise TypeError(f"{function.__name__} returns {made.signature.return_type}; expected {wanted.return_type}.")
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))


def make_intrinsic(define: Callable[..., Any], plain: Callable[..., Any]) -> Any:
    """An intrinsic with the parameters of its plain form, which numba counts."""

    @functools.wraps(plain)
    def with_parameters(typing_context: Any, *arguments: Any) -> Any:
        return define(typing_context, *arguments)

    context = inspect.Parameter("typing_context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(plain).parameters.values()
    with_parameters.__signature__ = inspect.Signature([context, *parameters])  # type: ignore[attr-defined]
    return numba.extending.intrinsic(with_parameters)


def one_signature(signature: str, generate: Callable[..., Any]) -> Any:
    """What defines an intrinsic for one signature."""

    def code(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        value = generate(builder, *arguments)
        return context.get_dummy_value() if value is None else value

    return _signature(signature), code


def make_function_at(signature: str) -> Any:
    """An intrinsic that makes a function of this signature from its address."""
    kind = types.FunctionType(_signature(signature))

    @numba.extending.intrinsic  # type: ignore[untyped-decorator]
    def at(typing_context: Any, address: Any) -> Any:
        def code(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            function = cgutils.create_struct_proxy(kind)(context, builder)
            function.jit_addr = builder.inttoptr(arguments[0], function.jit_addr.type)
            return function._getvalue()

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
