"""Views: slices of arrays in compiled code without reference counting.

An ordinary slice adds and drops a reference to its array, which costs more than a short loop over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from podium.jit.compiled import intrinsic

if TYPE_CHECKING:
    from llvmlite.ir import IRBuilder, Value
    from numba.core.base import BaseContext
    from numba.core.types import Array, Type
    from numba.core.typing import Context, Signature


def _view(typing_context: Context, array: Array, start: Type, end: Type) -> Any:
    from numba import types
    from numba.np.arrayobj import populate_array

    def generate(context: BaseContext, builder: IRBuilder, signature: Signature, arguments: list[Value]) -> Any:
        whole = context.make_array(array)(context, builder, arguments[0])
        part = context.make_array(array)(context, builder)
        size = context.get_abi_sizeof(context.get_data_type(array.dtype))
        width = context.get_constant(types.intp, size)
        populate_array(
            part,
            data=builder.gep(whole.data, [arguments[1]]),
            shape=[builder.sub(arguments[2], arguments[1])],
            strides=[width],
            itemsize=width,
            meminfo=None,
        )
        return part._getvalue()

    return array(array, types.int64, types.int64), generate


@intrinsic(_view)
def view(array: NDArray[Any], start: int, end: int) -> Any:
    """array[start:end] of a contiguous flat array, which must be an argument of the function so that it stays alive."""
    assert array.shape == (array.size,), "a view is of a flat array"
    assert array.flags.c_contiguous, "a view is of a contiguous array"
    assert 0 <= start <= end <= len(array), f"{start}:{end} is outside of an array of {len(array)}"
    return array[start:end]
