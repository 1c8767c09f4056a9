"""SoftRank (Taylor et al., 2008): expected NDCG under normal noise on the scores, which makes it smooth.

Document i scores N(s_i, σ²), so it beats j with probability π_ij = Φ((s_i − s_j)/(√2σ)). If these events are taken as
independent, the distribution of the rank of j follows by a recursion over the other documents:

    p_j^(i)(r) = p_j^(i−1)(r − 1)·π_ij + p_j^(i−1)(r)·(1 − π_ij)

>>> from podium.losses import SoftRank
>>> round(SoftRank()([2.0, 1.0], [1, 0]).value, 4)  # (1 − Φ(1/√2))·(1 − 1/log2(3))
0.0885
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.jit.sorting import sort_descending
from podium.kernels.blocks import bounds, clear
from podium.kernels.check_gains import check_gains
from podium.kernels.exponentials import exponentials
from podium.kernels.normal import cdfs
from podium.losses.base import Loss
from podium.metrics.gains import exp2_gain
from podium.metrics.kernels import log2_discount


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """1 − Σ_j g_j Σ_{r < k} D(r) p_j(r) / ideal DCG@k; 0 if all grades are equal."""
    clear(gradient, curvature)
    worst, best = bounds(labels)
    if worst == best:
        return 0.0
    n, sigma, value = len(scores), params[0, 0], 1.0
    k = n if params[0, 1] < 0.0 else min(n, int(params[0, 1]))
    discount, largest = _discounts(labels, k)
    beats, chances, moved = np.empty((3, n)), np.empty((n + 1, k)), np.empty((2, k))
    for j in range(n):
        weight = exp2_gain(labels[j]) / largest
        if weight > 0.0:
            compare(scores, j, sigma, beats)
            count(beats, chances, moved)
            for r in range(k):
                value -= weight * discount[r] * chances[n, r]
            _add_row(j, weight, sigma, discount, beats, chances, moved[1], gradient, curvature)
    return value


@compiled
def _discounts(labels: Array, k: int) -> Any:
    """1/log2(r + 2) for r < k, then a 0; and the ideal DCG@k."""
    descending, discount, largest = np.empty(len(labels)), np.zeros(k + 1), 0.0
    sort_descending(labels, descending)
    for r in range(k):
        discount[r] = log2_discount(r + 1.0)
        largest += exp2_gain(descending[r]) * discount[r]
    return discount, largest


@compiled
def compare(scores: Array, j: int, sigma: float, beats: Array) -> None:
    """Fill `beats` with P(i beats j) at [0, i], then its first and second derivative by s_i; 0 for i = j."""
    n, scale, squares = len(scores), 1.0 / (math.sqrt(2.0) * sigma), np.empty(len(scores))
    p, density, z = beats[0], beats[1], beats[2]
    for i in range(n):
        z[i] = (scores[i] - scores[j]) * scale
        squares[i] = z[i] * z[i]
    exponentials(squares, 0.0, -0.5, density)
    cdfs(z, density, p)
    for i in range(n):
        density[i] *= scale / math.sqrt(2.0 * math.pi)
        z[i] *= -scale * density[i]
    p[j], density[j], z[j] = 0.0, 0.0, 0.0


@compiled
def count(beats: Array, chances: Array, moved: Array) -> None:
    """Fill `chances` with P(rank of j is r) before document i is counted, at [i, r], by the recursion.

    `moved` becomes the first and second derivative of the distribution by s_j; that of P(i beats j) is −beats[1].
    """
    n, k, first, second = beats.shape[1], chances.shape[1], moved[0], moved[1]
    clear(first, second)
    for r in range(k):
        chances[0, r] = 1.0 if r == 0 else 0.0
    for i in range(n):
        p, slope, bend, before, after = beats[0, i], beats[1, i], beats[2, i], chances[i], chances[i + 1]
        for r in range(k - 1, 0, -1):
            step, step_1, step_2 = before[r - 1] - before[r], first[r - 1] - first[r], second[r - 1] - second[r]
            second[r] = _flush(second[r] + p * step_2 + bend * step - 2.0 * slope * step_1)
            first[r] = _flush(first[r] + p * step_1 - slope * step)
            after[r] = _flush(before[r] + p * step)
        second[0] = _flush(second[0] - p * second[0] - bend * before[0] + 2.0 * slope * first[0])
        first[0] = _flush(first[0] - p * first[0] + slope * before[0])
        after[0] = _flush(before[0] - p * before[0])


@compiled
def _flush(x: float) -> Any:
    """x, or 0 if it is negligible: arithmetic on subnormal numbers is slow."""
    return 0.0 if abs(x) <= 1e-150 else x  # NaN stays NaN


@compiled
def _add_row(
    j: int,
    weight: float,
    sigma: float,
    discount: Array,
    beats: Array,
    chances: Array,
    bent: Array,
    gradient: Array,
    curvature: Array,
) -> None:
    """Add the derivatives of −weight·E D(rank of j), and bounds of the second ones to the curvature.

    Back-propagation of D through the recursion gives ∂E D(rank of j)/∂P(i beats j), at most 0.
    """
    k, scale, after, own, bend = chances.shape[1], 1.0 / (math.sqrt(2.0) * sigma), discount.copy(), 0.0, 0.0
    for i in range(len(gradient) - 1, -1, -1):
        p, slope = beats[0, i], 0.0
        for r in range(k):
            step = after[r + 1] - after[r]
            slope += chances[i, r] * step
            after[r] = _flush(after[r] + p * step)
        force = weight * slope * beats[1, i]
        gradient[i] -= force
        curvature[i] += abs(weight * slope * beats[2, i]) - force * scale
        own += force
    for r in range(k):
        bend += discount[r] * bent[r]
    gradient[j] += own
    curvature[j] += max(-own * scale, -weight * bend)


@register
class SoftRank(Loss):
    """1 − the expected NDCG@k under normal noise on the scores.

    Formula: L = 1 − Σ_j (2^{y_j} − 1) Σ_{r=1}^{k} p_j(r)/log2(r + 1) / ideal DCG@k, p_j by the recursion
        over π_ij = Φ((s_i − s_j)/(√2σ)).
    Ties: documents of equal grade are compared like others, as the metric does; a query whose grades are all equal
        contributes 0.
    Cost: O(n·k) per relevant document, so O(n²k) per query at most.
    Use it for: optimising NDCG itself; σ sets how far apart scores must be to count as ordered.
    Distribution: scores have Thurstone's noise. The recursion takes the events that others beat j as independent, which
        they are only given S_j: `distributions.Thurstone` has the exact marginals. Training does not maximise a
        likelihood, so there are no odds (probabilities of ranks); the loss thurstone has them.
    Curvature: a bound, since the second derivative of a rank has both signs.
    Reference: Taylor, Guiver, Robertson & Minka, SoftRank: optimizing non-smooth rank metrics, WSDM 2008.
    """

    sigma: float = param(default=1.0, above=0, search=(0.1, 3.0, "log"))
    """Standard deviation of each score."""
    k: int | None = param(default=10, least=1)
    """Cut-off of NDCG; none for all ranks."""
    grades = staticmethod(over_grades)
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"

    def kernel_constants(self, labels: Array) -> Array:
        check_gains(self.name, labels)
        return super().kernel_constants(labels)

    def soft_ranks(self, scores: ArrayLike) -> Array:
        """Distributions of ranks by the recursion, p_j(r + 1) at [j, r]; each row sums to 1."""  # (n, n)
        s = np.array(scores, np.float64)
        n = len(s)
        beats, chances, moved, ranks = np.empty((3, n)), np.empty((n + 1, n)), np.empty((2, n)), np.empty((n, n))
        for j in range(n):
            compare(s, j, self.sigma, beats)
            count(beats, chances, moved)
            ranks[j] = chances[-1]
        return ranks
