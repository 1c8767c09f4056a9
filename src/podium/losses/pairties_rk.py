"""Paired comparisons with ties (Rao & Kupper, 1967): a document wins if it is better by a learned threshold.

    P(i ≻ j) = φ_i/(φ_i + θφ_j),   P(i ≈ j) = (θ² − 1)φ_iφ_j/[(φ_i + θφ_j)(θφ_i + φ_j)],   φ = e^s,   θ = 1 + e^α

With t = log θ, P(i ≻ j) is σ(δ − t) and P(i ≈ j) is (θ² − 1)·σ(δ − t)·σ(−δ − t): a tie is one more logistic term.

>>> from podium.losses import PairTiesRK
>>> round(PairTiesRK()([1.0, 1.0], [1, 0]).value, 4)  # θ = 2: −log(1/3)
1.0986
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.distributions import RaoKupper
from podium.jit.compiled import compiled
from podium.kernels.blocks import bounds, by_grade, clear, filled
from podium.losses.pairs import PairwiseLoss, scale
from podium.losses.ranknet import FAR, row, take_log


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ log(1 + θe^(−(s_i − s_j))) over ordered pairs i ≠ j with y_i ≥ y_j, minus log(θ² − 1) for each tied pair.

    The derivative by α: σ(α)·Σ p with p = θφ_j/(φ_i + θφ_j), minus 1 + e^α/(2 + e^α) for each tied pair.
    """
    alpha, n = params[0, 1], len(scores)
    log_theta = max(alpha, 0.0) + math.log1p(math.exp(-abs(alpha)))
    low, high = bounds(scores)
    if high - low + log_theta > FAR:
        value, pulled = _pair_by_pair(scores, labels, log_theta, gradient, curvature)
    else:
        value, pulled = _by_rows(scores, labels, log_theta, gradient, curvature)
    ties = _count_ties(labels)
    over_e = math.exp(min(-alpha, 700.0))  # e^−α
    log_of_two_more = max(alpha, 0.0) + math.log(2.0 * min(over_e, 1.0) + math.exp(min(alpha, 0.0)))  # log(2 + e^α)
    value -= ties * (alpha + log_of_two_more)
    params[1, 1] = pulled / (1.0 + over_e) - ties * (1.0 + 1.0 / (1.0 + 2.0 * over_e))
    pairs = n * (n - 1) // 2
    if params[0, 0] != 0.0 and pairs > 0:
        params[1, 1] /= pairs
    return scale(value, pairs, gradient, curvature, params)


@compiled
def _by_rows(scores: Array, labels: Array, log_theta: float, gradient: Array, curvature: Array) -> Any:
    """Sum over pairs with one exponential per document: RankNet's rows with θe_j in place of e_j."""
    n, theta = len(scores), math.exp(log_theta)
    order, ends = by_grade(labels)
    low, high = bounds(scores)
    e, stronger, slope, bend, product = np.empty(n), np.empty(n), np.zeros(n), np.zeros(n), filled(n, 1.0)
    chances, bends = np.empty(n), np.empty(n)
    for p in range(n):
        e[p] = math.exp(scores[order[p]] - 0.5 * (low + high))
        stronger[p] = theta * e[p]
    rows_per_log = max(int(300.0 / (high - low + log_theta + 1.0)) - 1, 1)
    value, pulled, start = 0.0, 0.0, 0
    for p in range(n):
        start = p if p == 0 or ends[p - 1] == p else start
        before = row(
            e[p], 1.0 / e[p], stronger[start:p], slope[start:p], bend[start:p], product[start:p],
            chances[start:p], bends[start:p],
        )  # fmt: skip
        after = row(
            e[p], 1.0 / e[p], stronger[p + 1 :], slope[p + 1 :], bend[p + 1 :], product[p + 1 :],
            chances[p + 1 :], bends[p + 1 :],
        )  # fmt: skip
        slope[p] -= before[0] + after[0]
        bend[p] += before[1] + after[1]
        pulled += before[0] + after[0]
        if (p + 1) % rows_per_log == 0:
            value += take_log(product)
    value += take_log(product)
    for p in range(n):
        gradient[order[p]], curvature[order[p]] = slope[p], bend[p]
    return value, pulled


@compiled
def _pair_by_pair(scores: Array, labels: Array, log_theta: float, gradient: Array, curvature: Array) -> Any:
    """The same for scores that are too far apart for products."""
    clear(gradient, curvature)
    value, pulled = 0.0, 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            if labels[i] >= labels[j] and i != j:
                x = log_theta - scores[i] + scores[j]
                e = math.exp(-abs(x))
                p = 1.0 / (1.0 + e) if x > 0.0 else e / (1.0 + e)
                value += max(x, 0.0) + math.log1p(e)
                pulled += p
                gradient[i] -= p
                gradient[j] += p
                curvature[i] += e / (1.0 + e) / (1.0 + e)
                curvature[j] += e / (1.0 + e) / (1.0 + e)
    return value, pulled


@compiled
def _count_ties(labels: Array) -> int:
    order, ends = by_grade(labels)
    ties = 0
    for p in range(len(order)):
        ties += ends[p] - p - 1
    return ties


@register
class PairTiesRK(PairwiseLoss):
    """Negative log-likelihood of Rao & Kupper's model: Bradley–Terry with ties, whose threshold is learned.

    Formula: L = −Σ_{y_i > y_j} log φ_i/(φ_i + θφ_j) − Σ_{y_i = y_j} log (θ² − 1)φ_iφ_j/[(φ_i + θφ_j)(θφ_i + φ_j)],
        φ = e^s, θ = 1 + e^α. As α falls, strict pairs become RankNet's.
    Ties: modelled; documents of equal grade are compared, and should get equal scores.
    Cost: O(n²) per query, about a nanosecond per pair, twice for tied ones.
    Use it for: graded labels with many ties, and the probability that two documents tie (`pair_probabilities`).
    Reference: Rao & Kupper, Ties in paired-comparison experiments, JASA 1967; to rank: Zhou, Xue, Zha & Yu, Learning
        to rank with ties, SIGIR 2008.
    """

    alpha: float = 0.0
    """Start of ln(θ − 1), which is learned: the threshold of ties."""
    grades = staticmethod(over_grades)
    learned: ClassVar[tuple[str, ...]] = ("alpha",)
    name = "pairties-rk"

    @property
    def compares_ties(self) -> bool:
        return True

    def rank_distribution(self) -> tuple[RaoKupper, float]:
        return RaoKupper(alpha=self.alpha), 1.0
