"""Exponential loss on every pair of documents of different grades, the loss that RankBoost minimises.

>>> from podium.losses import Exponential
>>> round(Exponential()([2.0, 1.0], [1, 0]).value, 4)  # e^−1
0.3679
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.blocks import bounds, by_grade, count_edges
from podium.losses.pairs import PairwiseLoss, scale, sum_over_edges, sum_over_pairs

FAR = 300.0
"""Beyond δ = −FAR the exponential continues as its quadratic: e^300 is large enough, and its square is finite."""


@compiled
def _pair(delta: float, params: Array) -> Any:
    """φ(δ) = e^(−δ); for u = −δ − FAR > 0: φ = e^FAR·(1 + u + u²/2), which keeps φ, φ' and φ'' continuous."""
    if -delta <= FAR:
        e = math.exp(-delta)
        return e, -e, e
    u, e = -delta - FAR, math.exp(FAR)
    return e * (1.0 + u + 0.5 * u * u), -e * (1.0 + u), e


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ_i e^(−s_i) · Σ_{y_j < y_i} e^(s_j): in order of grade, prefix and suffix sums of the two factors."""
    low, high = bounds(scores)
    if high - low > FAR:
        return sum_over_pairs(_pair, scores, labels, gradient, curvature, params)
    n = len(scores)
    order, ends = by_grade(labels)
    middle = 0.5 * (low + high)
    below = np.zeros(n + 1)  # Σ e^(s_j) from each place down
    for p in range(n - 1, -1, -1):
        below[p] = below[p + 1] + math.exp(scores[order[p]] - middle)
    value, above, start = 0.0, 0.0, 0  # above: Σ e^(−s_i) over the better blocks
    while start < n:
        end, block = ends[start], 0.0
        for p in range(start, end):
            i = order[p]
            e = math.exp(middle - scores[i])
            won, lost = e * below[end], above / e
            gradient[i], curvature[i] = lost - won, lost + won
            value += won
            block += e
        above += block
        start = end
    return scale(value, count_edges(ends), gradient, curvature, params)


@compiled
def over_edges(scores: Array, edges: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ P̄·φ(δ) + (1 − P̄)·φ(−δ) over explicit edges."""
    return sum_over_edges(_pair, scores, edges, gradient, curvature, params)


@register
class Exponential(PairwiseLoss):
    """Pairwise exponential loss.

    Formula: L = Σ_{y_i > y_j} e^(−(s_i − s_j)). If a pair is wrong by more than 300, the exponential continues as
        its quadratic, so that value and derivatives stay finite.
    Ties: documents of equal grade are not compared.
    Cost: O(n) per query after ordering by grade, because the sum factors; O(n²) if scores are over 300 apart.
    Use it for: boosting as in RankBoost. A few badly wrong pairs outweigh everything else.
    Reference: Freund et al., An efficient boosting algorithm for combining preferences, JMLR 2003.
    """

    convex = True
    wrong_pair_costs = (1.0, "")
    auc_consistent = True
    grades = staticmethod(over_grades)
    edges = staticmethod(over_edges)
