"""The normal distribution in the domain of logarithms, right in both tails."""

from __future__ import annotations

import math
from typing import Any

from podium.compiled import compiled

_FAR = -20.0  # below, an asymptotic series whose next term is under 1e−13


@compiled
def minus_log_cdf(z: Any) -> Any:
    """−log Φ(z), minus its slope λ = φ(z)/Φ(z), and its second derivative λ(λ + z), which lies between 0 and 1."""
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
