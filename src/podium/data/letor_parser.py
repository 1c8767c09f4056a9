"""The compiled half of the LETOR reader: whole lines of bytes to labels, columns, values and the places of ids.

It knows only well-formed lines. At any other line (an error, a number that needs more care) it stops, and
`podium.data.letor_line` reads that one line slowly and in words. So there is one place that explains errors.

A decimal m·10^e with m ≤ 2^53 and |e| ≤ 22 is one exact multiplication or division away from its nearest double
(Clinger, How to read floating point numbers accurately, PLDI 1990). A feature with more digits is computed to within
2^-50 and taken if everything that near rounds to the same float32. Up to eight digits are read at once, without a
branch for each: the machine cannot foresee how long a number will be (Lemire, Number parsing at a gigabyte per second,
2021). Helpers take addresses, because numba counts references to arrays at every call, which would cost more than
the parsing; the bytes end with a line end, where all of them stop, and at least eight more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from podium.compiled import compiled

_POWERS = np.array([float(f"1e{k}") for k in range(61)])  # exact up to 1e22
_BAD, _EXACT, _NEAR = 0, 1, 2  # how a decimal was read
_LF, _HASH, _COLON, _ZERO, _DOT, _PLUS, _MINUS, _E = (ord(c) for c in "\n#:0.+-e")
_QID, _NAN, _NULL = (np.uint64(int.from_bytes(word, "little")) for word in (b"qid:", b"nan", b"null"))
_ZEROS, _SIXES, _TOPS, _ONES = (np.uint64(byte * 0x0101010101010101) for byte in (0x30, 0x76, 0x80, 0x01))
_1, _7, _8, _10, _16, _32, _56, _64 = (np.uint64(n) for n in (1, 7, 8, 10, 16, 32, 56, 64))
_PAIRS, _HIGH, _LOW = np.uint64(0x000000FF000000FF), np.uint64(100 + (1000000 << 32)), np.uint64(1 + (10000 << 32))
_LOWER, _THREE, _FOUR = np.uint64(0x20202020), np.uint64(0xFFFFFF), np.uint64(0xFFFFFFFF)


@compiled
def parse(
    text: Any,
    at: int,
    end: int,
    with_qid: int,
    limit: int,
    labels: Any,
    ends: Any,
    columns: Any,
    values: Any,
    spans: Any,
    seen: Any,
) -> tuple[int, int, int]:
    """Read the lines of text[at:end], the last byte a line end, until `end` or a line that is not well-formed.

    with_qid: 1 every line has a query id, 0 none has, −1 not known yet (stop at the first document).
    limit: the largest feature id. Row r gets labels[r], columns and values [ends[r]:ends[r+1]], and
    spans[r]: start and end of its label (−1: exact already), its query id (−1: as before), its comment (−1: none).
    seen: False for as many columns as repeats are looked for; a line with unsorted ids beyond is not well-formed here.
    Returns where it stopped, the rows and the lines read.
    """
    base = text.ctypes.data
    at, stop = at + base, end + base
    rows, lines, count, query, query_end = 0, 0, 0, base, base
    ends[0] = 0
    while at < stop:
        line, at = at, _skip_space(at)
        if _byte(at) != _LF and _byte(at) != _HASH:
            label, label_end, how, at, new, new_end = _head(at, with_qid)
            if at < 0:
                return line - base, rows, lines
            at, more, rising = _features(at, limit, columns, values, count)
            if at < 0 or not (rising or _all_differ(columns[count:more], seen)):
                return line - base, rows, lines
            labels[rows] = label
            near, same = how == _NEAR, _same(new, new_end, query, query_end)
            spans[rows, 0], spans[rows, 1] = (_skip_space(line) - base, label_end - base) if near else (-1, -1)
            spans[rows, 2], spans[rows, 3] = (-1, -1) if same else (new - base, new_end - base)
            spans[rows, 4], spans[rows, 5] = (at + 1 - base, _line_end(at) - base) if _byte(at) == _HASH else (-1, -1)
            query, query_end, count = new, new_end, more
            rows += 1
            ends[rows] = count
        at = _line_end(at) + 1
        lines += 1
    return at - base, rows, lines


@compiled
def scatter(target: Any, row: int, width: int, ends: Any, columns: Any, values: Any) -> None:
    """Put parsed rows into the flat row-major matrix `target`, from `row` on; its cells there are 0."""
    for r in range(len(ends) - 1):
        base = (row + r) * width
        for k in range(ends[r], ends[r + 1]):
            target[base + columns[k]] = values[k]


@compiled
def widen(flat: Any, rows: int, old: int, new: int) -> None:
    """Turn rows × old cells at the front of `flat` into rows × new, in place; new cells are 0."""
    for r in range(rows - 1, -1, -1):
        for c in range(new - 1, old - 1, -1):
            flat[r * new + c] = 0
        for c in range(old - 1, -1, -1):
            flat[r * new + c] = flat[r * old + c]


@compiled
def narrow(flat: Any, rows: int, old: int, new: int) -> None:
    """Keep the first `new` cells of each of rows × old, in place, at the front of `flat`."""
    for r in range(rows):
        for c in range(new):
            flat[r * new + c] = flat[r * old + c]


@compiled
def _head(at: int, with_qid: int) -> tuple[float, int, int, int, int, int]:
    """A line's label, its end and how it was read; where the features begin (−1: odd); the query id's start and end."""
    label, at, how = _decimal(at)
    label_end = at
    if how == _BAD or with_qid < 0 or not _ends_token(_byte(at)):
        return label, label_end, how, -1, 0, 0
    at = _skip_space(at)
    if with_qid == 0:
        return label, label_end, how, at, at, at
    if _word(at) & _FOUR != _QID or _ends_token(_byte(at + 4)):
        return label, label_end, how, -1, 0, 0
    start = at = at + 4
    while not _ends_token(_byte(at)):
        at += 1
    return label, label_end, how, at, start, at


@compiled
def _features(at: int, limit: int, columns: Any, values: Any, count: int) -> tuple[int, int, bool]:
    """The feature:value pairs up to a comment or line end. Returns its place (−1: odd), the count, ids rising."""
    top, rising = 0, True
    while True:
        at = _skip_space(at)
        if _byte(at) == _LF or _byte(at) == _HASH:
            return at, count, rising
        feature, digits = _digits(_word(at))
        at += digits
        if digits == 8:  # or more
            feature, at = _long_id(at - digits)
        if _byte(at) != _COLON or feature < 1 or feature > limit:
            return -1, count, rising
        value, past = _short_decimal(at + 1)
        if past < 0:
            value, past = _value(at + 1)
            if past < 0:
                return -1, count, rising
        at = past
        columns[count], values[count] = feature - 1, value
        count += 1
        rising &= feature > top
        top = max(top, feature)


@compiled
def _short_decimal(at: int) -> tuple[np.float32, int]:
    """A decimal with at most 7 digits before and after its point, and where it ends (−1: it is not of that kind)."""
    negative = _byte(at) == _MINUS
    at += negative
    m, digits = _digits(_word(at))
    at += digits
    x, whole, good = np.float64(m), digits, digits < 8
    if _byte(at) == _DOT:
        f, digits = _digits(_word(at + 1))
        at += 1 + digits
        good &= digits < 8
        x = (x * _POWERS[digits] + np.float64(f)) / _POWERS[digits]  # exact up to the division
        whole += digits
    good &= whole > 0 and _ends_token(_byte(at))
    return np.float32(-x if negative else x), (at if good else -1)


@compiled
def _value(at: int) -> tuple[np.float32, int]:
    """A feature's value: the float32 of its nearest double, NaN for nan and null in any case; its end (−1: odd)."""
    x, past, how = _decimal(at)
    value = np.float32(x)
    if how == _BAD:
        word = _word(at) | _LOWER
        value = np.float32(np.nan)
        past = at + 3 if word & _THREE == _NAN else at + 4 if word & _FOUR == _NULL else at
        return value, (past if past > at and _ends_token(_byte(past)) else -1)
    good = np.isfinite(value) and _ends_token(_byte(past))
    if how == _NEAR:
        good &= np.float32(x - x * 2.0**-50) == np.float32(x + x * 2.0**-50)
    return value, (past if good else -1)


