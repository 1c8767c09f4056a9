"""RankNet (Burges et al., 2005): logistic loss on every pair of documents of different grades.

>>> from podium.losses import RankNet
>>> round(RankNet()([2.0, 1.0], [1, 0]).value, 4)  # log(1 + e^−1)
0.3133
"""

from __future__ import annotations

import math
from typing import Any

from podium.losses.base import kernel
from podium.losses.pairs import PairwiseLoss, scale, sum_over_edges
from podium.registry import param, register


@kernel
def _pair(delta: Any, params: Any) -> Any:
    """φ(δ) = log(1 + e^(−σδ)), φ' = −σ·p, φ'' = σ²·p·(1 − p) with p = 1/(1 + e^(σδ)), without overflow."""
    sigma = params[0, 1]
    e = math.exp(-abs(sigma * delta))
    p = e / (1.0 + e) if delta > 0.0 else 1.0 / (1.0 + e)
    return max(-sigma * delta, 0.0) + math.log1p(e), -sigma * p, sigma * sigma * p * (1.0 - p)


@kernel
def over_grades(scores: Any, labels: Any, gradient: Any, curvature: Any, params: Any) -> float:
    """Σ φ(s_i − s_j) over y_i > y_j."""
    gradient[:] = 0.0
    curvature[:] = 0.0
    value = 0.0
    n_edges = 0
    for i in range(len(scores)):
        for j in range(len(scores)):
            if labels[i] > labels[j]:
                v, slope, bend = _pair(scores[i] - scores[j], params)
                value += v
                n_edges += 1
                gradient[i] += slope
                gradient[j] -= slope
                curvature[i] += bend
                curvature[j] += bend
    return scale(value, n_edges, gradient, curvature, params)


@kernel
def over_edges(scores: Any, edges: Any, gradient: Any, curvature: Any, params: Any) -> float:
    """Σ P̄·φ(δ) + (1 − P̄)·φ(−δ) over explicit edges: RankNet's cross entropy with target probability P̄."""
    return sum_over_edges(_pair, scores, edges, gradient, curvature, params)


@register
class RankNet(PairwiseLoss):
    """Cross entropy between P(i before j) = 1/(1 + e^(−σ(s_i − s_j))) and the known order.

    Formula: L = Σ_{y_i > y_j} log(1 + e^(−σ(s_i − s_j))); an edge with target probability P̄ counts
        −P̄·σδ + log(1 + e^(σδ)).
    Ties: documents of equal grade are not compared; an explicit edge with P̄ = ½ asks for equal scores.
    Cost: O(n²) per query; gradients are accumulated per document, so scorers see n of them.
    Use it for: a robust first choice, graded labels or preferences, any scorer.
    Reference: Burges et al., Learning to rank using gradient descent, ICML 2005.
    """

    sigma: float = param(1.0, above=0)
    grades = staticmethod(over_grades)
    edges = staticmethod(over_edges)
