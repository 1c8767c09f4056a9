"""Views: parts of arrays in compiled code that are not counted as references.

A slice in compiled code takes and gives back a reference to its array, which costs more than a short loop over it.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from podium.jit.compiled import intrinsic


def _view(typing_context: Any, array: Any, start: Any, end: Any) -> Any:
    from numba import types
    from numba.np.arrayobj import populate_array

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
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
    """array[start:end] of a contiguous flat array, which must be an argument of the function, so that it lives on."""
    assert array.shape == (array.size,), "a view is of a flat array"
    assert array.flags.c_contiguous, "a view is of a contiguous array"
    assert 0 <= start <= end <= len(array), f"{start}:{end} lies outside an array of {len(array)}"
    return array[start:end]
