"""SoftRank (Taylor et al., 2008): expected NDCG where scores are uncertain, so that ranks are and it is smooth.

Document i scores N(s_i, σ²), so it beats j with π_ij = Φ((s_i − s_j)/(√2σ)). Taken as independent, the others that beat
j give its rank a distribution by a recursion, one document after another:

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

from podium.arrays import Array
from podium.compiled import compiled
from podium.kernels.blocks import bounds, clear
from podium.kernels.gains import check_gains
from podium.losses.base import Loss
from podium.metrics.kernels import exp2_gain, log2_discount
from podium.ranking import sort_descending
from podium.registry import param, register


@compiled
def over_grades(scores: Any, labels: Any, gradient: Any, curvature: Any, params: Any) -> float:
    """1 − Σ_j g_j Σ_{r < k} D(r) p_j(r) / ideal DCG@k; 0 where grades are equal."""
    clear(gradient, curvature)
    worst, best = bounds(labels)
    if worst == best:
        return 0.0
    n, sigma = len(scores), params[0, 0]
    k = n if params[0, 1] < 0.0 else min(n, int(params[0, 1]))
    discount, largest = _discounts(labels, k)
    beats = np.empty((3, n))  # π_ij and its two derivatives by s_i
    chances, moved, slope, value = np.zeros((n + 1, k)), np.zeros((2, k)), np.empty(n), 1.0
    for j in range(n):
        weight = exp2_gain(labels[j]) / largest
        if weight > 0.0:
            _beats(scores, j, sigma, beats)
            expected, bent = _forward(beats, discount, chances, moved)
            _backward(beats, discount, chances, slope)
            value -= weight * expected
            _add_row(beats, j, slope, bent, weight, sigma, gradient, curvature)
    return value


@compiled
def _discounts(labels: Any, k: Any) -> Any:
    """1/log2(r + 2) for r < k, then a 0; and the ideal DCG@k."""
    descending, discount, largest = np.empty(len(labels)), np.zeros(k + 1), 0.0
    sort_descending(labels, descending)
    for r in range(k):
        discount[r] = log2_discount(r + 1.0)
        largest += exp2_gain(descending[r]) * discount[r]
    return discount, largest


@compiled
def _beats(scores: Any, j: Any, sigma: Any, beats: Any) -> None:
    """P(i beats j) for all i, with its first and second derivative by s_i; a document never beats itself."""
    for i in range(len(scores)):
        z = (scores[i] - scores[j]) / (math.sqrt(2.0) * sigma)
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        beats[0, i] = 0.5 * math.erfc(-z * math.sqrt(0.5))
        beats[1, i] = density / (math.sqrt(2.0) * sigma)
        beats[2, i] = -z * density / (2.0 * sigma * sigma)
    for order in range(3):
        beats[order, j] = 0.0


_NEVER = 1e-150  # a probability that makes no difference


@compiled
def _forward(beats: Any, discount: Any, chances: Any, moved: Any) -> Any:
    """P(rank of j) before document i is counted, at chances[i]; E D(rank) and its second derivative by s_j.

    `moved` follows the first and second derivative of the distribution by s_j along the same recursion.
    """
    k = chances.shape[1]
    chances[0, :], moved[:, :] = 0.0, 0.0
    chances[0, 0] = 1.0
    for i in range(len(beats[0])):
        p, slope, bend = beats[0, i], -beats[1, i], beats[2, i]
        for r in range(min(i + 1, k - 1), 0, -1):
            step, step_1 = chances[i, r - 1] - chances[i, r], moved[0, r - 1] - moved[0, r]
            moved[1, r] += p * (moved[1, r - 1] - moved[1, r]) + 2.0 * slope * step_1 + bend * step
            moved[0, r] += p * step_1 + slope * step
            chances[i + 1, r] = chances[i, r] + p * step
        moved[1, 0] += -p * moved[1, 0] - 2.0 * slope * moved[0, 0] - bend * chances[i, 0]
        moved[0, 0] += -p * moved[0, 0] - slope * chances[i, 0]
        chances[i + 1, 0] = (1.0 - p) * chances[i, 0]
        for r in range(i + 2, k):
            chances[i + 1, r] = 0.0
        if np.sum(chances[i + 1]) < _NEVER:  # too many beat j: of numbers near 0 every step would be slow
            chances[i + 1 :], moved[:, :] = 0.0, 0.0
            break
    expected, bent = 0.0, 0.0
    for r in range(k):
        expected += discount[r] * chances[-1, r]
        bent += discount[r] * moved[1, r]
    return expected, bent


@compiled
def _backward(beats: Any, discount: Any, chances: Any, slope: Any) -> None:
    """∂E D(rank)/∂π_ij for all i, from D carried back through the recursion."""
    k, after = chances.shape[1], discount.copy()
    for i in range(len(slope) - 1, -1, -1):
        p, total = beats[0, i], 0.0
        for r in range(k):
            step = after[r + 1] - after[r]
            total += chances[i, r] * step
            after[r] += p * step
        slope[i] = total
        if after[0] < _NEVER:
            slope[:i] = 0.0
            break


@compiled
def _add_row(beats: Any, j: Any, slope: Any, bent: Any, weight: Any, sigma: Any, gradient: Any, curvature: Any) -> None:
    """Add the derivatives of −weight·E D(rank of j), and for the curvature bounds of its second ones."""
    mine, bound = 0.0, 0.0
    for i in range(len(slope)):
        force = weight * slope[i] * beats[1, i]  # at most 0: whoever beats j costs it
        width = force / (math.sqrt(2.0) * sigma)
        gradient[i] -= force
        curvature[i] += abs(weight * slope[i] * beats[2, i]) - width
        mine += force
        bound -= width
    gradient[j] += mine
    curvature[j] += max(bound, -weight * bent)


@register
class SoftRank(Loss):
    """1 − the expected NDCG@k of documents whose scores are normal variables.

    Formula: L = 1 − Σ_j (2^{y_j} − 1) Σ_{r=1}^{k} p_j(r)/log2(r + 1) / ideal DCG@k, p_j by the recursion
        over π_ij = Φ((s_i − s_j)/(√2σ)).
    Ties: documents of equal grade are compared like others, as the measure does; a query whose grades are all equal
        contributes 0.
    Cost: O(n·k) per relevant document, so O(n²k) per query at most.
    Use it for: optimising NDCG itself; σ sets how far apart scores must be to count as ordered.
    Distribution: scores have Thurstone's noise. The recursion takes the others that beat j as independent; they are so
        only given S_j: `distributions.Thurstone` has the exact marginals. Training does not make the grades' order
        likely, so it is no source of odds; the loss thurstone is.
    Curvature: a bound, since ranks bend both ways.
    Reference: Taylor, Guiver, Robertson & Minka, SoftRank: optimizing non-smooth rank metrics, WSDM 2008.
    """

    sigma: float = param(default=1.0, above=0, search=(0.1, 3.0, "log"))
    """The standard deviation of each score."""
    k: int | None = param(default=10, least=1)
    grades = staticmethod(over_grades)
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"

    def kernel_constants(self, labels: Array) -> Array:
        check_gains(self.name, labels)
        return super().kernel_constants(labels)

    def soft_ranks(self, scores: ArrayLike) -> Array:
        """p_j(r + 1) at [j, r], the distributions of ranks by the recursion; each row sums to 1."""  # (n, n)
        s = np.array(scores, np.float64)
        n = len(s)
        found, chances, beats = np.empty((n, n)), np.zeros((n + 1, n)), np.empty((3, n))
        for j in range(n):
            _beats(s, j, self.sigma, beats)
            _forward(beats, np.zeros(n + 1), chances, np.zeros((2, n)))
            found[j] = chances[-1]
        return found
