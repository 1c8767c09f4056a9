"""Sum of e^{mean of f} over all non-empty subsets, with derivatives: the normaliser of pmop-exact.

Subsets of m documents sum to the elementary symmetric polynomial e_m(z), z_i = e^{f_i/m}, so Z = Σ_m e_m(e^{f/m}). For
any t, with p_i = tz_i/(1 + tz_i),

    e_m = Π_i (1 + tz_i) · t^{−m} · P(m of n independent events of probabilities p_i happen)

and if Σ p_i = m that probability is large, about 1/√(2πV), V = Σ p_i(1 − p_i). It is the mean of the characteristic
function over M points of the circle, but for P(m ± M, m ± 2M, … happen), which Bernstein's inequality bounds. The
characteristic function falls along the half circle like e^{−Vθ²/2}, so about ten points count. Sizes whose bound is far
below Z are left out: e_m is at most C(n, m)·e^{mean of the m largest f}, and at most the product in front of P.
All that is left out or aliased is below 1e−12 of Z.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.jit import sorting as ranking
from podium.jit.compiled import compiled, outlined
from podium.kernels.blocks import bounds

_LEFT_OUT = 32.0  # sizes below e^−32 = 1e−14 of Z/n are left out
_ALIASED = 31.0  # the same for aliased terms, relative to P ≥ 1/(n + 1)
_NEAR = 0.02  # tolerance of Σ p_i = m; any t is correct, this one is fast
_FADED = 1e-17  # the rest of the circle is negligible


@compiled
def log_sum(f: Array, first: Array, second: Array) -> float:
    """log Z; fills `first` with E[a_i] and `second` with E[a_i²], where a_i = 1/|S| if i ∈ S, else 0.

    The first is ∂log Z/∂f_i, and E[a²] − E[a]² is the second derivative.
    """
    n = len(f)
    sizes = np.empty(n + 1)
    log_sizes(f, sizes, first, second)
    high, total = -np.inf, 0.0
    for m in range(1, n + 1):
        high = max(high, sizes[m])
    for m in range(1, n + 1):
        total += math.exp(sizes[m] - high)
    return high + math.log(total)


@outlined("void(float64[::1], float64[::1], float64[::1], float64[::1])")
def log_sizes(f: Array, sizes: Array, first: Array, second: Array) -> None:
    """Fill `sizes[m]` with log e_m, −∞ if left out, and the moments of `log_sum` unless they are empty."""
    n, middle = len(f), _mean(f)
    centred, p = np.empty(n), np.empty(n)
    for i in range(n):
        centred[i] = f[i] - middle
    _scale(first, second, 0.0)
    floor = _bounds(centred, sizes) - _LEFT_OUT - math.log(n)
    top, drift = -np.inf, 0.0  # moments are kept over e^top
    for m in range(1, n + 1):
        if sizes[m] < floor:
            sizes[m] = -np.inf
            continue
        front = 0.0  # of all documents, the mean being 0
        if m < n:
            odds = math.log(m / (n - m))
            tau = _saddle(centred, m, odds + drift, p)
            front, drift = _front(centred, m, tau, p), tau - odds
        if front < floor:
            sizes[m] = -np.inf
            continue
        higher = max(top, front)
        if higher > top:
            _scale(first, second, math.exp(top - higher))
            top = higher
        if m < n:
            sizes[m] = front + math.log(_inclusions(p, m, math.exp(front - top), first, second))
        else:
            sizes[m] = front
            _add_all(math.exp(front - top) / n, n, first, second)
        floor = max(floor, sizes[m] - _LEFT_OUT - math.log(n))
    _finish(sizes, middle, top, first, second)


@compiled
def probabilities(f: Array, m: int) -> Any:
    """p_i with Σ p_i near m < n: given that m such events happen, their set S has P ∝ e^{mean of f over S}."""
    p, centred, middle = np.empty(len(f)), np.empty(len(f)), _mean(f)
    for i in range(len(f)):
        centred[i] = f[i] - middle
    _saddle(centred, m, math.log(m / (len(f) - m)), p)
    return p


@compiled
def _mean(values: Array) -> float:
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


@compiled
def _bounds(f: Array, sizes: Array) -> Any:
    """Fill `sizes[m]` with log C(n, m) + mean of the m largest f; returns a lower bound of log Z, for f of mean 0."""
    n = len(f)
    falling, total = np.empty(n), 0.0
    ranking.sort_descending(f, falling)
    for m in range(1, n + 1):
        total += falling[m - 1]
        sizes[m] = math.lgamma(n + 1.0) - math.lgamma(m + 1.0) - math.lgamma(n - m + 1.0) + total / m
    return max(falling[0], n * math.log(2.0) + math.log1p(-(2.0 ** (-n))))  # the largest alone; e^mean ≥ 1 on average


@compiled
def _saddle(f: Array, m: int, guess: float, p: Array) -> Any:
    """τ = log t with Σ p_i near m, p_i = 1/(1 + e^{−τ − f_i/m}), by Newton steps within a bracket; fills p."""
    n = len(f)
    odds, (smallest, largest) = math.log(m / (n - m)), bounds(f)
    low, high = odds - largest / m, odds - smallest / m
    tau = min(max(guess, low), high)
    for _ in range(200):
        total, spread = 0.0, 0.0
        for i in range(n):
            p[i] = 1.0 / (1.0 + math.exp(min(-tau - f[i] / m, 700.0)))
            total += p[i]
            spread += p[i] * (1.0 - p[i])
        if abs(total - m) <= _NEAR or high - low <= 1e-12 * (abs(low) + abs(high)):
            break
        if total > m:
            high = tau
        else:
            low = tau
        tau -= (total - m) / max(spread, 1e-300)
        if not low < tau < high:
            tau = 0.5 * (low + high)
    return tau


@compiled
def _front(f: Array, m: int, tau: float, p: Array) -> Any:
    """log(Π(1 + tz_i)·t^{−m}), which bounds log e_m; 1 + tz_i = 1/(1 − p_i) = tz_i/p_i."""
    value, product = -m * tau, 1.0
    for i in range(len(f)):
        value += max(tau + f[i] / m, 0.0)
        product *= max(p[i], 1.0 - p[i])  # one logarithm for many factors
        if product < 1e-200:
            value -= math.log(product)
            product = 1.0
    return value - math.log(product)


@compiled
def _inclusions(p: Array, m: int, weight: float, first: Array, second: Array) -> float:
    """P(m events happen); adds weight·P(m happen, i among them)/m to `first`, and over m² to `second`.

    P(m) = (1/M) Σ_θ Re G(θ), G = e^{−imθ} Π q_j, q_j = 1 − p_j + p_j e^{iθ}; with i among them, G·p_i e^{iθ}/q_i. M is
    odd, so that no q is 0.
    """
    points, chance = _points(p, m), 0.0
    for k in range(points // 2 + 1):
        theta = 2.0 * math.pi * k / points
        c, s = math.cos(theta), math.sin(theta)
        re, im = math.cos(m * theta), -math.sin(m * theta)
        for x in p:
            a, b = 1.0 - x + x * c, x * s
            re, im = re * a - im * b, re * b + im * a
        if abs(re) + abs(im) < _FADED:
            break  # |G| falls along the half circle
        share = (1.0 if k == 0 else 2.0) / points
        chance += share * re
        once, twice = weight * share / m, weight * share / m / m
        u, v = re * c - im * s, re * s + im * c
        for i in range(len(first)):
            x = p[i]
            a, b = 1.0 - x + x * c, x * s
            inside = x * (u * a + v * b) / (a * a + b * b)
            first[i] += once * inside
            second[i] += twice * inside
    return chance


@compiled
def _points(p: Array, m: int) -> int:
    """Odd M that is large enough for P(m ± M, m ± 2M, …) to be negligible, or 0."""
    n, spread = len(p), 0.0
    for x in p:
        spread += x * (1.0 - x)
    wanted = _ALIASED + math.log(2.0 * (n + 1.0))  # lower bound of M²/(2V + 2M/3)
    enough = wanted / 3.0 + math.sqrt(wanted * wanted / 9.0 + 2.0 * wanted * spread) + 1.0
    return int(min(enough, max(m, n - m))) // 2 * 2 + 3


@compiled
def _scale(first: Array, second: Array, factor: float) -> None:
    for i in range(len(first)):
        first[i] = first[i] * factor if factor > 0.0 else 0.0
        second[i] = second[i] * factor if factor > 0.0 else 0.0


@compiled
def _add_all(weight: float, n: int, first: Array, second: Array) -> None:
    for i in range(len(first)):
        first[i] += weight
        second[i] += weight / n


@compiled
def _finish(sizes: Array, middle: float, top: float, first: Array, second: Array) -> None:
    """Divide the moments by Z, and add the mean of f to the sizes."""
    total = 0.0
    for m in range(1, len(sizes)):
        total += math.exp(sizes[m] - top)
        sizes[m] += middle
    _scale(first, second, 1.0 / total)
