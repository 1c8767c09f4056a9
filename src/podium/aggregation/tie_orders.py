"""Plackett–Luce with ties as evidence of equality: the mean log-likelihood over all orders of the tied documents.

    mean over orders of Σ_places log X = Σ_{r=1}^{k} mean over subsets R of size r of log X_R,   X_R = Λ + Σ_{b∈R} φ_b

for k tied documents before a rest of worth Λ: a tie of two counts as half a win for each. With log x = log x₀ + ∫
(e^{−x₀t} − e^{−xt})/t dt, the mean over subsets is that of e^{−t·Σ_R φ}: symmetric polynomials of y = e^{−φt}, divided
by the number of subsets. They grow one document at a time, a_r ← ((m − r)·a_r + r·y·a_{r−1})/m; derivatives are the
same backwards.
"""

from __future__ import annotations

import math

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled

ABSENT = np.iinfo(np.int64).max
"""Rank of documents that are missing from a list, and come after it in an unknown order."""
MOST_TIED = 100
"""The largest tie whose orders are averaged, which costs the square of its size."""


@compiled
def mean_order(
    group: Ints, phi: Array, rest: float, w: float, gradient: Array, curvature: Array
) -> tuple[float, float, float]:
    """The mean of Σ log X over orders, and the sums of the means of 1/X and 1/X²; takes derivatives off `gradient`.

    Integrates over u = log(x₀t) by the trapezoid rule, whose error falls like e^{−π²/step}.
    """
    k = len(group)
    whole, least = rest, np.inf
    for b in group:
        whole += phi[b]
        least = min(least, phi[b])
    right = math.log(_FADED * whole / (rest + least))
    value, c1, c2 = k * math.log(whole), 0.0, 0.0
    means, y, pull = np.zeros((k + 1, k + 1)), np.empty(k), np.empty(k)
    first, second = np.zeros(k), np.zeros(k)
    for node in range(int((right + _LEFT) / _STEP) + 1):
        u = node * _STEP - _LEFT
        t = math.exp(u) / whole
        below = math.exp(-rest * t)
        for m in range(k):
            y[m] = math.exp(-phi[group[m]] * t)
        total = below * _grow(y, means, pull)
        value += _STEP * (k * math.exp(-whole * t) - total)
        c1 += _STEP * t * total
        c2 += _STEP * t * t * total
        for m in range(k):
            x = below * pull[m] * phi[group[m]] * t
            first[m] += _STEP * x
            second[m] += _STEP * x * phi[group[m]] * t
    for m in range(k):
        gradient[group[m]] -= w * first[m]
        curvature[group[m]] += w * (first[m] - second[m])
    return value, c1, c2


@compiled
def _grow(y: Array, means: Array, pull: Array) -> float:
    """Σ_{r ≥ 1} of the mean of Π_{b∈R} y_b over subsets of size r; `pull` gets y_b times its derivatives by y_b."""
    k = len(y)
    for m in range(k + 1):
        means[m, 0] = 1.0
        for r in range(1, m + 1):
            over = ((m - r) * means[m - 1, r] if r < m else 0.0) + r * y[m - 1] * means[m - 1, r - 1]
            means[m, r] = over / m
    total, back = 0.0, np.zeros(k + 1)
    for r in range(1, k + 1):
        total += means[k, r]
        back[r] = 1.0
    for m in range(k, 0, -1):
        slope = 0.0
        for r in range(m + 1):  # upwards, so that back[r + 1] is still that of m
            slope += back[r] * r * means[m - 1, r - 1] / m if r else 0.0
            above = back[r + 1] * (r + 1) * y[m - 1] if r < m else 0.0
            back[r] = (back[r] * (m - r) + above) / m
        pull[m - 1] = slope * y[m - 1]
    return total


_STEP = 0.25
_LEFT = 38.0
_FADED = 40.0
