"""Soft 0/1 loss: the expected number of pairs in the wrong order, each by a sigmoid of its score difference.

>>> from podium.losses import SoftZeroOne
>>> round(SoftZeroOne()([2.0, 1.0], [1, 0]).value, 4)  # 1/(1 + e)
0.2689
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.losses.pairs import PairwiseLoss, sum_over_edges, sum_over_pairs


@compiled
def _pair(delta: float, params: Array) -> Any:
    """φ(δ) = 1/(1 + e^δ) = p, φ' = −p(1 − p); its size bounds φ'' = p(1 − p)(1 − 2p)."""
    e = math.exp(-abs(delta))
    slope = e / (1.0 + e) / (1.0 + e)
    return e / (1.0 + e) if delta > 0.0 else 1.0 / (1.0 + e), -slope, slope


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ φ(s_i − s_j) over y_i > y_j."""
    return sum_over_pairs(_pair, scores, labels, gradient, curvature, params)


@compiled
def over_edges(scores: Array, edges: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ P̄·φ(δ) + (1 − P̄)·φ(−δ) over explicit edges."""
    return sum_over_edges(_pair, scores, edges, gradient, curvature, params)


@register
class SoftZeroOne(PairwiseLoss):
    """Smooth number of pairs in the wrong order.

    Formula: L = Σ_{y_i > y_j} 1/(1 + e^{s_i − s_j}); an edge with probability P̄ counts P̄·φ(δ) + (1 − P̄)·φ(−δ).
    Ties: documents of equal grade are not compared.
    Cost: O(n²) per query, with an exponential per pair.
    Use it for: noisy labels: a pair that is very wrong costs 1 at most and has a small gradient. Not convex.
    Curvature: Σ |φ'| over a document's pairs, a bound, so that g/h is a step of 1 at most.
    Reference: the pairwise soft zero-one loss of TF-Ranking: Pasumarthi et al., KDD 2019.
    """

    wrong_pair_costs = (0.5, "·2")
    grades = staticmethod(over_grades)
    edges = staticmethod(over_edges)
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"
