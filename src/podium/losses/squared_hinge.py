"""Squared hinge loss on every pair of documents of different grades: the smooth Ranking SVM (Chapelle & Keerthi, 2010).

>>> from podium.losses import SquaredHinge
>>> SquaredHinge()([1.5, 1.0], [1, 0]).value  # (1 − ½)²
0.25
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.violations import differences, violations
from podium.losses.pairs import PairwiseLoss, product_over_edges, scale, sum_over_edges


@compiled
def _pair(delta: float, params: Array) -> Any:
    """φ(δ) = m², φ' = −2m, φ'' = 2 with m = 1 − δ, if that is positive; else 0."""
    if delta < 1.0:
        m = 1.0 - delta
        return m * m, -2.0 * m, 2.0
    return 0.0, 0.0, 0.0


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ [1 − (s_i − s_j)]²_+ over y_i > y_j."""
    counts, sums = np.empty((len(scores), 2)), np.empty((len(scores), 2))
    _, value, n_edges = violations(scores, labels, counts, sums)
    for i in range(len(scores)):
        gradient[i] = 2.0 * (sums[i, 1] - sums[i, 0])
        curvature[i] = 2.0 * (counts[i, 1] + counts[i, 0])
    return scale(value, n_edges, gradient, curvature, params)


@compiled
def over_edges(scores: Array, edges: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ P̄·φ(δ) + (1 − P̄)·φ(−δ) over explicit edges."""
    return sum_over_edges(_pair, scores, edges, gradient, curvature, params)


@compiled
def hessian_product_grades(scores: Array, labels: Array, direction: Array, out: Array, params: Array) -> float:
    """Hessian product of `over_grades`, away from its kinks: 2 Σ (v_i − v_j) over the violated pairs of i."""
    n_edges = differences(scores, labels, direction, out)
    factor = 2.0 / n_edges if params[0, 0] != 0.0 and n_edges > 0 else 2.0
    for i in range(len(out)):
        out[i] *= factor
    return 0.0


@compiled
def hessian_product_edges(scores: Array, edges: Array, direction: Array, out: Array, params: Array) -> float:
    """Hessian product of `over_edges`."""
    return product_over_edges(_pair, scores, edges, direction, out, params)


@register
class SquaredHinge(PairwiseLoss):
    """Pairwise squared hinge loss with a margin of 1, the smooth Ranking SVM.

    Formula: L = Σ_{y_i > y_j} [1 − (s_i − s_j)]²_+.
    Ties: documents of equal grade are not compared.
    Cost: O(n log n) per query, by sorting and sums over grades; short queries by comparing all pairs, which is faster.
    Use it for: Ranking SVM with solvers that need a smooth loss: L-BFGS, Newton. (4.2) of Li's book is `hinge`.
    Reference: Chapelle & Keerthi, Efficient algorithms for ranking with SVMs, Information Retrieval 2010.
    """

    convex = True
    wrong_pair_costs = (1.0, "")
    auc_consistent = True
    grades = staticmethod(over_grades)
    edges = staticmethod(over_edges)
    grades_product = staticmethod(hessian_product_grades)
    edges_product = staticmethod(hessian_product_edges)
