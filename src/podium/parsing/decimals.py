"""Parse decimal numbers in compiled code: digits to an integer, and decimal text to the nearest double.

Functions take addresses and look ahead, as those of `podium.parsing.words` do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Words
from podium.jit.compiled import compiled, inlined
from podium.jit.memory import bits_of, bytes_before, double_of, high_product, leading_zeros, word
from podium.parsing.words import byte

ZERO, DOT, PLUS, MINUS, E = (ord(c) for c in "0.+-e")
_ZEROS, _SIXES, _TOPS, _BLANKS = (np.uint64(b * 0x0101010101010101) for b in (0x30, 0x76, 0x80, 0x21))
_0, _1, _3, _7, _8, _10, _15, _16, _32, _52, _63, _64 = map(np.uint64, (0, 1, 3, 7, 8, 10, 15, 16, 32, 52, 63, 64))
_PAIRS, _HIGH, _LOW = np.uint64(0x000000FF000000FF), np.uint64(100 + (1000000 << 32)), np.uint64(1 + (10000 << 32))
_DOTS, _ONES = np.uint64(DOT * 0x0101010101010101), np.uint64(0x0101010101010101)
_WHOLE = np.uint64(2**53)
_TENS = np.array([10**k for k in range(9)], np.uint64)
_POWERS = np.array([float(f"1e{k}") for k in range(23)])  # exact
_MOST_DIGITS = 19  # that fit into 64 bits


def _fives(most: int) -> tuple[Words, Words]:
    """The first 128 bits of 5^q for q from −most to most, rounded down, from −27 to −1 up: high and low halves."""
    powers = []
    for q in range(-most, most + 1):
        power = 5 ** abs(q)
        if q < 0:
            size = power.bit_length()
            power = 2 ** (127 + size if q >= -27 else 128 + 2 * size) // power + 1
        shift = power.bit_length() - 128
        powers.append(power >> shift if shift > 0 else power << -shift)
    halves = [[n >> 64 for n in powers], [n & (2**64 - 1) for n in powers]]
    return np.array(halves[0], np.uint64), np.array(halves[1], np.uint64)


MOST_POWER = 300
FIVES_HIGH, FIVES_LOW = _fives(MOST_POWER)


@compiled
def is_digit(c: int) -> bool:
    return ZERO <= c <= ZERO + 9


@compiled
def digits(w: np.uint64) -> tuple[Any, Any]:
    """The whole number at the front of eight bytes, and how many digits it has.

    It has no branch per digit, since processors cannot predict the length of a number (Lemire, Number parsing at
    a gigabyte per second, 2021).
    """
    t = w ^ _ZEROS  # digits are 0 to 9 now
    other = ((t + _SIXES) | t) & _TOPS  # the top bit of bytes that are no digits; exact up to the first of them
    n = bytes_before(other)
    if n == 0:
        return 0, 0
    t <<= _64 - n * _8  # zeros in front
    t = t * _10 + (t >> _8)  # pairs of digits, then fours and eight
    t = ((t & _PAIRS) * _HIGH + ((t >> _16) & _PAIRS) * _LOW) >> _32
    return np.int64(t), np.int64(n)


@inlined
def nine_bytes(at: Any) -> tuple[Any, Any]:
    """Read a decimal of at most 8 digits and 9 bytes: its value, and where it ends (−1: it has another form).

    It ends at a byte below 33 or after 9 bytes; the caller must check that the token ends there too. The end is
    computed before the value, so that the processor can work on several numbers at a time.
    """
    later = word(at + 1)
    past = at + 1 + np.int64(bytes_before((later - _BLANKS) & ~later & _TOPS))
    negative = np.uint64(byte(at) == MINUS)
    start = at + np.int64(negative)
    w, size = word(start), np.uint64(past - start)
    dots = w ^ _DOTS
    dots = (dots - _ONES) & ~dots & _TOPS
    point = bytes_before(dots)  # 8: none among the first 8 bytes
    with_point = np.uint64((point < size) & (point < _8))
    n = size - with_point
    front = ((dots & (_0 - dots)) >> _7) - _1  # the bytes before the point; all if there is none
    t = (w & front) | (word(start + 1) & ~front)  # without the point
    t = (t ^ _ZEROS) << ((_64 - n * _8) & _63)  # digits are 0 to 9 now, with zeros in front
    if n - _1 > _7 or ((t + _SIXES) | t) & _TOPS:  # n = 0 or n > 8, or another byte
        past = -1
    t = t * _10 + (t >> _8)  # pairs of digits, then fours and eight
    t = ((t & _PAIRS) * _HIGH + ((t >> _16) & _PAIRS) * _LOW) >> _32
    x = np.float64(np.int64(t)) / _POWERS[(n - point) * with_point & _15]
    return double_of(bits_of(x) ^ negative << _63), past


@compiled
def exponent(at: int) -> tuple[int, int]:
    """Read the whole number after e: its value, and where it ends (−1: there is none)."""
    negative = byte(at) == MINUS
    at += negative or byte(at) == PLUS
    start, n = at, 0
    while is_digit(byte(at)):
        n = min(n * 10 + (byte(at) - ZERO), 100_000)
        at += 1
    return (-n if negative else n), (at if at > start else -1)


@compiled
def decimal(at: int) -> tuple[float, int]:
    """Read a decimal: the nearest double, and where the text ends (−1: no decimal, or left to the slow parser).

    Reference: Clinger, How to read floating point numbers accurately, PLDI 1990.
    """
    negative = byte(at) == MINUS
    at += negative or byte(at) == PLUS
    start = at
    m, at, whole = _digit_run(_0, at)
    power = 0
    if byte(at) == DOT:
        m, at, fraction = _digit_run(m, at + 1)
        power, whole = -fraction, whole + fraction
    if whole == 0:
        return 0.0, -1
    dropped = whole > _MOST_DIGITS
    if dropped:
        m, power, dropped = _long_digits(start)
    if byte(at) | 32 == E:
        more, at = exponent(at + 1)
        power += more
        if at < 0:
            return 0.0, -1
    if m == _0:
        return (-0.0 if negative else 0.0), at
    x: Any = np.float64(m)
    if m <= _WHOLE and -22 <= power <= 22 and not dropped:  # both are exact, so this rounds once (Clinger 1990)
        x = x / _POWERS[-power] if power < 0 else x * _POWERS[power]
    elif power < -MOST_POWER or power > MOST_POWER - _MOST_DIGITS:
        return 0.0, -1
    else:
        x = nearest(m, power)
        if dropped and x != nearest(m + _1, power):
            return 0.0, -1
    return (-x if negative else x), at


@compiled
def _digit_run(m: np.uint64, at: int) -> tuple[Any, int, int]:
    """m with the digits from `at` on appended, where they end, and their number."""
    n = 0
    while True:
        number, k = digits(word(at))
        m = m * _TENS[k] + np.uint64(number)
        at += k
        n += k
        if k < 8:
            return m, at, n


@compiled
def _long_digits(at: int) -> tuple[Any, Any, Any]:
    """First 19 digits of a long decimal after leading zeros, its power of ten, and whether a later digit is not 0."""
    m, power, dots, n, dropped = _0, 0, 0, np.int64(0), False
    while is_digit(byte(at)) or (byte(at) == DOT and dots == 0):
        if byte(at) == DOT:
            dots = 1
        elif n < _MOST_DIGITS:
            m = m * _10 + np.uint64(byte(at) - ZERO)
            n += m > _0
            power -= dots
        else:
            dropped |= byte(at) != ZERO
            power += 1 - dots
        at += 1
    return m, power, dropped


@compiled
def nearest(m: np.uint64, power: int) -> float:
    """The double nearest to m·10^power, m > 0, |power| ≤ 300, from m times the first 128 bits of 5^power.

    Reference: Lemire, Number parsing at a gigabyte per second, Software: Practice and Experience 51 (2021); that the
    128 bits always suffice: Mushtak and Lemire, Fast number parsing without fallback (2023).
    """
    zeros = leading_zeros(m)
    w = m << zeros
    high, low = high_product(w, FIVES_HIGH[power + MOST_POWER]), w * FIVES_HIGH[power + MOST_POWER]
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        more = high_product(w, FIVES_LOW[power + MOST_POWER])
        low += more
        high += np.uint64(low < more)
    top = high >> np.uint64(63)
    shift = top + np.uint64(9)
    mantissa = high >> shift
    binary = ((217706 * power) >> 16) + 63 + np.int64(top) - np.int64(zeros) + 1023
    if low <= _1 and -4 <= power <= 23 and mantissa & _3 == _1 and mantissa << shift == high:
        mantissa &= ~_1  # exactly between two doubles: to the even one
    mantissa = (mantissa + (mantissa & _1)) >> _1
    if mantissa >= _WHOLE:
        mantissa >>= _1
        binary += 1
    return double_of(mantissa & ((_1 << _52) - _1) | np.uint64(binary) << _52)  # type: ignore[no-any-return]
