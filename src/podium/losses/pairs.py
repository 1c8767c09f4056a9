"""What pairwise losses share: the sum of a function of score differences over edges.

A pair function gives the value, first and second derivative of φ at δ = s_i − s_j, where i should come before j:

    pair(delta, params) -> (φ(δ), φ'(δ), φ''(δ))

An edge of probability P̄ and weight w counts as w·(P̄·φ(δ) + (1 − P̄)·φ(−δ)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from podium.base.arrays import Array
from podium.jit.compiled import compiled, inlined
from podium.kernels.blocks import clear
from podium.losses.base import Loss


@dataclass(frozen=True, repr=False)
class PairwiseLoss(Loss):
    """A sum of φ(s_i − s_j) over the edges (i, j) ∈ P of the order, y_i > y_j.

    With `normalise`, a query's sum is divided by its number of edges |P|, or by the sum of their weights, so that long
    queries count like short ones. Kernels find it at params[0, 0] and end with `scale`.
    """

    normalise: bool = False


@compiled
def scale(value: float, n_edges: float, gradient: Array, curvature: Array, params: Array) -> float:
    """The sum over edges, or its mean where the loss says `normalise`."""
    if params[0, 0] == 0.0 or n_edges == 0:
        return value
    for i in range(len(gradient)):
        gradient[i] /= n_edges
        curvature[i] /= n_edges
    return value / n_edges


@inlined
def sum_over_edges(pair: Any, scores: Array, edges: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ over edges of w·(P̄·φ(δ) + (1 − P̄)·φ(−δ)), with derivatives, in the order of the edges."""
    clear(gradient, curvature)
    value, total = 0.0, 0.0
    for e in range(len(edges)):
        i, j, odds = int(edges[e, 0]), int(edges[e, 1]), edges[e, 2]
        total += edges[e, 3]
        delta = scores[i] - scores[j]
        for side in range(2):
            weight = edges[e, 3] * (odds if side == 0 else 1.0 - odds)
            if weight > 0.0:
                sign = 1.0 - 2.0 * side
                v, slope, bend = pair(sign * delta, params)
                value += weight * v
                gradient[i] += weight * sign * slope
                gradient[j] -= weight * sign * slope
                curvature[i] += weight * bend
                curvature[j] += weight * bend
    return scale(value, total, gradient, curvature, params)


@inlined
def sum_over_pairs(pair: Any, scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ of φ(s_i − s_j) over y_i > y_j with derivatives, pair by pair: for scores too far apart for a shortcut."""
    clear(gradient, curvature)
    value = 0.0
    n_edges = 0
    for i in range(len(scores)):
        for j in range(len(scores)):
            if labels[i] > labels[j]:
                v, slope, bend = pair(scores[i] - scores[j], params)
                value += v
                n_edges += 1
                gradient[i] += slope
                gradient[j] -= slope
                curvature[i] += bend
                curvature[j] += bend
    return scale(value, n_edges, gradient, curvature, params)


@inlined
def product_over_edges(pair: Any, scores: Array, edges: Array, direction: Array, out: Array, params: Array) -> float:
    """Hv of `sum_over_edges`: Σ over edges of w·(P̄·φ''(δ) + (1 − P̄)·φ''(−δ))·(v_i − v_j), to i and, negated, to j."""
    for i in range(len(out)):
        out[i] = 0.0
    over = 0.0
    for e in range(len(edges)):
        over += edges[e, 3]
    over = over if over > 0.0 and params[0, 0] != 0.0 else 1.0
    for e in range(len(edges)):
        i, j, odds = int(edges[e, 0]), int(edges[e, 1]), edges[e, 2]
        delta = scores[i] - scores[j]
        bend = edges[e, 3] * (odds * pair(delta, params)[2] + (1.0 - odds) * pair(-delta, params)[2])
        force = bend * (direction[i] - direction[j]) / over
        out[i] += force
        out[j] -= force
    return 0.0
