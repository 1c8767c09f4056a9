"""Integral for the probability that a group of documents precedes all others in a race, as a kernel for one group.

It is ∫ e^{u − e^u} Π (1 − e^{−x_i}) du, x_i = e^{u + s_i − log Φ}, of `distributions/graded_race.py`, which
computes many groups at once; kernels that need moments of its integrand loop over the nodes themselves.
"""

from __future__ import annotations

import math
from typing import Any

from podium.base.arrays import Array
from podium.jit.compiled import compiled

FADED = 40.0
"""Logarithm of the ratio to its peak below which the integrand is left out."""


@compiled
def trapezoid(s: Array, others: float) -> Any:
    """Start of the trapezoid rule, near the peak; its step; and the logarithm of the integrand there."""
    low, high = 0.0, math.log(len(s) + 1.0)
    while high - low > 0.05:
        middle = 0.5 * (low + high)
        if _slope(s, others, middle) > 0.0:
            low = middle
        else:
            high = middle
    peak = 0.5 * (low + high)
    bend = (_slope(s, others, peak - 0.05) - _slope(s, others, peak + 0.05)) / 0.1
    return peak, min(0.25, 0.6 / math.sqrt(bend)), log_integrand(s, others, peak)


@compiled
def log_integrand(s: Array, others: float, u: float) -> Any:
    """u − e^u + Σ log(1 − e^{−x}), with one logarithm for many factors."""
    total, product = u - math.exp(u), 1.0
    for s_i in s:
        a = u + s_i - others
        if a < -30.0:
            total += a  # 1 − e^{−x} = x
        elif a < 4.0:
            product *= -math.expm1(-math.exp(a))
            if product < 1e-200:
                total += math.log(product)
                product = 1.0
    return total + math.log(product)


@compiled
def _slope(s: Array, others: float, u: float) -> Any:
    """1 − e^u + Σ x/(e^x − 1)."""
    total = 1.0 - math.exp(u)
    for s_i in s:
        a = u + s_i - others
        if a < 5.0:
            x = math.exp(a)
            total += x / math.expm1(x) if x > 0.0 else 1.0
    return total
