"""Hinge loss on every pair of documents of different grades: Ranking SVM's (Herbrich et al., 2000; Joachims, 2002).

>>> from podium.losses import Hinge
>>> Hinge()([1.5, 1.0], [1, 0]).value  # 1 − ½
0.5
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.kernels.violations import violations
from podium.losses.pairs import PairwiseLoss, scale, sum_over_edges, sum_over_pairs


@compiled
def _pair(delta: float, params: Array) -> Any:
    """φ(δ) = [m − δ]_+, φ' = −1 if δ < m; 1 in place of φ'' = 0, so that boosting can divide by it.

    Without a margin a tie is a mistake, as in the perceptron, which could not leave equal scores otherwise.
    """
    margin = params[0, 1]
    if delta < margin or (margin == 0.0 and delta == 0.0):
        return margin - delta, -1.0, 1.0
    return 0.0, 0.0, 0.0


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ [m − (s_i − s_j)]_+ over y_i > y_j; the gradient counts the violated pairs of a document."""
    if params[0, 1] != 1.0:
        return sum_over_pairs(_pair, scores, labels, gradient, curvature, params)
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
    """Pairwise hinge loss, the loss of Ranking SVM; with `margin=0` that of the ranking perceptron.

    Formula: L = Σ_{y_i > y_j} [m − (s_i − s_j)]_+, m the margin, 1 by default.
    Ties: documents of equal grade are not compared.
    Cost: O(n log n) per query, by sorting and sums over grades; short queries by comparing all pairs, which is faster;
        all of them with another margin than 1.
    Use it for: Ranking SVM, with an L2 penalty. It has kinks, where L-BFGS may stop short of the minimum:
        `solver=cutting-plane`, the default of the method `hinge`, certifies its distance. The squared hinge is smooth.
        Equal scores have the smallest loss without a margin, so `margin=0` is for steps: `solver=sgd(committee=5)` is
        the committee perceptron of Elsas, Carvalho & Carbonell, WSDM 2008.
    Curvature: the number of violated pairs of a document, so that g/h is a step within the margin.
    Reference: Joachims, Optimizing search engines using clickthrough data, KDD 2002.
    """

    margin: float = param(default=1.0, least=0)
    """Lead of the better document that costs nothing."""
    convex = True
    grades = staticmethod(over_grades)
    edges = staticmethod(over_edges)
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"

    @property
    def wrong_pair_costs(self) -> tuple[float, str] | None:  # type: ignore[override]
        if self.margin == 0.0:
            return None
        return self.margin, "" if self.margin == 1.0 else f"/{self.margin:g}"
