"""The compiled half of the LETOR reader: whole lines of bytes to labels, columns, values and the places of ids.

It knows only well-formed lines. At any other line (an error, a number that needs more care) it stops, and
`podium.data.letor` reads that one line slowly and in words. So there is one place that explains errors.

A decimal m·10^e with m ≤ 2^53 and |e| ≤ 22 is one exact multiplication or division away from its nearest double
(Clinger, How to read floating point numbers accurately, PLDI 1990). A feature with more digits is computed to within
2^-50 and taken if everything that near rounds to the same float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_POWERS = np.array([float(f"1e{k}") for k in range(61)])  # exact up to 1e22
_BAD, _EXACT, _NEAR = 0, 1, 2  # how a decimal was read
_LF, _HASH, _COLON, _ZERO, _DOT, _PLUS, _MINUS = (ord(c) for c in "\n#:0.+-")
_Q, _I, _D, _E = (ord(c) for c in "qide")


@njit(cache=True, nogil=True, error_model="numpy")
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
) -> tuple[int, int, int]:
    """Read the lines of text[at:end], the last byte a line end, until `end` or a line that is not well-formed.

    with_qid: 1 every line has a query id, 0 none has, −1 not known yet (stop at the first document).
    limit: the largest feature id. Row r gets labels[r], columns and values [ends[r]:ends[r+1]], and
    spans[r]: start and end of its label (−1: exact already), its query id (−1: as before), its comment (−1: none).
    Returns where it stopped, the rows and the lines read.
    """
    rows, lines, before, ends[0] = 0, 0, -1, 0
    while at < end:
        line = at
        at = _skip_space(text, at)
        if text[at] != _LF and text[at] != _HASH:
            at, count = _document(text, at, with_qid, limit, labels, ends, columns, values, spans, rows, before)
            if at < 0:
                return line, rows, lines
            if spans[rows, 2] >= 0:
                before = rows
            rows += 1
            ends[rows] = count
        at = _line_end(text, at) + 1
        lines += 1
    return at, rows, lines


@njit(cache=True, nogil=True, error_model="numpy")
def _document(
    text: Any,
    at: int,
    with_qid: int,
    limit: int,
    labels: Any,
    ends: Any,
    columns: Any,
    values: Any,
    spans: Any,
    row: int,
    before: int,
) -> tuple[int, int]:
    """One document's line, from its label on. Returns where its comment or line end is (−1: odd), and ends[row+1]."""
    span = spans[row]
    start = at
    label, at, how = _decimal(text, at)
    if how == _BAD or with_qid < 0 or not _ends_token(text[at]):
        return -1, 0
    labels[row] = label
    span[0], span[1] = (start, at) if how == _NEAR else (-1, -1)
    at = _skip_space(text, at)
    if with_qid == 1:
        if not (text[at] == _Q and text[at + 1] == _I and text[at + 2] == _D and text[at + 3] == _COLON):
            return -1, 0
        start, at = at + 4, _token_end(text, at + 4)
        if at == start:
            return -1, 0
        same = before >= 0 and _same(text, start, at, spans[before, 2], spans[before, 3])
        span[2], span[3] = (-1, -1) if same else (start, at)
    at, count, rising = _features(text, at, limit, columns, values, ends[row])
    if at < 0 or not (rising or _all_differ(columns[ends[row] : count])):
        return -1, 0
    span[4], span[5] = -1, -1
    if text[at] == _HASH:
        span[4], span[5] = at + 1, _line_end(text, at)
    return at, count


@njit(cache=True, nogil=True, error_model="numpy")
def _features(text: Any, at: int, limit: int, columns: Any, values: Any, count: int) -> tuple[int, int, bool]:
    """The feature:value pairs up to a comment or line end. Returns its place (−1: odd), the count, ids rising."""
    top, rising = 0, True
    while True:
        at = _skip_space(text, at)
        if text[at] == _LF or text[at] == _HASH:
            return at, count, rising
        start, feature = at, 0
        while _is_digit(text[at]):
            feature = feature * 10 + (text[at] - _ZERO)
            at += 1
        if text[at] != _COLON or at == start or at - start > 10 or feature < 1 or feature > limit:
            return -1, count, rising
        value, at, good = _value(text, at + 1)
        if not good or not _ends_token(text[at]):
            return -1, count, rising
        columns[count], values[count] = feature - 1, value
        count += 1
        rising &= feature > top
        top = max(top, feature)


@njit(cache=True, nogil=True, error_model="numpy")
def _value(text: Any, at: int) -> tuple[np.float32, int, bool]:
    """A feature's value: the float32 of its nearest double; NaN for nan and null in any case of letters."""
    x, past, how = _decimal(text, at)
    value = np.float32(x)
    if how == _EXACT:
        return value, past, np.isfinite(value)
    if how == _NEAR:
        # x·2^-50 is added and taken away rather than x·(1±2^-50) formed, so that 0 stays 0
        low, high = np.float32(x - x * 2.0**-50), np.float32(x + x * 2.0**-50)
        return value, past, low == high and np.isfinite(value)
    past = _missing_end(text, at)
    return np.float32(np.nan), past, past > at


