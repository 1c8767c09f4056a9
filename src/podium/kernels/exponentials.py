"""Vectorised exp, log and tanh of arrays, by polynomials; library functions are not vectorised."""

from __future__ import annotations

import math

import numpy as np

from podium.base.arrays import Array
from podium.jit.compiled import compiled, outlined

_ROUND = 1.5 * 2.0**52  # added to a number, it leaves the nearest whole number in the last bits
_LOG2_E, _LN2_HIGH, _LN2_LOW = 1.0 / math.log(2.0), 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LOWEST, _HIGHEST = -708.0, 709.0  # below is 0 (subnormal numbers); above is infinite
_52, _1023 = np.int64(52), np.int64(1023)
_FRACTION, _ONE, _2_TO_52 = (np.uint64(bits) for bits in (2**52 - 1, 1023 << 52, 1075 << 52))  # bits of 1.0 and 2^52
_SHIFT = np.uint64(52)


@outlined("void(float64[::1], float64, float64, float64[::1])")
def exponentials(values: Array, less: float, scale: float, out: Array) -> None:
    """Fill `out` with e^{scale·(v − less)}, to 2 units in the last place; 0 below e^−708. NaN stays NaN.

    With x = k log 2 + r, |r| ≤ ½ log 2, it is 2^k times the series of e^r, k being added to the bits of the exponent.
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


@compiled
def tanh(values: Array) -> None:
    """Replace x by tanh x, to 5 units in the last place. NaN stays NaN.

    It is m/(m + 2) with m = e^{2x} − 1 = 2^k·q + (2^k − 1), q the series of e^r − 1 as in `exponentials`: k = 0 if x is
    small, so no digits are lost.
    """
    for i in range(len(values)):
        x = abs(values[i])
        x = 40.0 if x > 20.0 else 2.0 * x  # 1 beyond 20, to the last bit
        shifted = x * _LOG2_E + _ROUND
        k = shifted - _ROUND
        r = (x - k * _LN2_HIGH) - k * _LN2_LOW
        q = r + r * r * (1.0 / 2.0 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0
            + r * (1.0 / 5040.0 + r * (1.0 / 40320.0 + r * (1.0 / 362880.0 + r * (1.0 / 3628800.0
            + r * (1.0 / 39916800.0 + r * (1.0 / 479001600.0)))))))))))  # fmt: skip
        power = np.int64((np.float64(shifted).view(np.int64) + _1023) << _52).view(np.float64)
        m = power * q + (power - 1.0)
        values[i] = math.copysign(m / (m + 2.0), values[i])


@compiled
def logarithms(values: Array, out: Array) -> None:
    """Fill `out` with log v of normal numbers v > 0, to 1e−15, relative for v ≥ 1 and absolute below.

    With v = 2^k m, 1 ≤ m < 2, it is k log 2 + 2 artanh(z), z = (m − 1)/(m + 1) ≤ ⅓: a polynomial in z² (interpolated at
    Chebyshev's points).
    """
    for i in range(len(out)):
        bits = np.float64(values[i]).view(np.uint64)
        m = np.uint64((bits & _FRACTION) | _ONE).view(np.float64)
        k = np.uint64((bits >> _SHIFT) | _2_TO_52).view(np.float64) - (2.0**52 + 1023.0)
        z = (m - 1.0) / (m + 1.0)
        x = z * z
        out[i] = k * _LN2_HIGH + (k * _LN2_LOW + z * (2.0 + x * (0.6666666666668257 + x * (0.399999999952876
            + x * (0.2857142911165716 + x * (0.22222190861346283 + x * (0.1818285980047391
            + x * (0.15363676248891633 + x * (0.13591305485579894 + x * (0.09880789048764786
            + x * 0.17780763826113302))))))))))  # fmt: skip
