"""Mallows' model (1957) as a loss: grades are likely if few pairs contradict the order of scores.

>>> from podium.losses import Mallows
>>> round(Mallows()([20.0, 0.0], [1, 0]).value, 4)  # log(1 + e^−1): no pair is contradicted
0.3133
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np

from podium import distributions
from podium.base.arrays import Array
from podium.base.registry import register
from podium.distributions.mallows import normalisers
from podium.jit.compiled import compiled
from podium.kernels.blocks import by_grade_and_score, count_edges, take
from podium.losses.pairs import PairwiseLoss, scale

LOG_THETA = 1
"""Index of log θ in params, after `normalise`."""


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """θ Σ σ(s_j − s_i) over y_i > y_j, plus log ψ_n(θ) − Σ log ψ_m(θ) over grades of m documents; 0 for one."""
    order, ends = by_grade_and_score(scores, labels)
    n, theta, s, first = len(scores), math.exp(params[0, LOG_THETA]), take(scores, order), 0
    slope, bend, distance = np.zeros(n), np.zeros(n), 0.0
    for p in range(n):
        distance += _row(s[p], s[ends[p] :], slope[ends[p] :], bend[ends[p] :], slope[p : p + 1], bend[p : p + 1])
    logs, means = normalisers(n, theta)
    value, expected = theta * distance + logs[n], means[n]
    while first < n:
        size = ends[first] - first
        value, expected, first = value - logs[size], expected - means[size], ends[first]
    params[1, LOG_THETA] = theta * (distance - expected)
    edges = count_edges(ends)
    for p in range(n):
        gradient[order[p]], curvature[order[p]] = theta * slope[p], theta * bend[p]
    if params[0, 0] != 0.0 and edges > 0:
        params[1, LOG_THETA] /= edges
    return scale(value, edges, gradient, curvature, params) if edges > 0 else 0.0


@compiled
def _row(s_i: float, others: Array, slope: Array, bend: Array, slope_i: Array, bend_i: Array) -> Any:
    """Σ_j σ(s_j − s_i) over the documents j that i should beat; adds first derivatives, and p(1 − p) as second ones."""
    total, pull = 0.0, 0.0
    for j in range(len(others)):
        e = math.exp(-abs(others[j] - s_i))
        p = (1.0 if others[j] > s_i else e) / (1.0 + e)
        force = e / ((1.0 + e) * (1.0 + e))
        total += p
        pull += force
        slope[j] += force
        bend[j] += force
    slope_i[0] -= pull
    bend_i[0] += pull
    return total


@register
class Mallows(PairwiseLoss):
    """Expected negative log-likelihood of the grades under Mallows' model around an uncertain centre.

    Formula: L = θ Σ_{y_i > y_j} σ(s_j − s_i) + log ψ_n(θ) − Σ_g log ψ_{m_g}(θ) over grades of m_g documents,
        ψ_n(θ) = Π_{i≤n} (1 − e^{−iθ})/(1 − e^{−θ}). Mallows' likelihood of the grades around a centre is
        −log P = θ·(pairs that the centre orders against the grades) + log ψ_n(θ) − Σ_g log ψ_{m_g}(θ). With the order
        of scores as the centre, it is piecewise constant, without a gradient; here the centre is drawn from
        Plackett–Luce with these scores, whose pairs have P(j before i) = σ(s_j − s_i), and L is the exact mean of
        −log P. If scores are far apart, that is −log P around their order. θ = e^{log_theta} is learned.
    Ties: the order within a grade is left open. A query whose grades are all equal contributes 0.
    Cost: O(n²) per query: one exponential per pair.
    Use it for: Kendall's distance as the objective, bounded per pair, so that very wrong pairs have no gradient; not
        convex. θ tells how well the order of scores explains the grades. `normalise` divides by the number of pairs.
    Curvature: θ Σ p(1 − p), a bound, since the second derivative of a sigmoid has both signs.
    Reference: Mallows, Non-null ranking models, Biometrika 1957; with ties: Fligner & Verducci, Distance based ranking
        models, JRSS B 1986.
    """

    log_theta: float = 0.0
    """Start of ln θ, which is learned: how well the order of scores explains the grades."""
    learned: ClassVar[tuple[str, ...]] = ("log_theta",)
    grades = staticmethod(over_grades)
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"

    def rank_distribution(self) -> tuple[distributions.Mallows, float]:
        return distributions.Mallows(theta=math.exp(self.log_theta)), 1.0
