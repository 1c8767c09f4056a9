"""Pairwise losses: the sum of a function φ of score differences over pairs (edges) of documents.

A pair function returns φ and its first and second derivative at δ = s_i − s_j, if i should be ranked before j:

    pair(delta, params) -> (φ(δ), φ'(δ), φ''(δ))

An edge of probability P̄ and weight w counts as w·(P̄·φ(δ) + (1 − P̄)·φ(−δ)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from podium.base.arrays import Array
from podium.jit.compiled import compiled, inlined, outlined
from podium.kernels.blocks import clear
from podium.losses.base import Loss
from podium.losses.bounds import Bound, pair_bounds

Pair = Callable[[float, Array], tuple[float, float, float]]
"""(δ, params) → φ(δ), φ'(δ), φ''(δ)."""


@dataclass(frozen=True, repr=False)
class PairwiseLoss(Loss):
    """Pairwise loss: the sum of φ(s_i − s_j) over pairs (i, j) ∈ P with y_i > y_j.

    With `normalise`, a query's sum is divided by its number of pairs |P|, or by the sum of their weights, so that long
    queries count like short ones. It is params[0, 0] of the kernels, which end with `scale`.
    """

    normalise: bool = False
    """Whether a query's sum is divided by its number of pairs, so that long queries count like short ones."""
    wrong_pair_costs: ClassVar[tuple[float, str] | None] = None
    """The least loss of a pair in the wrong order, φ(δ) for δ ≤ 0, and how formulas divide by it; None: not used."""

    auc_consistent: ClassVar[bool] = False
    """Whether the best scores order documents by their probability of label 1, if labels 0 and 1 are independent."""

    def consistent_for(self) -> tuple[str, ...]:
        return ("auc (independent labels 0 and 1)",) if self.auc_consistent else ()

    def bounds(self) -> tuple[Bound, ...]:
        if self.wrong_pair_costs is None:
            return ()
        return pair_bounds(*self.wrong_pair_costs, normalise=self.normalise)


@compiled
def scale(value: float, n_edges: float, gradient: Array, curvature: Array, params: Array) -> float:
    """Sum over edges, or their mean with `normalise`."""
    return value if params[0, 0] == 0.0 or n_edges == 0 else _mean(value, float(n_edges), gradient, curvature)


@outlined("float64(float64, float64, float64[::1], float64[::1])")
def _mean(value: float, n_edges: float, gradient: Array, curvature: Array) -> float:
    for i in range(len(gradient)):
        gradient[i] /= n_edges
        curvature[i] /= n_edges
    return value / n_edges


@inlined
def sum_over_edges(pair: Pair, scores: Array, edges: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ over edges of w·(P̄·φ(δ) + (1 − P̄)·φ(−δ)), with derivatives, in the order of the edges."""
    clear(gradient, curvature)
    value, total = 0.0, 0.0
    for e in range(len(edges)):
        i, j, probability = int(edges[e, 0]), int(edges[e, 1]), edges[e, 2]
        total += edges[e, 3]
        delta = scores[i] - scores[j]
        for side in range(2):
            weight = edges[e, 3] * (probability if side == 0 else 1.0 - probability)
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
def sum_over_pairs(pair: Pair, scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ of φ(s_i − s_j) over y_i > y_j with derivatives, pair by pair, for any range of scores."""
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
def product_over_edges(pair: Pair, scores: Array, edges: Array, direction: Array, out: Array, params: Array) -> float:
    """Hessian product of `sum_over_edges`: Σ w·(P̄·φ''(δ) + (1 − P̄)·φ''(−δ))·(v_i − v_j), to i and, negated, to j."""
    for i in range(len(out)):
        out[i] = 0.0
    over = 0.0
    for e in range(len(edges)):
        over += edges[e, 3]
    over = over if over > 0.0 and params[0, 0] != 0.0 else 1.0
    for e in range(len(edges)):
        i, j, probability = int(edges[e, 0]), int(edges[e, 1]), edges[e, 2]
        delta = scores[i] - scores[j]
        bend = edges[e, 3] * (probability * pair(delta, params)[2] + (1.0 - probability) * pair(-delta, params)[2])
        force = bend * (direction[i] - direction[j]) / over
        out[i] += force
        out[j] -= force
    return 0.0