@compiled
def _decimal(at: int) -> tuple[float, int, int]:
    """A decimal number: its value, where it ends, and whether that is bad, the nearest double, or within 2^-50."""
    negative = _byte(at) == _MINUS
    at += negative or _byte(at) == _PLUS
    start, m, power, dots, dropped = at, np.uint64(0), 0, 0, False
    while _is_digit(_byte(at)) or (_byte(at) == _DOT and dots == 0):
        if _byte(at) == _DOT:
            dots = 1
        elif m < np.uint64(10**18):
            m = m * _10 + np.uint64(_byte(at) - _ZERO)
            power -= dots
        else:
            dropped = True
            power += 1 - dots
        at += 1
    if at - start == dots:
        return 0.0, at, _BAD
    if _byte(at) | 32 == _E:
        exponent, at = _exponent(at + 1)
        if at < 0:
            return 0.0, at, _BAD
        power += exponent
    if m == 0:
        return (-0.0 if negative else 0.0), at, _EXACT
    if power < -60 or power > 60:
        return 0.0, at, _BAD
    x = np.float64(m)
    x = x / _POWERS[-power] if power < 0 else x * _POWERS[power]
    exact = m <= np.uint64(2**53) and not dropped and -22 <= power <= 22
    return (-x if negative else x), at, (_EXACT if exact else _NEAR)


