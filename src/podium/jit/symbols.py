"""Calls of outlined functions: by address, and compiled when machine code first reaches them.

A caller names the function. At its first call it asks `_resolve`, a Python function, for the address, and keeps it in a
variable of its own machine code. So branches that never run are never compiled, nor loaded from the disk cache.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from typing import TYPE_CHECKING, Any

import llvmlite.binding
from llvmlite import ir
from numba.core import cgutils, types

if TYPE_CHECKING:
    from llvmlite.ir import IRBuilder, Value
    from numba.core.base import BaseContext
    from numba.core.typing import Context, Signature

    from podium.jit.compiled import Deferred

_RESOLVE = "podium.jit.symbols.resolve"
_WORD = ir.IntType(64)
_FAILED, _INTERRUPTED = 0, 1  # instead of an address


def make_call(function: Deferred, signature: str) -> Any:
    """Make the intrinsic that calls the machine code of a function for a signature by its name."""
    from podium.jit.machine_code import make_intrinsic, signature_of

    name = f"{function.py_func.__module__}.{function.py_func.__qualname__}"

    def define(typing_context: Context, *arguments: types.Type) -> Any:
        define_resolver()
        return signature_of(signature), code

    def code(context: BaseContext, builder: IRBuilder, wanted: Signature, arguments: list[Value]) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(wanted.return_type, wanted.args)
        callee = builder.inttoptr(_address_of(name, context, builder), kind.as_pointer())
        status, result = convention.call_function(builder, callee, wanted.return_type, wanted.args, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value() if wanted.return_type == types.void else result

    return make_intrinsic(define, function.py_func)


def _address_of(name: str, context: BaseContext, builder: IRBuilder) -> Value:
    """Write the code that gives the address of a function: that of the first call, once there was one."""
    module = builder.module
    place = module.globals.get(f"address of {name}")
    if place is None:
        place = ir.GlobalVariable(module, _WORD, f"address of {name}")
        place.linkage, place.initializer = "internal", _WORD(0)
    with cgutils.if_unlikely(builder, _is(builder, _load(builder, place), _FAILED)):
        text = context.insert_const_string(module, name)
        resolve = cgutils.get_or_insert_function(module, ir.FunctionType(_WORD, [text.type]), _RESOLVE)
        address = builder.call(resolve, [text])
        for answer, error in ((_FAILED, RuntimeError), (_INTERRUPTED, KeyboardInterrupt)):
            with cgutils.if_unlikely(builder, _is(builder, address, answer)):
                context.call_conv.return_user_exc(builder, error, (f"{name} was not compiled",))
        builder.store_atomic(address, place, "monotonic", 8)
    return _load(builder, place)


def _load(builder: IRBuilder, place: Value) -> Value:
    return builder.load_atomic(place, "monotonic", 8)  # other threads may store it, all the same address


def _is(builder: IRBuilder, value: Value, number: int) -> Value:
    return builder.icmp_unsigned("==", value, _WORD(number))


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)  # type: ignore[untyped-decorator]
def _resolve(name: bytes) -> int:
    """Address of an outlined function: compile it, or load it from the disk cache. Called by machine code."""
    try:
        module, _, function = name.decode().rpartition(".")
        return int(getattr(importlib.import_module(module), function).code_address())
    except KeyboardInterrupt:
        return _INTERRUPTED  # other errors are printed by ctypes, and the answer is 0


@functools.cache
def define_resolver() -> None:
    """Define the symbol of `_resolve`, before machine code that names it is linked."""
    llvmlite.binding.add_symbol(_RESOLVE, ctypes.cast(_resolve, ctypes.c_void_p).value)
