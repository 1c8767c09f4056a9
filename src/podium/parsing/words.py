"""Text as bytes in compiled code: words of eight bytes, white space, lines and tokens.

Functions take addresses, because numba counts references to arrays at every call, which would cost more than the
reading. They look ahead: text must end with a line end, where all of them stop, and `SPARE` more bytes.

White space is what it is in C: blank, tab, line end, vertical tab, form feed, carriage return.
"""

from __future__ import annotations

import ctypes
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from podium.jit.compiled import compiled, instruction, intrinsic

SPARE = 16
"""Bytes after a text that may be read, and written where a text is copied."""
LF, HASH = ord("\n"), ord("#")
_TOPS, _BLANKS = (np.uint64(b * 0x0101010101010101) for b in (0x80, 0x21))
_0, _1 = map(np.uint64, (0, 1))


def _data_of(typing_context: Any, array: Any) -> Any:
    from numba import types
    from numba.np.arrayobj import make_array

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ptrtoint(make_array(array)(context, builder, args[0]).data, ir.IntType(64))

    return types.int64(array), generate


@intrinsic(_data_of)
def place_of(array: NDArray[Any]) -> int:
    """The address of an array in compiled code; the array must outlive what is done with it."""
    return address_of(array)


def address_of(array: NDArray[Any]) -> int:
    """The address of an array, for compiled code that takes addresses."""
    _IN_USE[array.ctypes.data, array.nbytes] = array
    return array.ctypes.data


_IN_USE: WeakValueDictionary[tuple[int, int], NDArray[Any]] = WeakValueDictionary()


@compiled
def byte(at: Any) -> Any:
    """The byte at an address."""
    return np.int64(word(at) & np.uint64(255))


@compiled
def is_space(c: int) -> bool:
    return c == 32 or 9 <= c <= 13


@compiled
def skip_space(at: int) -> int:
    """The next byte that is no white space, or the line end."""
    while byte(at) == 32 or (9 <= byte(at) <= 13 and byte(at) != LF):
        at += 1
    return at


@compiled
def line_end(at: int) -> int:
    while byte(at) != LF:
        at += 1
    return at


@compiled
def token_end(at: Any) -> Any:
    """The next white space; eight bytes are looked at together."""
    while True:
        w = word(at)
        low = (w - _BLANKS) & ~w & _TOPS  # the top bit of bytes below 33; right up to the first of them
        if low == _0:
            at += 8
            continue
        at += np.int64(bytes_before(low))
        if is_space(byte(at)):
            return at
        at += 1  # another control character


@compiled
def masked(w: Any, n: int) -> Any:
    """The first n bytes of a word, the others 0; all from n = 8 on."""
    return w if n >= 8 else w & ((_1 << np.uint64(8 * n)) - _1)


@compiled
def same(a: int, a_end: int, b: int, b_end: int) -> bool:
    """Whether two texts are equal."""
    if a_end - a != b_end - b:
        return False
    while a < a_end:
        if masked(word(a) ^ word(b), a_end - a) != _0:
            return False
        a += 8
        b += 8
    return True


@compiled
def copy(start: int, end: int, to: int) -> int:
    """Copy a text, and up to seven bytes after it. Returns where the copy ends."""
    for k in range(0, end - start, 8):
        put_word(to + k, word(start + k))
    return to + end - start


def _read_word(builder: Any, at: Any) -> Any:
    return builder.load(builder.inttoptr(at, ir.IntType(64).as_pointer()), align=1)


@instruction("uint64(int64)", _read_word)
def word(at: int) -> Any:
    """The eight bytes at an address, the first lowest."""
    _check_place(at)
    return np.uint64(ctypes.c_uint64.from_address(int(at)).value)


def _write_word(builder: Any, at: Any, value: Any) -> None:
    builder.store(value, builder.inttoptr(at, ir.IntType(64).as_pointer()), align=1)


@instruction("void(int64, uint64)", _write_word)
def put_word(at: int, value: Any) -> None:
    """Write eight bytes to an address."""
    _check_place(at)
    ctypes.c_uint64.from_address(int(at)).value = int(value)


def _check_place(at: int) -> None:
    """Plain forms read and write only within arrays whose address was asked for."""
    inside = any(start <= at and at + 8 <= start + size for start, size in list(_IN_USE))
    assert inside, f"eight bytes at {at} lie outside all arrays in use"


def _lowest_byte(builder: Any, a: Any) -> Any:
    zeros = builder.cttz(a, ir.Constant(ir.IntType(1), 0))
    return builder.lshr(zeros, ir.Constant(ir.IntType(64), 3))


@instruction("uint64(uint64)", _lowest_byte)
def bytes_before(a: Any) -> Any:
    """The number of bytes below the lowest bit that is 1; 8 where none is."""
    lowest = int(a) & -int(a)
    return np.uint64((lowest.bit_length() - 1) // 8 if lowest else 8)


@instruction("uint64(uint64)", lambda builder, a: builder.bswap(a))
def swapped(a: Any) -> Any:
    """The eight bytes of a word, the last lowest, so that words compare as their texts do."""
    return np.uint64(a).byteswap()
