"""Symbols: outlined functions, which other machine code calls by name, like functions of a C library.

Machine code from the disk cache names its symbols too, and they must be defined before it is linked. So a file of the
cache begins with the symbols that it may need.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import llvmlite.binding
from numba.core import cgutils, types

if TYPE_CHECKING:
    from llvmlite.ir import IRBuilder, Value
    from numba.core.base import BaseContext
    from numba.core.typing import Context, Signature

    from podium.jit.compiled import Deferred

_DEFINED: dict[str, int] = {}  # symbol → address


def make_call(function: Deferred, signature: str) -> Any:
    """Make the intrinsic that calls the machine code of a function for a signature by its symbol."""
    from podium.jit.machine_code import make_intrinsic, signature_of

    symbol = f"{function.py_func.__module__}.{function.py_func.__qualname__}"

    def define(typing_context: Context, *arguments: types.Type) -> Any:
        define_symbols([symbol])
        return signature_of(signature), code

    def code(context: BaseContext, builder: IRBuilder, wanted: Signature, arguments: list[Value]) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(wanted.return_type, wanted.args)
        callee = cgutils.get_or_insert_function(builder.module, kind, symbol)
        status, result = convention.call_function(builder, callee, wanted.return_type, wanted.args, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value() if wanted.return_type == types.void else result

    return make_intrinsic(define, function.py_func)


def define_symbols(symbols: list[str]) -> None:
    """Define the symbols of outlined functions: compile them, or load them from the disk cache."""
    for symbol in symbols:
        if symbol not in _DEFINED:
            module, _, name = symbol.rpartition(".")
            place = getattr(importlib.import_module(module), name).symbol_address()
            llvmlite.binding.add_symbol(symbol, place)
            _DEFINED[symbol] = place


def symbols_in_use() -> list[str]:
    """All symbols that machine code of this process may name."""
    return sorted(_DEFINED)
