"""The least point of a function of one number between bounds: golden sections, and parabolas where they help.

    >>> round(least_point(lambda x: (x - 2.0) ** 2, 0.0, 5.0, tolerance=1e-6), 6)
    2.0

It is Brent's method of 1973, without derivatives; scipy's `minimize_scalar` takes the same steps, but it takes half a
second to import, which every first training would pay.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_GOLDEN = 0.5 * (3.0 - math.sqrt(5.0))
_ROUNDING = math.sqrt(2.2e-16)


def least_point(f: Callable[[float], float], low: float, high: float, *, tolerance: float) -> float:
    """Where f, which has one valley between `low` and `high`, is least, to the tolerance."""
    best = second = third = low + _GOLDEN * (high - low)  # by value
    f_best = f_second = f_third = f(best)
    move, before = 0.0, 0.0  # the last step and the one before it
    while True:
        middle, least = 0.5 * (low + high), _ROUNDING * abs(best) + tolerance / 3.0
        if abs(best - middle) <= 2.0 * least - 0.5 * (high - low):
            return best
        found = None
        if abs(before) > least:
            found = _parabola(best - second, best - third, f_best - f_second, f_best - f_third)
            shrinks = found is not None and abs(found) < abs(0.5 * before) and low - best < found < high - best
            before, found = move, found if shrinks else None
        if found is None:  # the larger side
            before = (low if best >= middle else high) - best
            move = _GOLDEN * before
        else:
            near = min(best + found - low, high - best - found) < 2.0 * least
            move = found if not near else least if middle >= best else -least
        x = best + (move if abs(move) > least else least if move >= 0.0 else -least)
        f_x = f(x)
        if f_x <= f_best:
            low, high = (best, high) if x >= best else (low, best)
            third, f_third, second, f_second, best, f_best = second, f_second, best, f_best, x, f_x
            continue
        low, high = (x, high) if x < best else (low, x)
        if f_x <= f_second or second == best:
            third, f_third, second, f_second = second, f_second, x, f_x
        elif f_x <= f_third or third in (best, second):
            third, f_third = x, f_x


def _parabola(to_second: float, to_third: float, f_second: float, f_third: float) -> float | None:
    """The step from the best point to the least point of the parabola through the best three; None for a line."""
    r, q = to_second * f_third, to_third * f_second
    bend = 2.0 * (q - r)
    return None if bend == 0.0 else -(to_third * q - to_second * r) / bend
