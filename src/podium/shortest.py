"""The shortest decimals that read back as the same numbers, written as Python writes floats.

    >>> import numpy as np
    >>> doubles(np.array([0.1, 1e22, 3.0])).tolist(), singles(np.array([0.1, 3], np.float32)).tolist()
    (['0.1', '1e+22', '3.0'], ['0.1', '3.0'])

A number times a power of ten, to 128 bits, gives its first 17 digits. Rounded to 15 (to 6 of single precision), any
decimal that is as short is found, and its last zeros fall away; else more digits are tried until the decimal reads back
as the number. Where 128 bits leave a doubt, Python and numpy say the digits: at a tie between two decimals, and for
powers of two, whose neighbours lie at different distances. Exponents are written below 0.0001 and from 1e16 on, of
single precision from 1e6 on.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.compiled import compiled
from podium.decimals import FIVES_HIGH, FIVES_LOW, MOST_POWER, bits_of, high_product, nearest
from podium.ids import Ids
from podium.text_bytes import SPARE

_LONGEST = 32  # bytes of a number, and what may be written after it
_TENS = np.array([10**k for k in range(19)], np.uint64)
_0, _1, _10, _11, _52, _63, _64 = map(np.uint64, (0, 1, 10, 11, 52, 63, 64))
_DOUBT = np.uint64(16)  # the product's error, at most, in its last bits
_ZERO, _DOT, _MINUS, _PLUS, _E, _N, _A = (ord(c) for c in "0.-+ena")


def doubles(numbers: NDArray[np.float64]) -> Ids:
    """Each number as `repr` writes it."""
    return _written(numbers, 15, repr)


def singles(numbers: NDArray[np.float32]) -> Ids:
    """Each float32 with the fewest digits that tell it from all others."""
    return _written(numbers, 6, lambda number: str(np.float32(number)))


def _written(numbers: NDArray[Any], fewest: int, slowly: Any) -> Ids:
    values = np.ascontiguousarray(numbers, np.float64)
    out, sizes = np.empty(len(values) * _LONGEST + SPARE, np.uint8), np.empty(len(values), np.int64)
    _write_all(values, fewest, out, sizes)
    starts = np.arange(len(values), dtype=np.int64) * _LONGEST
    for row in np.flatnonzero(sizes == 0).tolist():
        x = float(values[row])
        if not math.isfinite(x):
            word = str(x).encode()
            out[starts[row] : starts[row] + len(word)], sizes[row] = np.frombuffer(word, np.uint8), len(word)
            continue
        found = Decimal(slowly(abs(x))).normalize().as_tuple()
        digits = np.uint64(int("".join(map(str, found.digits))))
        sizes[row] = _write_one(x, digits, int(found.exponent), fewest, out, int(starts[row])) - starts[row]
    return Ids(out, starts, starts + sizes)


@compiled
def _write_all(values: Any, fewest: int, out: Any, sizes: Any) -> None:
    """Write each number to its part of `out`, and its length to `sizes`; 0 where there is a doubt."""
    for row in range(len(values)):
        x, begin = values[row], row * _LONGEST
        if x != x:
            out[begin], out[begin + 1], out[begin + 2] = _N, _A, _N
            sizes[row] = 3
            continue
        if abs(x) < 1e6 and x == np.floor(x):
            sizes[row] = _write_one(x, np.uint64(abs(x)), 0, fewest, out, begin) - begin
            continue
        digits, power = _digits(abs(x), fewest)
        sizes[row] = 0 if digits == _0 else _write_one(x, digits, power, fewest, out, begin) - begin


@compiled
def _digits(x: float, fewest: int) -> tuple[Any, Any]:
    """The shortest decimal m·10^power of a number above 0; m is 0 where there is a doubt."""
    bits = bits_of(x)
    binary: Any = np.int64(bits >> _52) - 1075
    if binary < (-178 if fewest == 6 else -900) or binary > 900:  # subnormal, near the ends, infinite, not a number
        return _0, 0
    m = bits & ((_1 << _52) - _1) | _1 << _52
    power = 16 - (((binary + 52) * 78913) >> 18)
    first, rest = _scaled(m, binary, power)
    if first >= _TENS[17]:
        power -= 1
        first, rest = _scaled(m, binary, power)
    of_two = bits & ((_1 << _52) - _1) == _0
    half = 2.0 ** np.float64(binary + 28)  # of the distance to the next float32 above
    for n in range(fewest, (9 if fewest == 6 else 17) + 1):
        ten = _TENS[17 - n]
        found, left = first // ten, first % ten
        twice = left + left
        if n == 17:
            if rest - (_1 << _63) + _DOUBT < _DOUBT + _DOUBT:
                return _0, 0
            found += rest >> _63
        else:
            if (twice == ten and rest < _DOUBT) or (twice + _1 >= ten and twice < ten and rest > ~_DOUBT):
                return _0, 0
            found += np.uint64(twice > ten or (twice == ten and rest > _0) or (twice + _1 == ten and rest >> _63 == _1))
        back = nearest(found, 17 - n - power)
        good: Any = back == x
        if fewest == 6:
            gap = half / 2.0 if of_two and back < x else half
            good = abs(back - x) < gap
            if abs(back - x) == gap:
                return _0, 0
        if good:
            if of_two and n > fewest:
                return _0, 0
            power = 17 - n - power
            while found % _10 == _0:
                found //= _10
                power += 1
            return found, power
    return _0, 0


@compiled
def _scaled(m: Any, binary: Any, power: Any) -> tuple[Any, Any]:
    """m·2^binary·10^power as a whole number of at most 18 digits, and 64 bits of the rest."""
    w, k = m << _11, power + MOST_POWER
    high, low = high_product(w, FIVES_HIGH[k]), w * FIVES_HIGH[k]
    more = high_product(w, FIVES_LOW[k])
    low += more
    high += np.uint64(low < more)
    shift = np.uint64(10 - binary - ((217706 * power) >> 16))  # of 128 bits, 64 + shift are behind the point
    return high >> shift, high << (_64 - shift) | low >> shift


@compiled
def _write_one(x: float, digits: Any, power: int, fewest: int, out: Any, at: int) -> int:
    """Write x, whose absolute value is m·10^power, as Python writes floats. Returns where it ends."""
    if bits_of(x) >> _63 == _1:
        out[at] = _MINUS
        at += 1
    n = 1
    while n < 18 and digits >= _TENS[n]:
        n += 1
    point = n + power  # the digits before the point
    exponent = point < -3 or point > 16
    if fewest == 6:
        exponent = x != 0.0 and (abs(x) < 1e-4 or abs(x) >= 1e6)
    if exponent:
        at = _put(digits, n, 1, out, at)
        out[at] = _E
        out[at + 1] = _MINUS if point < 1 else _PLUS
        ten = abs(point - 1)
        if ten >= 100:
            out[at + 2] = _ZERO + ten // 100
            at += 1
        out[at + 2], out[at + 3] = _ZERO + ten // 10 % 10, _ZERO + ten % 10
        return at + 4
    if point <= 0:
        out[at], out[at + 1] = _ZERO, _DOT
        at += 2
        for _ in range(-point):
            out[at] = _ZERO
            at += 1
        return _put(digits, n, 0, out, at)
    at = _put(digits, n, min(point, n), out, at)
    if point >= n:
        for _ in range(point - n):
            out[at] = _ZERO
            at += 1
        out[at], out[at + 1] = _DOT, _ZERO
        at += 2
    return at


@compiled
def _put(digits: Any, n: int, point: int, out: Any, at: int) -> int:
    """Write n digits with a point after some of them, if any is left behind it. Returns where they end."""
    inside = 0 < point < n
    end = at + n + inside
    to = end - 1
    for k in range(n - 1, -1, -1):
        out[to] = _ZERO + np.int64(digits % _10)
        digits //= _10
        to -= 1
        if inside and k == point:
            out[to] = _DOT
            to -= 1
    return end