@njit(cache=True, nogil=True, error_model="numpy")
def _decimal(text: Any, at: int) -> tuple[float, int, int]:
    """A decimal number: its value, where it ends, and whether that is bad, the nearest double, or within 2^-50."""
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    start = at
    m, power, seen_dot, dots = np.uint64(0), 0, 0, 0
    dropped = False
    while _is_digit(text[at]) or (text[at] == _DOT and seen_dot == 0):
        if text[at] == _DOT:
            seen_dot, dots = 1, 1
        elif m < np.uint64(10**18):
            m = m * np.uint64(10) + np.uint64(text[at] - _ZERO)
            power -= seen_dot
        else:
            dropped = True
            power += 1 - seen_dot
        at += 1
    if at - start - dots == 0:
        return 0.0, at, _BAD
    if text[at] | 32 == _E:
        exponent, at = _exponent(text, at + 1)
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


@njit(cache=True, nogil=True, error_model="numpy")
def _exponent(text: Any, at: int) -> tuple[int, int]:
    """The whole number after e, and where it ends (−1: there is none)."""
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    start, n = at, 0
    while _is_digit(text[at]):
        n = min(n * 10 + (text[at] - _ZERO), 100_000)
        at += 1
    return (-n if negative else n), (at if at > start else -1)


@njit(cache=True, nogil=True, error_model="numpy")
def _missing_end(text: Any, at: int) -> int:
    """Where the word nan or null at this place ends; the place itself where there is none."""
    if text[at] | 32 != ord("n"):
        return at
    if text[at + 1] | 32 == ord("a") and text[at + 2] | 32 == ord("n"):
        return at + 3
    if text[at + 1] | 32 == ord("u") and text[at + 2] | 32 == ord("l") and text[at + 3] | 32 == ord("l"):
        return at + 4
    return at


@njit(cache=True, nogil=True, error_model="numpy")
def _is_digit(c: int) -> bool:
    return _ZERO <= c <= _ZERO + 9


@njit(cache=True, nogil=True, error_model="numpy")
def _is_space(c: int) -> bool:
    return c == 32 or (9 <= c <= 13 and c != _LF)


@njit(cache=True, nogil=True, error_model="numpy")
def _ends_token(c: int) -> bool:
    return c == 32 or 9 <= c <= 13 or c == _HASH


@njit(cache=True, nogil=True, error_model="numpy")
def _skip_space(text: Any, at: int) -> int:
    while _is_space(text[at]):
        at += 1
    return at


@njit(cache=True, nogil=True, error_model="numpy")
def _token_end(text: Any, at: int) -> int:
    while not _ends_token(text[at]):
        at += 1
    return at


@njit(cache=True, nogil=True, error_model="numpy")
def _line_end(text: Any, at: int) -> int:
    while text[at] != _LF:
        at += 1
    return at


@njit(cache=True, nogil=True, error_model="numpy")
def _same(text: Any, a: int, a_end: int, b: int, b_end: int) -> bool:
    while a < a_end and b < b_end and text[a] == text[b]:
        a += 1
        b += 1
    return a == a_end and b == b_end


@njit(cache=True, nogil=True, error_model="numpy")
def _all_differ(columns: Any) -> bool:
    ordered = np.sort(columns)
    return not (ordered[1:] == ordered[:-1]).any()


@njit(cache=True, nogil=True, error_model="numpy")
def scatter(target: Any, row: int, width: int, ends: Any, columns: Any, values: Any) -> None:
    """Put parsed rows into the flat row-major matrix `target`, from `row` on; its cells there are 0."""
    for r in range(len(ends) - 1):
        base = (row + r) * width
        for k in range(ends[r], ends[r + 1]):
            target[base + columns[k]] = values[k]


@njit(cache=True, nogil=True, error_model="numpy")
def widen(flat: Any, rows: int, old: int, new: int) -> None:
    """Turn rows × old cells at the front of `flat` into rows × new, in place; new cells are 0."""
    for r in range(rows - 1, -1, -1):
        for c in range(new - 1, old - 1, -1):
            flat[r * new + c] = 0
        for c in range(old - 1, -1, -1):
            flat[r * new + c] = flat[r * old + c]


@njit(cache=True, nogil=True, error_model="numpy")
def narrow(flat: Any, rows: int, old: int, new: int) -> None:
    """Keep the first `new` cells of each of rows × old, in place, at the front of `flat`."""
    for r in range(rows):
        for c in range(new):
            flat[r * new + c] = flat[r * old + c]
