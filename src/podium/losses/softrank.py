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
from podium.kernels.blocks import bounds, clear, take
from podium.kernels.exponentials import exponentials
from podium.kernels.gains import check_gains
from podium.kernels.normal import cdfs
from podium.kernels.vectors import LANES, flush, load, splat, store
from podium.losses.base import Loss
from podium.metrics.kernels import exp2_gain, log2_discount
from podium.ranking import sort_descending
from podium.registry import param, register


@compiled
def over_grades(scores: Any, labels: Any, gradient: Any, curvature: Any, params: Any) -> float:
    """1 − Σ_j g_j Σ_{r < k} D(r) p_j(r) / ideal DCG@k; 0 where grades are equal. Eight documents j at a time."""
    clear(gradient, curvature)
    worst, best = bounds(labels)
    if worst == best:
        return 0.0
    n, value, first = len(scores), 1.0, 0
    k = n if params[0, 1] < 0.0 else min(n, int(params[0, 1]))
    discount, largest = _discounts(labels, k)
    mine, weights = np.empty(LANES, np.int64), np.empty(LANES)
    beats, chances, moved = np.empty((3, n * LANES)), np.empty((n + 1) * k * LANES), np.empty((2, k * LANES))
    while first < n:
        first, used = _choose(labels, largest, first, mine, weights)
        compare(scores, mine, params[0, 0], beats)
        count(beats[0], beats[1], beats[2], chances, moved[0], moved[1])
        for r in range(k):
            for j in range(used):
                value -= weights[j] * discount[r] * chances[(n * k + r) * LANES + j]
        _add_rows(mine[:used], weights, params[0, 0], discount, beats, chances, moved[1], gradient, curvature)
    return value


@compiled
def _choose(labels: Any, largest: Any, first: Any, mine: Any, weights: Any) -> Any:
    """Fill in the next relevant documents from `first` on and their weights; where to go on, and how many they are."""
    used = 0
    while first < len(labels) and used < LANES:
        gain = exp2_gain(labels[first])
        if gain > 0.0:
            mine[used], weights[used] = first, gain / largest
            used += 1
        first += 1
    for j in range(used, LANES):
        mine[j], weights[j] = 0, 0.0
    while first < len(labels) and not exp2_gain(labels[first]) > 0.0:
        first += 1
    return first, used


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
def compare(scores: Any, mine: Any, sigma: Any, beats: Any) -> None:
    """Fill in P(i beats j) for the documents j that are `mine`, at [0, 8i + lane], and its two derivatives by s_i.

    A document never beats itself.
    """
    n, scale, squares = len(scores), 1.0 / (math.sqrt(2.0) * sigma), np.empty(len(scores) * LANES)
    p, density, z, s = beats[0], beats[1], beats[2], take(scores, mine)
    for i in range(n):
        for j in range(LANES):
            z[i * LANES + j] = (scores[i] - s[j]) * scale
    for e in range(len(squares)):
        squares[e] = z[e] * z[e]
    exponentials(squares, 0.0, -0.5, density)
    cdfs(z, density, p)
    for e in range(len(density)):
        density[e] *= scale / math.sqrt(2.0 * math.pi)
    for e in range(len(density)):
        z[e] *= -scale * density[e]
    for j in range(LANES):
        at = mine[j] * LANES + j
        p[at], density[at], z[at] = 0.0, 0.0, 0.0


@compiled
def count(p: Any, slope: Any, bend: Any, chances: Any, moved: Any, bent: Any) -> None:
    """P(rank of j is r) before document i is counted, at chances[8(ik + r) + lane], by the recursion.

    `moved` and `bent` follow the first and second derivative of the distribution by s_j along it; that of P(i beats j)
    is −slope. A rank that no document can have yet has probability 0.
    """
    n, k, nothing, twice = len(p) // LANES, len(moved) // LANES, splat(0.0), splat(2.0)
    for r in range(k):
        store(chances, r * LANES, splat(1.0) if r == 0 else nothing)
        store(moved, r * LANES, nothing)
        store(bent, r * LANES, nothing)
    for i in range(n):
        now, last = i * k, min(i + 1, k - 1)
        pi, slope_i, bend_i = load(p, i * LANES), load(slope, i * LANES), load(bend, i * LANES)
        here, here_1, here_2 = load(chances, (now + last) * LANES), load(moved, last * LANES), load(bent, last * LANES)
        for r in range(last, -1, -1):
            up, up_1, up_2 = nothing, nothing, nothing
            if r > 0:
                up, up_1 = load(chances, (now + r - 1) * LANES), load(moved, (r - 1) * LANES)
                up_2 = load(bent, (r - 1) * LANES)
            step, step_1 = up - here, up_1 - here_1
            store(bent, r * LANES, flush(here_2 + pi * (up_2 - here_2) + bend_i * step - twice * slope_i * step_1))
            store(moved, r * LANES, flush(here_1 + pi * step_1 - slope_i * step))
            store(chances, (now + k + r) * LANES, flush(here + pi * step))
            here, here_1, here_2 = up, up_1, up_2
        for r in range(last + 1, k):
            store(chances, (now + k + r) * LANES, nothing)


@compiled
def _add_rows(
    mine: Any, weights: Any, sigma: Any, discount: Any, beats: Any, chances: Any, bent: Any,
    gradient: Any, curvature: Any,
) -> None:  # fmt: skip
    """Add the derivatives of −Σ_j weight·E D(rank of j), and for the curvature bounds of its second ones.

    D is carried back through the recursion, which gives ∂E D(rank of j)/∂P(i beats j), at most 0.
    """
    n, k, scale = len(gradient), len(discount) - 1, 1.0 / (math.sqrt(2.0) * sigma)
    after, slope, own = np.empty((k + 1) * LANES), np.empty(LANES), np.zeros(LANES)
    for r in range(k + 1):
        store(after, r * LANES, splat(discount[r]))
    for i in range(n - 1, -1, -1):
        p, total, here = load(beats[0], i * LANES), splat(0.0), load(after, 0)
        for r in range(k):
            next_rank = load(after, (r + 1) * LANES)
            step = next_rank - here
            total = total + load(chances, (i * k + r) * LANES) * step
            store(after, r * LANES, flush(here + p * step))
            here = next_rank
        store(slope, 0, total)
        for j in range(len(mine)):
            force = weights[j] * slope[j] * beats[1, i * LANES + j]
            gradient[i] -= force
            curvature[i] += abs(weights[j] * slope[j] * beats[2, i * LANES + j]) - force * scale
            own[j] += force
    for j in range(len(mine)):
        bend = 0.0
        for r in range(k):
            bend += discount[r] * bent[r * LANES + j]
        gradient[mine[j]] += own[j]
        curvature[mine[j]] += max(-own[j] * scale, -weights[j] * bend)


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
        beats, chances, moved = np.empty((3, n * LANES)), np.empty((n + 1) * n * LANES), np.empty((2, n * LANES))
        found = np.empty((n, n))
        for first in range(0, n, LANES):
            mine = np.arange(first, first + LANES) % n
            compare(s, mine, self.sigma, beats)
            count(beats[0], beats[1], beats[2], chances, moved[0], moved[1])
            found[mine] = chances.reshape(n + 1, n, LANES)[-1].T
        return found
