"""Rows of numbers in JSON, read into a matrix without an object for each number.

What comes out has the bits that a decoder's doubles have as float32. A row that is anything else than numbers and
nulls, or a number whose float32 is in doubt, is not read here: whoever asks then decodes the whole body, and says what
is wrong. Places in the text are unsigned, which spares a look at each whether it counts from the end: that is half of
the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.compiled import compiled

_POWERS = np.array([float(f"1e{k}") for k in range(291)])
_MOST = np.uint64(10**17)
"""Whole numbers below this may have one more digit in 63 bits."""
_TOO_LONG = np.uint64(2**63)
_EXACT, _EXACT_POWER = np.uint64(2**53), 22
"""Whole numbers and powers of ten up to these are exact as doubles, so that their product is rounded once."""
_DOUBT = 2.0**-49
"""More than the relative error of the product of any other two."""
_NOWHERE, _ONE, _FOUR, _TEN = (np.uint64(k) for k in (0, 1, 4, 10))
_OPEN, _CLOSE, _COMMA, _POINT, _MINUS, _PLUS, _ZERO = (np.uint8(ord(c)) for c in "[],.-+0")
_SPACE, _TAB, _LINE, _RETURN, _E, _E_LARGE, _N, _U, _L = (np.uint8(ord(c)) for c in " \t\n\reEnul")


def read_rows(texts: Sequence[Any], width: int) -> NDArray[np.float32] | None:
    """The numbers of lists in JSON, one list a row, NaN for null; None where they cannot be read here."""  # (n, width)
    text = np.frombuffer(bytearray().join([*texts, b"\0"]), np.uint8)
    X = np.empty((len(texts), width), np.float32)
    return X if fill_rows(text, _POWERS, X) else None


@compiled
def fill_rows(text: Any, powers: Any, X: Any) -> Any:
    """Read lists that follow each other into rows; False where one is not a list of as many numbers as X has columns.

    The text ends with a 0 that is no part of it, so that no place behind it is looked at.
    """
    at, width = _NOWHERE, X.shape[1]
    for row in range(X.shape[0]):
        if text[at] != _OPEN or width == 0:
            return False
        for column in range(width):
            at = after_space(text, at + _ONE)
            negative = text[at] == _MINUS
            power: Any = 0
            at += np.uint64(negative)
            first = at
            at, whole = read_digits(text, at, _NOWHERE)
            if at == first:
                if negative or not is_null(text, at):
                    return False
                at, X[row, column] = at + _FOUR, np.nan
            else:
                if text[first] == _ZERO and at > first + _ONE:
                    return False
                if text[at] == _POINT:
                    first = at + _ONE
                    at, whole = read_digits(text, first, whole)
                    power = np.int64(first) - np.int64(at)
                    if power == 0:
                        return False
                elif whole == _NOWHERE and text[at] != _E and text[at] != _E_LARGE:
                    negative = False  # -0 is a whole number to decoders, and whole numbers have no sign at 0
                if text[at] == _E or text[at] == _E_LARGE:
                    at, more = read_exponent(text, at + _ONE)
                    power += more
                if at == _NOWHERE or not put_number(negative, whole, power, powers, X[row], column):
                    return False
            at = after_space(text, at)
            if text[at] != (_COMMA if column + 1 < width else _CLOSE):
                return False
        at += _ONE
    return at + _ONE == np.uint64(len(text))


@compiled
def put_number(negative: bool, whole: Any, power: int, powers: Any, x: Any, column: int) -> Any:
    """Put whole·10^power into a row; False where it is too long or too large, or its float32 is in doubt."""
    if whole == _TOO_LONG or abs(power) >= len(powers):
        return False
    number = np.int64(whole) * (1.0 - 2.0 * negative)
    value = number * powers[np.uint64(power)] if power >= 0 else number / powers[np.uint64(-power)]
    x[column] = value
    if whole > _EXACT or abs(power) > _EXACT_POWER:
        return np.float32(value * (1.0 - _DOUBT)) == np.float32(value * (1.0 + _DOUBT))
    return True


@compiled
def after_space(text: Any, at: Any) -> Any:
    """The next place that is no white space."""
    while text[at] == _SPACE or text[at] == _LINE or text[at] == _RETURN or text[at] == _TAB:
        at += _ONE
    return at


@compiled
def is_null(text: Any, at: Any) -> Any:
    """Whether null stands at a place."""
    return text[at] == _N and text[at + _ONE] == _U and text[at + _ONE + _ONE] == _L and text[at + _FOUR - _ONE] == _L


@compiled
def read_digits(text: Any, at: Any, whole: Any) -> Any:
    """Where the digits from a place on end, and a whole number followed by them, which may be too long."""
    while True:
        digit = np.uint8(text[at] - _ZERO)
        if digit > 9:
            return at, whole
        whole = whole * _TEN + np.uint64(digit) if whole < _MOST else _TOO_LONG
        at += _ONE


@compiled
def read_exponent(text: Any, at: Any) -> Any:
    """Where the exponent at a place ends, and its value; nowhere if there is none."""
    negative = text[at] == _MINUS
    first = at + np.uint64(negative or text[at] == _PLUS)
    at, value = read_digits(text, first, _NOWHERE)
    if at == first or value == _TOO_LONG:
        return _NOWHERE, 0
    return at, -np.int64(value) if negative else np.int64(value)
