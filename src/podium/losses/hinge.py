"""Hinge loss on every pair of documents of different grades: Ranking SVM's (Herbrich et al., 2000; Joachims, 2002).

>>> from podium.losses import Hinge
>>> Hinge()([1.5, 1.0], [1, 0]).value  # 1 − ½
0.5
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.violations import violations
from podium.losses.pairs import PairwiseLoss, scale, sum_over_edges


@compiled
def _pair(delta: float, params: Array) -> Any:
    """φ(δ) = [1 − δ]_+, φ' = −1 if δ < 1; 1 in place of φ'' = 0, so that boosting can divide by it."""
    if delta < 1.0:
        return 1.0 - delta, -1.0, 1.0
    return 0.0, 0.0, 0.0


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ [1 − (s_i − s_j)]_+ over y_i > y_j; the gradient counts the violated pairs of a document."""
    counts, sums = np.empty((len(scores), 2)), np.empty((len(scores), 2))
    value, _, n_edges = violations(scores, labels, counts, sums)
    for i in range(len(scores)):
        gradient[i] = counts[i, 1] - counts[i, 0]
        curvature[i] = counts[i, 1] + counts[i, 0]
    return scale(value, n_edges, gradient, curvature, params)


@compiled
def over_edges(scores: Array, edges: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ P̄·φ(δ) + (1 − P̄)·φ(−δ) over explicit edges."""
    return sum_over_edges(_pair, scores, edges, gradient, curvature, params)


@register
class Hinge(PairwiseLoss):
    """Pairwise hinge loss with a margin of 1, the loss of Ranking SVM.

    Formula: L = Σ_{y_i > y_j} [1 − (s_i − s_j)]_+.
    Ties: documents of equal grade are not compared.
    Cost: O(n log n) per query, by sorting and sums over grades; short queries by comparing all pairs, which is faster.
    Use it for: Ranking SVM, with an L2 penalty. It has kinks, where L-BFGS may stop short of the minimum:
        `solver=cutting-plane`, the default of the method `hinge`, certifies its distance. The squared hinge is smooth.
    Curvature: the number of violated pairs of a document, so that g/h is a step within the margin.
    Reference: Joachims, Optimizing search engines using clickthrough data, KDD 2002.
    """

    convex = True
    wrong_pair_costs = (1.0, "")
    grades = staticmethod(over_grades)
    edges = staticmethod(over_edges)
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"
