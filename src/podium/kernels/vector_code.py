"""What numba makes of `vectors.py`: the type, its arithmetic, and the functions. Imported when first needed."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model
from numba.np.arrayobj import make_array

from podium.kernels.vectors import LANES, NEVER

_REGISTERS = ir.VectorType(ir.DoubleType(), LANES)


class _Vector(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Vector")


_vector = _Vector()


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _REGISTERS)


def _operator(symbol: Any, instruction: str) -> None:
    @infer_global(symbol)
    class Typing(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            return signature(_vector, _vector, _vector) if args == (_vector, _vector) else None

    @lower_builtin(symbol, _Vector, _Vector)  # type: ignore[untyped-decorator]
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args, flags=["contract"])


_operator(operator.add, "fadd")
_operator(operator.sub, "fsub")
_operator(operator.mul, "fmul")


@intrinsic  # type: ignore[untyped-decorator]
def load(typing_context: Any, numbers: Any, at: Any) -> Any:
    """numbers[at : at + 8] of a flat array."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, sig, args), align=8)

    return _vector(numbers, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(typing_context: Any, out: Any, at: Any, v: Any) -> Any:
    """out[at : at + 8] = v."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _place(context, builder, sig, args), align=8)
        return context.get_dummy_value()

    return types.void(out, types.intp, v), generate


def _place(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    data = make_array(sig.args[0])(context, builder, args[0]).data
    return builder.bitcast(builder.gep(data, [args[1]]), _REGISTERS.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def splat(typing_context: Any, number: Any) -> Any:
    """The same number in all lanes."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _all_lanes(builder, args[0])

    return _vector(types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]
def spread(typing_context: Any, numbers: Any, at: Any) -> Any:
    """numbers[at] of a flat array in all lanes; `at` must not be negative."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = make_array(sig.args[0])(context, builder, args[0]).data
        return _all_lanes(builder, builder.load(builder.gep(data, [args[1]])))

    return _vector(numbers, types.intp), generate


def _all_lanes(builder: Any, number: Any) -> Any:
    nothing, zero = ir.Constant(_REGISTERS, ir.Undefined), ir.Constant(ir.IntType(32), 0)
    one = builder.insert_element(nothing, number, zero)
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


@intrinsic  # type: ignore[untyped-decorator]
def flush(typing_context: Any, v: Any) -> Any:
    """v, with 0 for numbers between −1e−150 and 1e−150; NaN stays NaN."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(_REGISTERS, [_REGISTERS])
        size = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{LANES}f64")
        seen = builder.fcmp_unordered(">", builder.call(size, args), ir.Constant(_REGISTERS, [NEVER] * LANES))
        return builder.select(seen, args[0], ir.Constant(_REGISTERS, [0.0] * LANES))

    return _vector(_vector), generate
