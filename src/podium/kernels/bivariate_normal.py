"""Bivariate normal distribution with correlation ρ in [0, 1): −log Φ₂(u, v; ρ), accurate in all tails.

    Φ₂(u, v; ρ) = Φ(u)Φ(v) + (1/2π) ∫_0^{asin ρ} exp(−(u² − 2uv sin θ + v²)/(2 cos² θ)) dθ

For ρ ≥ 0 all terms are positive, so they are added as logarithms without loss.
Reference: Plackett, A reduction formula for normal multivariate integrals, Biometrika 1954.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.jit.compiled import compiled
from podium.kernels.normal import minus_log_cdf

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_NEAR = 30.0
_HALVINGS = 20
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


@compiled
def _log_integral(u: float, v: float, rho: float) -> float:
    """Logarithm of the integral. Far out, panels halve towards the narrow peak at sin θ = u/v or v/u."""
    end, largest = math.asin(rho), max(abs(u), abs(v))
    if largest <= _NEAR:
        return _log_panel(u, v, 0.0, end) - math.log(2.0 * math.pi)
    ratio = min(abs(u), abs(v)) / largest if u * v > 0.0 else 0.0
    peak, result = math.asin(min(ratio, rho)), -np.inf
    for side in (-peak, end - peak):
        far = 1.0
        for k in range(_HALVINGS + 1):
            near = 0.5 * far if k < _HALVINGS else 0.0
            a, b = peak + side * near, peak + side * far
            part = _log_panel(u, v, min(a, b), max(a, b))
            top = max(part, result)
            if top > -np.inf:
                result = top + math.log(math.exp(part - top) + math.exp(result - top))
            far = near
    return result - math.log(2.0 * math.pi)


@compiled
def _log_panel(u: float, v: float, low: float, high: float) -> float:
    """Logarithm of the integral from `low` to `high`, without 1/2π."""
    half, top = 0.5 * (high - low), -np.inf
    if half <= 0.0:
        return -np.inf
    powers = np.empty(len(_POINTS))
    for k in range(len(_POINTS)):
        sine = math.sin(low + half * (1.0 + _POINTS[k]))
        powers[k] = -0.5 * (u * u - 2.0 * u * v * sine + v * v) / (1.0 - sine * sine)
        top = max(top, powers[k])
    total = 0.0
    for k in range(len(_POINTS)):
        total += _WEIGHTS[k] * math.exp(powers[k] - top)
    return top + math.log(total * half)


@compiled
def minus_log_cdf_of_two(u: float, v: float, rho: float) -> Any:
    """−log Φ₂(u, v; ρ), and minus its derivatives in u and in v: φ(u)Φ((v − ρu)/√(1 − ρ²))/Φ₂, and the same turned."""
    a, slope_u, _ = minus_log_cdf(u)
    b, slope_v, _ = minus_log_cdf(v)
    if rho == 0.0:
        return a + b, slope_u, slope_v
    joint = _log_integral(u, v, rho) + a + b  # log of the integral over Φ(u)Φ(v)
    value = a + b - (math.log1p(math.exp(joint)) if joint < 0.0 else joint + math.log1p(math.exp(-joint)))
    scale = 1.0 / math.sqrt(1.0 - rho * rho)
    in_u = math.exp(value - 0.5 * u * u - _HALF_LOG_2PI - minus_log_cdf((v - rho * u) * scale)[0])
    in_v = math.exp(value - 0.5 * v * v - _HALF_LOG_2PI - minus_log_cdf((u - rho * v) * scale)[0])
    return value, in_u, in_v
