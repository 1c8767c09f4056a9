"""Machine code: the part of `compiled` that calls numba, imported at the first call of a compiled function.

numba's words, as they are used here: a *dispatcher* is the callable that compiles a function for the types of its
arguments and chooses the machine code at each call; a *signature* is such a list of types with the type of the result,
e.g. "float64(int64)"; an *intrinsic* is a function whose code is written with LLVM's `builder`, one call per
instruction; the *typing context* knows the types of functions, the *target context* how values are stored.
"""

from __future__ import annotations

import functools
import inspect
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numba
import numba.extending
from numba.core import cgutils, event, types
from numba.core.registry import cpu_target
from numba.core.sigutils import normalize_signature
from numba.core.typing.typeof import typeof_impl

from podium.jit.compiled import Deferred
from podium.jit.disk_cache import DiskCache, name_apart

if TYPE_CHECKING:
    from llvmlite.ir import IRBuilder, Value
    from numba.core.base import BaseContext
    from numba.core.typing import Context, Signature
    from numba.core.typing.typeof import _TypeofContext as TypeofContext

listening = functools.partial(event.install_listener, "numba:compile")


@typeof_impl.register(Deferred)  # type: ignore[untyped-decorator]
def _type_of_deferred(value: Deferred, context: TypeofContext) -> Any:
    """Let compiled code use a `Deferred` like the dispatcher or intrinsic that it stands for."""
    target = value.inner
    if hasattr(target, "py_func"):  # a dispatcher
        return typeof_impl(target, context)
    typing = cpu_target.typing_context
    typing.refresh()  # registers new intrinsics
    return typing.resolve_value_type(target)


def dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Make numba's dispatcher of a function, with our disk cache unless the function is inlined."""
    if "inline" in options:
        return numba.njit(**options)(function)
    name_apart(function)
    chooser = numba.njit(**options, no_cfunc_wrapper=True)(function)  # nothing here calls it from C
    # numba has no public way to replace its own cache, which looks at the function's file alone.
    chooser._cache = DiskCache(function, options)
    return chooser


@functools.cache
def signature_of(text: str) -> Any:
    """numba's signature of a text such as "float64(int64)"."""
    arguments, result = normalize_signature(text)
    return result(*arguments)


def find_address(function: Any, signature: str) -> int:
    """Address of a compiled function's machine code for a signature."""
    wanted = signature_of(signature)
    code = getattr(function, "inner", function).get_compile_result(wanted)  # a user may give numba's own dispatcher
    if code.signature.return_type != wanted.return_type:
        raise TypeError(f"{function.__name__} returns {code.signature.return_type}; expected {wanted.return_type}.")
    return int(code.library.get_pointer_to_function(code.fndesc.llvm_func_name))


def make_intrinsic(define: Callable[..., Any], plain: Callable[..., Any]) -> Any:
    """Make an intrinsic with the signature of its plain form, since numba checks the number of parameters."""

    @functools.wraps(plain)
    def with_parameters(typing_context: Context, *arguments: types.Type) -> Any:
        return define(typing_context, *arguments)

    context = inspect.Parameter("typing_context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(plain).parameters.values()
    with_parameters.__signature__ = inspect.Signature([context, *parameters])  # type: ignore[attr-defined]
    return numba.extending.intrinsic(with_parameters)


def typed_code(signature: str, generate: Callable[..., Any]) -> Any:
    """Signature and code generator of an intrinsic, the pair that numba expects from its definition."""

    def code(context: BaseContext, builder: IRBuilder, _: Signature, arguments: list[Value]) -> Any:
        value = generate(builder, *arguments)
        return context.get_dummy_value() if value is None else value

    return signature_of(signature), code


def make_function_at(signature: str) -> Any:
    """Make the intrinsic that turns an address into a function of this signature."""
    kind = types.FunctionType(signature_of(signature))

    @numba.extending.intrinsic  # type: ignore[untyped-decorator]
    def at(typing_context: Context, address: types.Type) -> Any:
        def code(context: BaseContext, builder: IRBuilder, _: Signature, arguments: list[Value]) -> Any:
            function = cgutils.create_struct_proxy(kind)(context, builder)
            function.jit_addr = builder.inttoptr(arguments[0], function.jit_addr.type)
            return function._getvalue()

        return kind(types.int64), code

    return at


class CompileCounter(event.Listener):  # type: ignore[misc]
    """Collect the names of compiled functions, without those of numba; a listener of numba's events."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def on_start(self, _: event.Event) -> None: ...

    def on_end(self, ended: event.Event) -> None:
        function = ended.data["dispatcher"].py_func
        if not function.__module__.startswith("numba."):
            self._names.append(f"{function.__module__}.{function.__code__.co_qualname}")


class CompileTimer(event.Listener):  # type: ignore[misc]
    """Call a function once when numba has compiled for more than a second in total; a listener of numba's events."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell, self._left, self._depth, self._begun = tell, 1.0, 0, 0.0
        self._timer: threading.Timer | None = None

    def on_start(self, _: event.Event) -> None:
        self._depth += 1  # compiling a function compiles those that it calls
        if self._depth == 1 and self._left > 0.0:
            self._begun = time.monotonic()
            self._timer = threading.Timer(self._left, self._expired)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, _: event.Event) -> None:
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
