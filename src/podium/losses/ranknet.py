"""RankNet (Burges et al., 2005): pairwise logistic loss on documents of different grades.

>>> from podium.losses import RankNet
>>> round(RankNet()([2.0, 1.0], [1, 0]).value, 4)  # log(1 + e^−1)
0.3133
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.kernels.blocks import bounds, by_grade, count_edges, filled
from podium.kernels.sums import add_up
from podium.losses.bounds import Bound
from podium.losses.pairs import PairwiseLoss, product_over_edges, scale, sum_over_edges, sum_over_pairs

FAR = 200.0
"""If σ times the range of scores is larger, pairs are computed one by one; e^200 leaves room for products."""


@compiled
def _pair(delta: float, params: Array) -> Any:
    """φ(δ) = log(1 + e^(−σδ)), φ' = −σ·p, φ'' = σ²·p·(1 − p) with p = 1/(1 + e^(σδ)), without overflow."""
    sigma = params[0, 1]
    e = math.exp(-abs(sigma * delta))
    p = e / (1.0 + e) if delta > 0.0 else 1.0 / (1.0 + e)
    return max(-sigma * delta, 0.0) + math.log1p(e), -sigma * p, sigma * sigma * e / (1.0 + e) / (1.0 + e)


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ φ(s_i − s_j) over y_i > y_j; with ties, also Σ ½φ(δ) + ½φ(−δ) = Σ φ(δ) + ½σδ over pairs of equal grade.

    Tied pairs are first counted as won by the first of the two, then corrected by ½σδ.
    """
    if params[0, 2] == 0.0:
        return _strict(scores, labels, gradient, curvature, params)
    n, places, start = len(scores), np.empty(len(scores)), 0
    order, ends = by_grade(labels)
    for p in range(n):
        places[order[p]] = -p
    value = _strict(scores, places, gradient, curvature, params)
    half = params[0, 1] / (n * (n - 1)) if params[0, 0] != 0.0 and n > 1 else 0.5 * params[0, 1]
    for p in range(n):
        start = p if p == 0 or ends[p - 1] == p else start
        i, won = order[p], ends[p] - 1 - p - (p - start)  # tied pairs counted as won minus counted as lost
        value += half * won * (scores[i] - scores[order[start]])
        gradient[i] += half * won
    return value


@compiled
def _strict(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ φ(s_i − s_j) over y_i > y_j, in order of grade, with one exponential per document: p = e_j/(e_i + e_j)."""
    n, sigma = len(scores), params[0, 1]
    low, high = bounds(scores)
    if sigma * (high - low) > FAR:
        return sum_over_pairs(_pair, scores, labels, gradient, curvature, params)
    order, ends = by_grade(labels)
    e, slope, bend, product = np.empty(n), np.zeros(n), np.zeros(n), filled(n, 1.0)
    chances, bends = np.empty(n), np.empty(n)
    middle = 0.5 * (low + high)
    for p in range(n):
        e[p] = math.exp(sigma * (scores[order[p]] - middle))
    rows_per_log = int(300.0 / (sigma * (high - low) + 1.0)) - 1  # a factor is at most 1 + e^(σ·spread)
    value, p, rows = 0.0, 0, 0
    while p < n and ends[p] < n:
        end = ends[p]
        lower = e[end:], slope[end:], bend[end:], product[end:], chances[end:], bends[end:]
        won, bent = row(e[p], 1.0 / e[p], *lower)
        slope[p] -= won
        bend[p] += bent
        p += 1
        rows += 1
        if rows >= rows_per_log or ends[p] == n:
            value += take_log(product)
            rows = 0
    for p in range(n):
        gradient[order[p]] = sigma * slope[p]
        curvature[order[p]] = sigma * sigma * bend[p]
    return scale(value, count_edges(ends), gradient, curvature, params)


@compiled
def row(e_i: float, inverse: float, e: Array, slope: Array, bend: Array, product: Array, p: Array, pq: Array) -> Any:
    """Compare a document i with all j of lower grades: Σ p and Σ p(1 − p); multiplies `product` by 1 + e_j/e_i.

    `p` and `pq` are workspace. Each loop has few arrays, because with more it is not vectorised.
    """
    for j in range(len(e)):
        both = e_i + e[j]
        r = 1.0 / both
        p[j] = e[j] * r
        pq[j] = p[j] * e_i * r
        product[j] *= both * inverse
    for j in range(len(e)):
        slope[j] += p[j]
        bend[j] += pq[j]
    return add_up(p), add_up(pq)


@compiled
def take_log(product: Array) -> float:
    """Σ log of the products, several per logarithm; resets them to 1."""
    value, run = 0.0, 1.0
    for j in range(len(product)):
        run *= product[j]
        product[j] = 1.0
        if run > 1e100:
            value += math.log(run)
            run = 1.0
    return value + math.log(run)


@compiled
def over_edges(scores: Array, edges: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ P̄·φ(δ) + (1 − P̄)·φ(−δ) over explicit edges: RankNet's cross entropy with target probability P̄."""
    return sum_over_edges(_pair, scores, edges, gradient, curvature, params)


@compiled
def hessian_product_grades(scores: Array, labels: Array, direction: Array, out: Array, params: Array) -> float:
    """Hessian product of `over_grades`: Σ φ''(δ)·(v_i − v_j) over the pairs of i."""
    n, edges = len(scores), 0
    for i in range(n):
        out[i] = 0.0
    for i in range(n):
        for j in range(i):
            if labels[i] != labels[j] or params[0, 2] != 0.0:
                force = _pair(scores[i] - scores[j], params)[2] * (direction[i] - direction[j])  # φ'' is even
                out[i] += force
                out[j] -= force
                edges += 1
    if params[0, 0] != 0.0 and edges > 0:
        for i in range(n):
            out[i] /= edges
    return 0.0


@compiled
def hessian_product_edges(scores: Array, edges: Array, direction: Array, out: Array, params: Array) -> float:
    """Hessian product of `over_edges`."""
    return product_over_edges(_pair, scores, edges, direction, out, params)


@register
class RankNet(PairwiseLoss):
    """Pairwise logistic loss: cross entropy between P(i before j) = 1/(1 + e^(−σ(s_i − s_j))) and the target order.

    Formula: L = Σ_{y_i > y_j} log(1 + e^(−σ(s_i − s_j))); an edge with target probability P̄ counts
        −P̄·σδ + log(1 + e^(σδ)).
    Ties: documents of equal grade are not compared, or (`ties=true`) have P̄ = ½, which favours equal scores, as does
        an explicit edge with P̄ = ½.
    Cost: O(n²) per query, half a nanosecond per pair; gradients are accumulated per document, so scorers see n of them.
    Use it for: a robust first choice, graded labels or preferences, any scorer.
    Reference: Burges et al., Learning to rank using gradient descent, ICML 2005.
    """

    sigma: float = param(default=1.0, above=0)
    """Steepness of the logistic loss."""
    ties: bool = False
    """Whether documents of equal grade are compared too, with a target of ½."""
    convex = True
    wrong_pair_costs = (math.log(2.0), "/ln 2")
    auc_consistent = True
    grades = staticmethod(over_grades)
    edges = staticmethod(over_edges)
    grades_product = staticmethod(hessian_product_grades)
    edges_product = staticmethod(hessian_product_edges)

    def bounds(self) -> tuple[Bound, ...]:
        return () if self.ties else super().bounds()

    @property
    def compares_ties(self) -> bool:
        return self.ties

    @property
    def offsets_are_exact(self) -> bool:
        return self.sigma == 1.0 and not self.ties
