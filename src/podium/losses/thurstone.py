"""Thurstone's model (1927, case V) as a loss: each grade beats all lower ones, scores having normal noise.

>>> from podium.losses import Thurstone
>>> round(Thurstone()([1.0, 0.0], [1, 0]).value, 4)  # −log Φ(1/√2)
0.2741
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium import distributions
from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.kernels.blocks import bounds, by_grade, clear, take
from podium.kernels.normal import minus_log_cdf
from podium.losses.base import Loss

_STEP = 0.7  # times 1/√curvature at the start: the trapezoid rule is accurate to 1e−11
_NEVER = 1e-18  # negligible share of the integral
_BELOW = 0.7  # nats below the peak where the sum starts


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """−Σ_k log P(the k highest grades beat all lower ones), S_i ~ N(s_i, σ²)."""
    clear(gradient, curvature)
    order, ends = by_grade(labels)
    n, sigma, value, end = len(scores), params[0, 0], 0.0, 0
    s, slope, bend = take(scores, order), np.zeros(n), np.zeros(n)
    for p in range(n):
        s[p] /= sigma
    while end < n and ends[end] < n:
        end = ends[end]
        value += _one_cut(s, end, slope, bend)
    for p in range(n):
        gradient[order[p]], curvature[order[p]] = slope[p] / sigma, bend[p] / (sigma * sigma)
    return value


@compiled
def _one_cut(s: Array, m: int, slope: Array, bend: Array) -> Any:
    """−log P(min of the first m > max of the rest); adds its first and second derivatives.

    With A(x) = Π_{i≤m} Φ(s_i − x), C(x) = Π_{j>m} Φ(x − s_j) and λ = φ/Φ, documents i and j push each other apart with

        f_ij = ∫ A C λ_i λ_j dx / P,   P = ∫ A C Σ_j λ_j dx,

    and −∂² log P/∂s_i² = E[z_i λ_i] + E[λ_i]² with z_i = s_i − x and the mean over A C Σ_j λ_j, likewise for j.
    """
    n = len(s)
    peak = _peak(s, m)
    top = _log_both(s, m, peak)[0]
    start = _left_of(s, m, peak, top)
    step = _STEP / math.sqrt(1.0 + _log_both(s, m, start)[2])
    force, moment, lam, total = np.zeros(n), np.zeros(n), np.empty((2, n)), 0.0
    for side in (-1, 1):
        k, share = 0 if side < 0 else 1, 1.0
        while share > _NEVER * total:
            share = _add_node(s, m, start + side * k * step, top, lam, force, moment)
            total += share
            k += 1
    for p in range(n):
        mean = force[p] / total
        slope[p] += -mean if p < m else mean
        bend[p] += max(moment[p] / total + mean * mean, 0.0)
    return max(-top - math.log(total * step), 0.0)


@compiled
def _log_both(s: Array, m: int, x: float) -> Any:
    """log A(x)C(x), its slope, and minus its second derivative: concave in x."""
    value, slope, bend = 0.0, 0.0, 0.0
    for p in range(len(s)):
        sign = -1.0 if p < m else 1.0
        v, lam, bent = minus_log_cdf(sign * (x - s[p]))
        value -= v
        slope += sign * lam
        bend += bent
    return value, slope, bend


@compiled
def _peak(s: Array, m: int) -> Any:
    """Approximate maximum of A(x)C(x), by bisection on the slope of its logarithm."""
    low, high = bounds(s)
    low, high = low - 9.0, high + 9.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        if not high - low > 0.02 / math.sqrt(len(s)):
            break
        if _log_both(s, m, middle)[1] > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@compiled
def _left_of(s: Array, m: int, peak: float, top: float) -> Any:
    """Point on the rising side, about 0.7 nats below the peak: if the peak is a plateau, C rises here."""
    high, gap = peak, 0.5
    while _log_both(s, m, high - gap)[0] > top - _BELOW:
        gap *= 2.0
    low = high - gap
    for _ in range(100):
        middle = 0.5 * (low + high)
        lost = top - _log_both(s, m, middle)[0]
        if not (lost > 1.5 * _BELOW or lost < 0.5 * _BELOW):
            return middle
        if lost > _BELOW:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@compiled
def _add_node(s: Array, m: int, x: float, top: float, lam: Array, force: Array, moment: Array) -> Any:
    """Add A C λ_i Σ_j λ_j, and z_i times that, at x; returns A C Σ_j λ_j, all relative to e^top."""
    value, won, lost = -top, 0.0, 0.0
    for p in range(len(s)):
        z = s[p] - x if p < m else x - s[p]
        v, lam[0, p], _ = minus_log_cdf(z)
        lam[1, p] = z
        value -= v
        if p < m:
            won += lam[0, p]
        else:
            lost += lam[0, p]
    weight = math.exp(value)
    for p in range(len(s)):
        pull = weight * (lost if p < m else won) * lam[0, p]
        force[p] += pull
        moment[p] += pull * lam[1, p]
    return weight * lost


@register
class Thurstone(Loss):
    """Negative log-likelihood of the order of grades, if scores have normal noise.

    Formula: L = −Σ_k log P(min_{i∈U_k} S_i > max_{j∉U_k} S_j), S_i ~ N(s_i, σ²), where U_k are the documents of the k
        highest grades, for every k but the last; each a one-dimensional integral. For two grades this is the
        likelihood of the grades under Thurstone's case V. For more it is a composite likelihood: each cut between
        grades has its probability under that model, in which noise is drawn once, so the true scores are its optimum,
        with their scale (Lindsay, 1988). The likelihood of all cuts together would be a nested integral; the product
        over grades of P(B_k beats the rest), with noise drawn for each grade, has too small a scale.
    Ties: the order within a grade is left open. A query whose grades are all equal contributes 0.
    Cost: O(n) per node of the integral and cut, about 100 nodes.
    Use it for: graded labels, as a likelihood with lighter tails than ListMLE's; odds (probabilities of
        ranks) of Thurstone's distribution. σ is the scale of scores: with a scorer that has its own scale, it only
        changes the effect of the penalty.
    Reference: Thurstone, A law of comparative judgment, Psychological Review 1927; Lindsay, Composite likelihood
        methods, Contemporary Mathematics 1988.
    """

    sigma: float = param(default=1.0, above=0, search=(0.1, 3.0, "log"))
    """Standard deviation of each score."""
    convex = True
    grades = staticmethod(over_grades)

    def rank_distribution(self) -> tuple[distributions.Thurstone, float]:
        return distributions.Thurstone(sigma=self.sigma), 1.0
