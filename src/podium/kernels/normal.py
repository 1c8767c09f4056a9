"""Normal distribution: its cdf and −log cdf, accurate in both tails."""

from __future__ import annotations

import math
from typing import Any

from podium.base.arrays import Array
from podium.jit.compiled import compiled

_K = 3.75  # of `cdfs`
_SQRT_HALF = math.sqrt(0.5)
_NO_TAIL = 100.0  # e^{−x²} is 0
_FAR = -20.0  # below, an asymptotic series, whose next term is less than 1e−13


@compiled
def minus_log_cdf(z: float) -> Any:
    """−log Φ(z), minus its slope λ = φ(z)/Φ(z), and its second derivative λ(λ + z), between 0 and 1."""
    if z < _FAR:  # Φ(z) = φ(z)/|z| · (1 − 1/z² + 3/z⁴ − …)
        x = 1.0 / (z * z)
        series = 1.0 - x * (1.0 - x * (3.0 - x * (15.0 - x * (105.0 - x * (945.0 - x * 10395.0)))))
        slope = -z / series
        value = 0.5 * z * z + 0.5 * math.log(2.0 * math.pi) + math.log(-z / series)
        return value, slope, 1.0 - x * (1.0 - x * (6.0 - x * 50.0))
    if z > 0.0:
        above = 0.5 * math.erfc(z * math.sqrt(0.5))
        value, cdf = -math.log1p(-above), 1.0 - above
    else:
        cdf = 0.5 * math.erfc(-z * math.sqrt(0.5))
        value = -math.log(cdf)
    slope = math.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * cdf)
    return value, slope, slope * (slope + z)


@compiled
def cdfs(z: Array, bell: Array, out: Array) -> None:
    """Fill `out` with Φ(z), to 1e-15 of the smaller of Φ(z) and Φ(−z), given e^{−z²/2}; vectorised.

    With x = |z|/√2, (1 + 2x)·e^{x²}·erfc(x) is smooth in t = (x − K)/(x + K), between −1 and 1: here half of it
    is a polynomial in t (interpolated at Chebyshev's points).
    Reference: Shepherd & Laframboise, Chebyshev approximation of (1 + 2x)exp(x²)erfc x in 0 ≤ x < ∞, 1981.
    """
    for i in range(len(out)):
        x = min(abs(z[i]) * _SQRT_HALF, _NO_TAIL)
        r = 1.0 / ((x + _K) * (1.0 + 2.0 * x))
        t = (x - _K) * (1.0 + 2.0 * x) * r
        series = 0.6187563154189137 + t * (-0.07012029929277261 + t * (0.0017927077427331533
            + t * (0.041138369244995796 + t * (-0.054401965070969574 + t * (0.04615216058217808
            + t * (-0.029346699292245922 + t * (0.014181138685685022 + t * (-0.004873289810407545
            + t * (0.0008778130846138361 + t * (0.00014685704388613842 + t * (-0.00014507768281973564
            + t * (2.582368561935919e-05 + t * (1.1193796362673845e-05 + t * (-5.719807630037975e-06
            + t * (-4.896487645499115e-07 + t * (8.719288705679591e-07 + t * (-2.5408455905849093e-08
            + t * (-1.2498269018702621e-07 + t * (9.389250578234398e-09 + t * (1.6282495418992565e-08
            + t * (-9.763950814874185e-10 + t * -1.3646970666266928e-09)))))))))))))))))))))  # fmt: skip
        tail = bell[i] * series * (x + _K) * r
        out[i] = 1.0 - tail if z[i] > 0.0 else tail
