"""Paired comparisons with ties (Davidson, 1970): a tie weighs the geometric mean of both documents × a learned ν.

    P(i ≻ j) = φ_i/Z,   P(i ≈ j) = ν√(φ_iφ_j)/Z,   Z = φ_i + φ_j + ν√(φ_iφ_j),   φ = e^s,   ν = e^β

>>> from podium.losses import PairTiesD
>>> round(PairTiesD()([1.0, 1.0], [1, 0]).value, 4)  # ν = 1: −log(1/3)
1.0986
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.distributions import Davidson
from podium.jit.compiled import compiled
from podium.kernels.blocks import bounds, by_grade, clear, filled
from podium.kernels.sums import add_up
from podium.losses.pairs import PairwiseLoss, scale
from podium.losses.ranknet import FAR, take_log


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ log(e^(δ/2) + e^(−δ/2) + ν) over all pairs, minus δ/2 if y_i > y_j, minus β if y_i = y_j.

    The derivative by β: Σ P(i ≈ j) over all pairs, minus 1 for each tied pair.
    """
    beta, n = params[0, 1], len(scores)
    low, high = bounds(scores)
    if high - low + max(beta, 0.0) > FAR or beta < -FAR:
        value, tied = _pair_by_pair(scores, beta, gradient, curvature)
    else:
        value, tied = _by_rows(scores, math.exp(beta), gradient, curvature)
    order, ends = by_grade(labels)
    ties, start = 0, 0
    for p in range(n):
        start = p if p == 0 or ends[p - 1] == p else start
        i, wins = order[p], n - ends[p] - start  # number of lower minus number of higher grades
        value -= 0.5 * wins * (scores[i] - low)
        gradient[i] -= 0.5 * wins
        ties += ends[p] - p - 1
    params[1, 1] = tied - ties
    pairs = n * (n - 1) // 2
    if params[0, 0] != 0.0 and pairs > 0:
        params[1, 1] /= pairs
    return scale(value - beta * ties, pairs, gradient, curvature, params)


@compiled
def _by_rows(scores: Array, nu: float, gradient: Array, curvature: Array) -> Any:
    """Sum over pairs with one exponential per document, h = e^(s/2)."""
    n = len(scores)
    low, high = bounds(scores)
    h, slope, bend, product = np.empty(n), np.zeros(n), np.zeros(n), filled(n, 1.0)
    forces, bends, ties = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        h[i] = math.exp(0.5 * scores[i] - 0.25 * (low + high))
    rows_per_log = max(int(300.0 / (0.5 * (high - low) + math.log1p(nu) + 1.0)) - 1, 1)
    value, tied = 0.0, 0.0
    for i in range(n):
        f, c, t = forces[i + 1 :], bends[i + 1 :], ties[i + 1 :]
        _row(h[i], nu, h[i + 1 :], f, c, t)
        _add(h[i], nu, h[i + 1 :], f, c, slope[i + 1 :], bend[i + 1 :], product[i + 1 :])
        slope[i] += add_up(f)
        bend[i] += add_up(c)
        tied += add_up(t)
        if (i + 1) % rows_per_log == 0:
            value += take_log(product)
    value += take_log(product)
    for i in range(n):
        gradient[i], curvature[i] = slope[i], bend[i]
    return value, tied


@compiled
def _row(h_i: float, nu: float, h: Array, f: Array, c: Array, t: Array) -> None:
    """Compare a document i with all j after it.

    f = (P_i − P_j)/2, c = P_iP_j + P_ij(P_i + P_j)/4, t = P_ij.
    """
    for j in range(len(h)):
        both = h_i * h[j]
        r = 1.0 / (h_i * h_i + h[j] * h[j] + nu * both)
        a, b = h_i * h_i * r, h[j] * h[j] * r
        t[j] = nu * both * r
        f[j] = 0.5 * (a - b)
        c[j] = a * b + 0.25 * t[j] * (a + b)


@compiled
def _add(h_i: float, nu: float, h: Array, f: Array, c: Array, slope: Array, bend: Array, product: Array) -> None:
    """Add derivatives to those of the documents j, and multiply the products by the normaliser of each pair."""
    for j in range(len(h)):
        product[j] *= (h_i * h_i + h[j] * h[j] + nu * (h_i * h[j])) / (h_i * h[j])
    for j in range(len(h)):
        slope[j] -= f[j]
        bend[j] += c[j]


@compiled
def _pair_by_pair(scores: Array, beta: float, gradient: Array, curvature: Array) -> Any:
    """The same for scores that are too far apart for products."""
    clear(gradient, curvature)
    value, tied = 0.0, 0.0
    for i in range(len(scores)):
        for j in range(i):
            half = 0.5 * (scores[i] - scores[j])
            top = max(abs(half), beta)
            a, b, t = math.exp(half - top), math.exp(-half - top), math.exp(beta - top)
            z = a + b + t
            a, b, t = a / z, b / z, t / z
            value += top + math.log(z)
            tied += t
            gradient[i] += 0.5 * (a - b)
            gradient[j] -= 0.5 * (a - b)
            curvature[i] += a * b + 0.25 * t * (a + b)
            curvature[j] += a * b + 0.25 * t * (a + b)
    return value, tied


@register
class PairTiesD(PairwiseLoss):
    """Negative log-likelihood of Davidson's model: Bradley–Terry with ties, whose weight is learned.

    Formula: L = −Σ_{y_i > y_j} log φ_i/Z − Σ_{y_i = y_j} log ν√(φ_iφ_j)/Z, Z = φ_i + φ_j + ν√(φ_iφ_j), φ = e^s,
        ν = e^β. As β falls, strict pairs become RankNet's.
    Ties: modelled; documents of equal grade are compared, and should get equal scores.
    Cost: O(n²) per query, about two nanoseconds per pair.
    Use it for: as pairties-rk; the probability of a tie falls more slowly with the score difference.
    Reference: Davidson, On extending the Bradley–Terry model to accommodate ties in paired comparison experiments,
        JASA 1970; to rank: Truyen, Phung & Venkatesh, Probabilistic models over ordered partitions, SDM 2011.
    """

    beta: float = 0.0
    """Start of ln ν, which is learned: the weight of ties."""
    grades = staticmethod(over_grades)
    learned: ClassVar[tuple[str, ...]] = ("beta",)
    name = "pairties-d"

    @property
    def compares_ties(self) -> bool:
        return True

    def rank_distribution(self) -> tuple[Davidson, float]:
        return Davidson(beta=self.beta), 1.0
