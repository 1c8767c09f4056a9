"""Memory and bits in compiled code: addresses of arrays, words of eight bytes, and single instructions.

Plain forms check that they stay within arrays whose address was taken by `address_of` or `place_of`.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from podium.jit.compiled import instruction, intrinsic

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.types import Type
    from numba.core.typing import Context, Signature


def _data_of(typing_context: Context, array: Type) -> Any:
    from numba import types
    from numba.np.arrayobj import make_array

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]) -> Any:
        return builder.ptrtoint(make_array(array)(context, builder, args[0]).data, ir.IntType(64))

    return types.int64(array), generate


@intrinsic(_data_of)
def place_of(array: NDArray[Any]) -> int:
    """The address of an array in compiled code; the array must live as long as the address is used."""
    return address_of(array)


def address_of(array: NDArray[Any]) -> int:
    """The address of an array, for compiled code that takes addresses."""
    _IN_USE[array.ctypes.data, array.nbytes] = array
    return array.ctypes.data


_IN_USE: WeakValueDictionary[tuple[int, int], NDArray[Any]] = WeakValueDictionary()


def _read_word(builder: ir.IRBuilder, at: ir.Value) -> Any:
    return builder.load(builder.inttoptr(at, ir.IntType(64).as_pointer()), align=1)


@instruction("uint64(int64)", _read_word)
def word(at: int) -> Any:
    """The eight bytes at an address, the first lowest."""
    _check_place(at)
    return np.uint64(ctypes.c_uint64.from_address(int(at)).value)


def _write_word(builder: ir.IRBuilder, at: ir.Value, value: ir.Value) -> None:
    builder.store(value, builder.inttoptr(at, ir.IntType(64).as_pointer()), align=1)


@instruction("void(int64, uint64)", _write_word)
def put_word(at: int, value: np.uint64) -> None:
    """Write eight bytes to an address."""
    _check_place(at)
    ctypes.c_uint64.from_address(int(at)).value = int(value)


def _check_place(at: int) -> None:
    """Refuse to read or write outside of the arrays whose address was taken."""
    inside = any(start <= at and at + 8 <= start + size for start, size in list(_IN_USE))
    assert inside, f"eight bytes at {at} are outside of all arrays in use"


def _lowest_byte(builder: ir.IRBuilder, a: ir.Value) -> Any:
    zeros = builder.cttz(a, ir.Constant(ir.IntType(1), 0))
    return builder.lshr(zeros, ir.Constant(ir.IntType(64), 3))


@instruction("uint64(uint64)", _lowest_byte)
def bytes_before(a: np.uint64) -> Any:
    """The number of bytes below the lowest bit that is 1; 8 if none is."""
    lowest = int(a) & -int(a)
    return np.uint64((lowest.bit_length() - 1) // 8 if lowest else 8)


@instruction("uint64(uint64)", lambda builder, a: builder.bswap(a))
def swapped(a: np.uint64) -> Any:
    """The eight bytes of a word, the last lowest, so that words compare as their texts do."""
    return np.uint64(a).byteswap()


def _upper_half(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> Any:
    wide = ir.IntType(128)
    product = builder.mul(*(builder.zext(x, wide) for x in (a, b)))
    return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))


@instruction("uint64(uint64, uint64)", _upper_half)
def high_product(a: np.uint64, b: np.uint64) -> Any:
    """The upper 64 bits of a·b."""
    return np.uint64(int(a) * int(b) >> 64)


@instruction("uint64(uint64)", lambda builder, a: builder.ctlz(a, ir.Constant(ir.IntType(1), 0)))
def leading_zeros(a: np.uint64) -> Any:
    """The number of bits above the highest that is 1."""
    return np.uint64(64 - int(a).bit_length())


@instruction("float64(uint64)", lambda builder, a: builder.bitcast(a, ir.DoubleType()))
def double_of(a: np.uint64) -> Any:
    """The double of these bits."""
    return np.uint64(a).view(np.float64)


@instruction("uint64(float64)", lambda builder, x: builder.bitcast(x, ir.IntType(64)))
def bits_of(x: float) -> Any:
    """The bits of a double."""
    return np.float64(x).view(np.uint64)
