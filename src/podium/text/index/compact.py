"""Compact arrays: how a segment is written. Rising numbers as steps, all in the smallest type that holds them.

>>> numbers = np.array([5, 7, 7, 300])
>>> steps(numbers).tolist(), steps(numbers).dtype
([5, 2, 0, 293], dtype('uint16'))
>>> from_steps(steps(numbers), np.int64).tolist()
[5, 7, 7, 300]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from podium.base.arrays import AnyArray, Bytes, Int32s, Ints
from podium.jit.compiled import compiled
from podium.jit.tiers import tier
from podium.text.index.blocks import narrowed


def steps(rising: AnyArray) -> AnyArray:
    """The first of rising numbers, and the steps between them."""
    return narrowed(np.diff(rising.ravel(), prepend=rising.dtype.type(0)))


def from_steps(narrow: AnyArray, kind: DTypeLike) -> AnyArray:
    """The numbers of `steps`."""
    return np.cumsum(narrow, dtype=kind)


def packed_rows(rows: Int32s, pointers: Ints) -> Bytes:
    """The rows of postings as steps within each term, seven bits a byte; the highest bit says that more follow."""
    packed = np.empty(5 * len(rows), np.uint8)
    with tier(len(rows)):
        return packed[: _pack(rows, pointers, packed)].copy()


def unpacked_rows(packed: Bytes, pointers: Ints) -> Int32s:
    """The rows of `packed_rows`; raises ValueError if there are more or fewer than the postings."""
    rows = np.empty(pointers[-1] if len(pointers) else 0, np.int32)
    with tier(len(rows)):
        used = _unpack(packed, pointers, rows)
    if used != len(packed):
        raise ValueError("postings do not match their pointers")
    return rows


@compiled
def _pack(rows: Int32s, pointers: Ints, out: Bytes) -> int:
    n = 0
    for k in range(len(pointers) - 1):
        last = np.int64(0)
        for p in range(pointers[k], pointers[k + 1]):
            step = np.int64(rows[p]) - last
            last = np.int64(rows[p])
            while step >= 128:
                out[n] = 128 | (step & 127)
                step >>= 7
                n += 1
            out[n] = step
            n += 1
    return n


@compiled
def _unpack(packed: Bytes, pointers: Ints, rows: Int32s) -> int:
    """Fill the rows; returns the number of bytes used, −1 if they end too early."""
    n = 0
    for k in range(len(pointers) - 1):
        last = np.int64(0)
        for p in range(pointers[k], pointers[k + 1]):
            shift = 0
            while True:
                if n >= len(packed) or shift > 28:
                    return -1
                byte = np.int64(packed[n])
                n += 1
                last += (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            rows[p] = last
    return n