@compiled
def _exponent(at: int) -> tuple[int, int]:
    """The whole number after e, and where it ends (−1: there is none)."""
    negative = _byte(at) == _MINUS
    at += negative or _byte(at) == _PLUS
    start, n = at, 0
    while _is_digit(_byte(at)):
        n = min(n * 10 + (_byte(at) - _ZERO), 100_000)
        at += 1
    return (-n if negative else n), (at if at > start else -1)


@compiled
def _long_id(at: int) -> tuple[int, int]:
    """A feature id of eight digits or more (−1: more than fit), and where it ends."""
    start, feature = at, 0
    while _is_digit(_byte(at)):
        feature = feature * 10 + (_byte(at) - _ZERO)
        at += 1
    return (feature if at - start < 18 else -1), at


@compiled
def _digits(word: np.uint64) -> tuple[Any, Any]:
    """The whole number at the front of eight bytes, and how many digits it has."""
    t = word ^ _ZEROS  # digits are 0 to 9 now
    other = ((t + _SIXES) | t) & _TOPS  # the top bit of all that are not, up to the first at least
    first = other & (~other + _1)
    n = (((first >> _7) - _1) & _ONES) * _ONES >> _56  # the bytes before the first
    if n == 0:
        return 0, 0
    t <<= _64 - n * _8  # zeros in front
    t = t * _10 + (t >> _8)  # pairs of digits, then fours and eight
    t = ((t & _PAIRS) * _HIGH + ((t >> _16) & _PAIRS) * _LOW) >> _32
    return np.int64(t), np.int64(n)


@compiled
def _all_differ(columns: Any, seen: Any) -> bool:
    """Whether no column stands twice; also False where one is beyond `seen`."""
    good = True
    for c in columns:
        good &= c < len(seen)
        if c < len(seen):
            good &= not seen[c]
            seen[c] = True
    for c in columns:
        if c < len(seen):
            seen[c] = False
    return good


@compiled
def _same(a: int, a_end: int, b: int, b_end: int) -> bool:
    while a < a_end and b < b_end and _byte(a) == _byte(b):
        a += 1
        b += 1
    return a == a_end and b == b_end


@compiled
def _skip_space(at: int) -> int:
    while _byte(at) == 32 or (9 <= _byte(at) <= 13 and _byte(at) != _LF):
        at += 1
    return at


@compiled
def _line_end(at: int) -> int:
    while _byte(at) != _LF:
        at += 1
    return at


@compiled
def _ends_token(c: int) -> bool:
    return c == 32 or 9 <= c <= 13 or c == _HASH


@compiled
def _is_digit(c: int) -> bool:
    return _ZERO <= c <= _ZERO + 9


@compiled
def _byte(at: int) -> Any:
    return np.int64(_word(at) & np.uint64(255))


@intrinsic  # type: ignore[untyped-decorator]
def _word(typing: Any, address: Any) -> Any:
    """The eight bytes at an address, the first lowest."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load(pointer, align=1)

    return types.uint64(types.int64), generate
