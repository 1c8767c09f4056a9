"""FRank's loss (Tsai et al., 2007): fidelity loss, a bounded distance between probabilities of pairs.

>>> from podium.losses import FRank
>>> round(FRank()([1.0, 1.0], [1, 0]).value, 4)  # 1 − √½
0.2929
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.blocks import bounds, by_grade, clear, count_edges
from podium.kernels.sums import add_up
from podium.losses.pairs import PairwiseLoss, scale, sum_over_pairs

FAR = 600.0
"""If scores are further apart, pairs are computed one by one; e^(±300) leaves room for sums and quotients."""


@compiled
def _pair(delta: float, params: Array) -> Any:
    """φ(δ) = 1 − √P with P = 1/(1 + e^(−δ)), φ' = −½√P·(1 − P); its size bounds φ'' = ¼√P(1 − P)(3P − 1)."""
    e = math.exp(-abs(delta))
    larger, smaller = 1.0 / (1.0 + e), e / (1.0 + e)
    p, q = (larger, smaller) if delta > 0.0 else (smaller, larger)
    root = math.sqrt(p)
    slope = 0.5 * root * q
    return q / (1.0 + root), -slope, slope


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ 1 − √P_ij over y_i > y_j, in order of grade, with one exponential per document: P = e_i/(e_i + e_j)."""
    n = len(scores)
    low, high = bounds(scores)
    if high - low > FAR:
        return sum_over_pairs(_pair, scores, labels, gradient, curvature, params)
    order, ends = by_grade(labels)
    e, lost, value = np.empty(n), np.zeros(n), 0.0
    paid, forces = np.empty(n), np.empty(n)
    for p in range(n):
        e[p] = math.exp(scores[order[p]] - 0.5 * (low + high))
    for p in range(n):
        v, won = _row(e[p], e[ends[p] :], lost[ends[p] :], paid[ends[p] :], forces[ends[p] :])
        value += v
        gradient[order[p]], curvature[order[p]] = lost[p] - won, lost[p] + won
    return scale(value, count_edges(ends), gradient, curvature, params)


@compiled
def _row(e_i: float, e: Array, lost: Array, paid: Array, forces: Array) -> Any:
    """Compare a document i with all j of lower grades: Σ 1 − √P and Σ |φ'|, summed from `paid`, `forces`."""
    for j in range(len(e)):
        r = 1.0 / (e_i + e[j])
        q, root = e[j] * r, math.sqrt(e_i * r)
        paid[j] = q / (1.0 + root)
        forces[j] = 0.5 * root * q
    for j in range(len(e)):
        lost[j] += forces[j]
    return add_up(paid), add_up(forces)


@compiled
def over_edges(scores: Array, edges: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ w·(1 − √(P̄·P) − √((1 − P̄)(1 − P))) over explicit edges."""
    clear(gradient, curvature)
    value, total = 0.0, 0.0
    for k in range(len(edges)):
        i, j, w = int(edges[k, 0]), int(edges[k, 1]), edges[k, 3]
        a, b = w * math.sqrt(edges[k, 2]), w * math.sqrt(1.0 - edges[k, 2])
        total += w
        delta = scores[i] - scores[j]
        here, slope, bend = _pair(delta, params)
        there, slope_back, bend_back = _pair(-delta, params)
        value += (w - a - b) + a * here + b * there
        force = a * slope - b * slope_back
        gradient[i] += force
        gradient[j] -= force
        curvature[i] += a * bend + b * bend_back
        curvature[j] += a * bend + b * bend_back
    return scale(value, total, gradient, curvature, params)


@register
class FRank(PairwiseLoss):
    """Fidelity loss between P(i before j) = 1/(1 + e^(−(s_i − s_j))) and the target, between 0 and 1 for each pair.

    Formula: L = Σ_{y_i > y_j} 1 − √P_ij; an edge with target probability P̄ counts 1 − √(P̄·P) − √((1 − P̄)(1 − P)).
    Ties: documents of equal grade are not compared; an explicit edge with P̄ = ½ has its minimum, 0, at equal scores.
    Cost: O(n²) per query, about two nanoseconds per pair.
    Use it for: noisy labels: a pair that is very wrong has a small gradient. Not convex, so start from scores of 0.
    Curvature: Σ |φ'| over a document's pairs, a bound, so that g/h is a step of 1 at most.
    Reference: Tsai, Liu, Qin, Chen & Ma, FRank: a ranking method with fidelity loss, SIGIR 2007.
    """

    wrong_pair_costs = (1.0 - math.sqrt(0.5), "/(1 − 1/√2)")
    grades = staticmethod(over_grades)
    edges = staticmethod(over_edges)
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"
