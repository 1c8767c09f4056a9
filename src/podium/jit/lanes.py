"""Lanes: vector instructions that treat a few documents at once, written for LLVM directly.

The compiler vectorises plain loops over long arrays. The loop here is short and its state must stay in registers from
one step to the next, which a plain loop over an array cannot express.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from podium.base.arrays import Int32s, Singles
from podium.jit.compiled import intrinsic

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.types import Array, Type
    from numba.core.typing import Context, Signature


@functools.cache
def clear_leaves(lanes: int) -> Any:
    """Make the function clear(v, X, feature, threshold, mask, first, last) for a number of lanes; see `quickscorer.py`.

    v[d] = AND over nodes k from first to last of (mask[k] if not X[feature[k], d] <= threshold[k]), for all lanes d.
    X is (features, lanes).
    """

    def define(
        typing_context: Context,
        v: Array,
        X: Array,
        feature: Array,
        threshold: Array,
        mask: Array,
        first: Type,
        last: Type,
    ) -> Any:
        from numba.core import types
        from numba.np.arrayobj import make_array

        signature = types.void(v, X, feature, threshold, mask, types.intp, types.intp)

        def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]) -> Any:
            data = [make_array(t)(context, builder, a).data for t, a in zip(signature.args[:5], args[:5], strict=True)]
            _generate(builder, lanes, data, args[5], args[6])
            return context.get_dummy_value()

        return signature, generate

    @intrinsic(define)
    def clear(
        v: NDArray[np.uint32],
        X: Singles,
        feature: Int32s,
        threshold: Singles,
        mask: NDArray[np.uint32],
        first: int,
        last: int,
    ) -> None:
        assert len(v) == X.shape[1] == lanes, f"{len(v)} numbers and {X.shape[1]} documents; expected {lanes} lanes"
        assert 0 <= first <= last <= min(len(feature), len(threshold), len(mask)), f"nodes {first} to {last}"
        v[:] = ~v.dtype.type(0)
        for k in range(first, last):
            assert 0 <= feature[k] < len(X), f"feature {feature[k]} of {len(X)}"
            v[~(X[feature[k]] <= threshold[k])] &= mask[k]

    return clear


def _generate(builder: ir.IRBuilder, lanes: int, data: list[ir.Value], first: ir.Value, last: ir.Value) -> None:
    from numba.core import cgutils

    v, X, feature, threshold, mask = data
    number = mask.type.pointee
    floats, numbers = ir.VectorType(X.type.pointee, lanes), ir.VectorType(number, lanes)
    size = ir.IntType(64)
    alive = cgutils.alloca_once_value(builder, ir.Constant(numbers, [-1] * lanes))
    with cgutils.for_range(builder, builder.sub(last, first), intp=size) as loop:
        node = [builder.add(loop.index, first)]
        row = builder.mul(builder.sext(builder.load(builder.gep(feature, node)), size), ir.Constant(size, lanes))
        x = builder.load(builder.bitcast(builder.gep(X, [row]), floats.as_pointer()), align=4)
        cut = _splat(builder, builder.load(builder.gep(threshold, node)), floats)
        left = builder.sext(builder.fcmp_ordered("<=", x, cut), numbers)
        kept = builder.or_(left, _splat(builder, builder.load(builder.gep(mask, node)), numbers))
        builder.store(builder.and_(builder.load(alive), kept), alive)
    builder.store(builder.load(alive), builder.bitcast(v, numbers.as_pointer()), align=number.width // 8)


def _splat(builder: ir.IRBuilder, value: ir.Value, vector: ir.VectorType) -> Any:
    """A vector with the same value in all lanes."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, nothing, zeros)


def _count_zeros(typing_context: Context, number: Type) -> Any:
    from numba.core import types

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]) -> Any:
        zeros = builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))
        return zeros if zeros.type.width == 64 else builder.zext(zeros, ir.IntType(64))

    return types.int64(number), generate


@intrinsic(_count_zeros)
def trailing_zeros(number: np.unsignedinteger[Any]) -> int:
    """The index of the lowest bit that is 1; the number of bits if none is."""
    lowest = int(number) & -int(number)
    return lowest.bit_length() - 1 if lowest else 8 * number.itemsize
