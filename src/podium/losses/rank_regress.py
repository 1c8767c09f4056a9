"""Rank regression: squared error between the score difference of each pair and a margin of 1.

>>> from podium.losses import RankRegress
>>> RankRegress()([1.5, 1.0], [1, 0]).value  # (1 − ½)²
0.25
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.blocks import bounds, by_grade, count_edges
from podium.losses.pairs import PairwiseLoss, product_over_edges, scale, sum_over_edges


@compiled
def _pair(delta: float, params: Array) -> Any:
    """φ(δ) = (1 − δ)², φ' = −2(1 − δ), φ'' = 2."""
    m = 1.0 - delta
    return m * m, -2.0 * m, 2.0


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ (1 − s_i + s_j)² over y_i > y_j from the moments of lower and higher grades: k, Σ s, Σ s².

    A document of score s against k lower ones adds k(1 − s)² + 2(1 − s)·Σ s_j + Σ s_j².
    """
    n = len(scores)
    order, ends = by_grade(labels)
    low, high = bounds(scores)
    middle = 0.5 * (low + high)
    first, second = np.zeros(n + 1), np.zeros(n + 1)  # Σ s and Σ s² from each place down
    for p in range(n - 1, -1, -1):
        s = scores[order[p]] - middle
        first[p], second[p] = first[p + 1] + s, second[p + 1] + s * s
    value, start = 0.0, 0
    while start < n:
        end = ends[start]
        lower, higher, above = n - end, start, first[0] - first[start]
        for p in range(start, end):
            i = order[p]
            s = scores[i] - middle
            short = lower * (1.0 - s) + first[end]  # Σ m over the pairs that i should win
            value += (1.0 - s) * (short + first[end]) + second[end]
            gradient[i] = 2.0 * (higher * (1.0 + s) - above - short)
            curvature[i] = 2.0 * (lower + higher)
        start = end
    return scale(value, count_edges(ends), gradient, curvature, params)


@compiled
def over_edges(scores: Array, edges: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ P̄·φ(δ) + (1 − P̄)·φ(−δ) over explicit edges."""
    return sum_over_edges(_pair, scores, edges, gradient, curvature, params)


@compiled
def hessian_product_grades(scores: Array, labels: Array, direction: Array, out: Array, params: Array) -> float:
    """Hessian product of `over_grades`: 2 Σ (v_i − v_j) over the pairs of i, by sums of v over other grades."""
    n = len(scores)
    order, ends = by_grade(labels)
    below = np.zeros(n + 1)
    for p in range(n - 1, -1, -1):
        below[p] = below[p + 1] + direction[order[p]]
    over = float(max(count_edges(ends), 1)) if params[0, 0] != 0.0 else 1.0
    start = 0
    while start < n:
        end = ends[start]
        others = below[end] + below[0] - below[start]
        for p in range(start, end):
            out[order[p]] = 2.0 * ((n - end + start) * direction[order[p]] - others) / over
        start = end
    return 0.0


@compiled
def hessian_product_edges(scores: Array, edges: Array, direction: Array, out: Array, params: Array) -> float:
    """Hessian product of `over_edges`."""
    return product_over_edges(_pair, scores, edges, direction, out, params)


@register
class RankRegress(PairwiseLoss):
    """Squared error between the score difference of each pair and 1, on either side.

    Formula: L = Σ_{y_i > y_j} (1 − (s_i − s_j))².
    Ties: documents of equal grade are not compared.
    Cost: O(n) per query after ordering by grade, by moments of the scores; the Hessian is constant.
    Use it for: a pairwise loss at the cost of regression. Pairs that are right by more than 1 are penalised too, which
        hurts the top of long lists.
    Reference: Joachims, Optimizing search engines using clickthrough data, KDD 2002, with the square in place of the
        hinge, as in Sculley, Large scale learning to rank, NIPS workshop 2009.
    """

    convex = True
    wrong_pair_costs = (1.0, "")
    grades = staticmethod(over_grades)
    edges = staticmethod(over_edges)
    grades_product = staticmethod(hessian_product_grades)
    edges_product = staticmethod(hessian_product_edges)
