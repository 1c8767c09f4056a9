"""e^x of many numbers at once: a polynomial, which unlike the library's function fills vector registers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.compiled import compiled, vectorised

_ROUND = 1.5 * 2.0**52  # added to a number, it leaves the nearest whole number in the last bits
_LOG2_E, _LN2_HIGH, _LN2_LOW = 1.0 / math.log(2.0), 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LOWEST, _HIGHEST = -708.0, 709.0  # below, numbers lose digits and count as 0; above, they are infinite
_52 = np.int64(52)


@compiled
def exponentials(values: Any, less: Any, scale: Any, out: Any) -> None:
    """Fill `out` with e^{scale·(v − less)}, to 2 units in the last place; 0 below e^−708. NaN stays NaN.

    With x = k log 2 + r, |r| ≤ ½ log 2, it is 2^k times the series of e^r, whose k goes into the bits of the exponent.
    """
    for i in range(len(out)):
        x = scale * (values[i] - less)
        shifted = x * _LOG2_E + _ROUND
        k = shifted - _ROUND
        r = (x - k * _LN2_HIGH) - k * _LN2_LOW
        series = 1.0 + (r + r * r * (1.0 / 2.0 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0
            + r * (1.0 / 5040.0 + r * (1.0 / 40320.0 + r * (1.0 / 362880.0 + r * (1.0 / 3628800.0
            + r * (1.0 / 39916800.0 + r * (1.0 / 479001600.0))))))))))))  # fmt: skip
        bits = np.float64(series).view(np.int64) + (np.float64(shifted).view(np.int64) << _52)
        e = 0.0 if x < _LOWEST else np.int64(bits).view(np.float64)
        out[i] = np.inf if x > _HIGHEST else e


@vectorised
def add_up(values: Any) -> float:
    """Σ v."""
    total = 0.0
    for v in values:
        total += v
    return total
