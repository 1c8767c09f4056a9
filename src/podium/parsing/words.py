"""Scan text as bytes in compiled code: words of eight bytes, white space, lines and tokens.

Functions take addresses, because numba counts references to arrays at every call, which would cost more than the
scan. They look ahead: text must end with a line end, where all of them stop, and `SPARE` more bytes.

White space is that of C: blank, tab, line end, vertical tab, form feed, carriage return.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.jit.compiled import compiled
from podium.jit.memory import bytes_before, put_word, word

SPARE = 16
"""Bytes after a text that may be read, and written if a text is copied."""
LF, HASH = ord("\n"), ord("#")
_TOPS, _BLANKS = (np.uint64(b * 0x0101010101010101) for b in (0x80, 0x21))
_0, _1 = map(np.uint64, (0, 1))


@compiled
def byte(at: int) -> Any:
    """The byte at an address."""
    return np.int64(word(at) & np.uint64(255))


@compiled
def is_space(c: int) -> bool:
    return c == 32 or 9 <= c <= 13


@compiled
def skip_space(at: int) -> int:
    """Address of the next byte that is no white space, or of the line end."""
    while byte(at) == 32 or (9 <= byte(at) <= 13 and byte(at) != LF):
        at += 1
    return at


@compiled
def line_end(at: int) -> int:
    while byte(at) != LF:
        at += 1
    return at


@compiled
def token_end(at: int) -> int:
    """Address of the next white space; eight bytes are scanned at a time."""
    while True:
        w = word(at)
        low = (w - _BLANKS) & ~w & _TOPS  # the top bit of bytes below 33; exact up to the first of them
        if low == _0:
            at += 8
            continue
        at += np.int64(bytes_before(low))  # type: ignore[assignment]
        if is_space(byte(at)):
            return at
        at += 1  # another control character


@compiled
def masked(w: int, n: int) -> Any:
    """The first n bytes of a word, the others 0; the whole word if n ≥ 8."""
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
    """Copy a text, and up to seven bytes after it; return the end of the copy."""
    for k in range(0, end - start, 8):
        put_word(to + k, word(start + k))
    return to + end - start
