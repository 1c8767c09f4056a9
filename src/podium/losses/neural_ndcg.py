"""NeuralNDCG (Pobrotyn & Białobrzeski, 2021): NDCG of a smooth permutation matrix, made by NeuralSort and Sinkhorn.

>>> from podium.losses import NeuralNDCG
>>> round(NeuralNDCG(tau=0.01)([2.0, 1.0], [0, 1]).value, 4)  # 1 − NDCG = 1 − 1/log2 3, as τ is small
0.3691
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.jit.sorting import argsort_descending
from podium.kernels.blocks import by_grade_and_score, clear, take
from podium.kernels.check_gains import check_gains
from podium.kernels.draws import share, start
from podium.kernels.noise import GUMBEL, perturb
from podium.kernels.sums import dot
from podium.losses.base import Loss
from podium.losses.order_of_ties import order_of_ties
from podium.metrics.gains import exp2_gain
from podium.metrics.kernels import log2_discount

TAU, K, SCALE, SAMPLES, BETA, SEED = range(6)
"""Indices in params[0]."""
SMALL = 40.0
"""Entries of a row below e^−40 times its largest are 0."""
LEAST = 1e-10
"""Smallest sum of a column that is divided by."""


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    """1 − NDCG@k of the smooth permutation, or its mean over noisy scores; 0 if all grades are equal."""
    clear(gradient, curvature)
    order, ends = by_grade_and_score(scores, labels)
    n, samples, value = len(scores), max(int(params[0, SAMPLES]), 1), 0.0
    if n < 2 or ends[0] == n:
        return 0.0
    s, y, state, ranked = take(scores, order), take(labels, order), start(params[0, SEED], ends), np.empty(n, np.int64)
    weights, slope, bend, z = discounts(y, params), np.empty(n), np.empty(n), np.empty(n)
    for _ in range(samples):
        if params[0, SAMPLES] > 0.0:
            state = perturb(s, GUMBEL, params[0, BETA], state, z)
            argsort_descending(z, ranked)
            z = take(z, ranked)
            for p in range(n):
                ranked[p] = order[ranked[p]]
        else:
            ranked = order_of_ties(scores, labels)[0]
            z = take(scores, ranked)
        value += one_list(z, take(labels, ranked), weights, params, slope, bend)
        for p in range(n):
            gradient[ranked[p]] -= slope[p] / samples
            curvature[ranked[p]] += bend[p] / samples
    share(scores, order, ends, gradient)
    share(scores, order, ends, curvature)
    return 1.0 - value / samples


@compiled
def discounts(descending: Array, params: Array) -> Any:
    """D(r)/ideal DCG@k for the first k ranks, else 0."""
    n, weights, ideal = len(descending), np.zeros(len(descending)), 0.0
    for r in range(n if params[0, K] < 0.0 else min(n, int(params[0, K]))):
        weights[r] = log2_discount(r + 1.0)
        ideal += exp2_gain(descending[r]) * weights[r]
    for r in range(n):
        weights[r] /= ideal
    return weights


@compiled
def one_list(s: Array, y: Array, weights: Array, params: Array, slope: Array, bend: Array) -> Any:
    """NDCG of documents in descending order of scores; fills in its derivatives, and a bound of the second ones.

    Sinkhorn's matrix is diag(u)·P·diag(c). A round sets c to 1 over the sums of columns, then u to 1 over those of
    rows; its reverse needs the c and u before and after it, and adds two products of vectors to ∂/∂P.
    """
    n, rounds, value = len(s), int(params[0, SCALE]), 0.0
    P, D, lo, hi = np.empty((n, n)), np.empty((n, n)), np.empty(n, np.int64), np.empty(n, np.int64)
    neural_sort(s, params[0, TAU], P, lo, hi)
    c, u, sums = np.ones((rounds + 1, n)), np.ones((rounds + 1, n)), np.empty(n)
    for t in range(rounds):
        _columns(P, lo, hi, u[t], sums)
        _inverse(sums, c[t + 1])
        _rows(P, lo, hi, c[t + 1], sums)
        _inverse(sums, u[t + 1])
    last_c, last_u, dc, du = c[rounds], u[rounds], np.zeros(n), np.zeros(n)
    for r in range(n):
        for i in range(lo[r], hi[r]):
            D[r, i] = weights[r] * exp2_gain(y[i])
            term = D[r, i] * P[r, i]
            value += term * last_u[r] * last_c[i]
            du[r] += term * last_c[i]
            dc[i] += term * last_u[r]
            D[r, i] *= last_u[r] * last_c[i]
    for t in range(rounds, 0, -1):
        _step_back(P, lo, hi, c[t], u[t], u[t - 1], dc, du, D)
    _to_scores(s, P, D, lo, hi, last_c, last_u, params[0, TAU], slope, bend)
    return value


@compiled
def neural_sort(s: Array, tau: float, P: Array, lo: Ints, hi: Ints) -> None:
    """Rows softmax_i(((n + 1 − 2r)s_i − Σ_j |s_i − s_j|)/τ) of sorted scores, from lo to hi; elsewhere they are 0.

    From the largest entry, i = r, exponents fall by (s_i − s_{i+1})|2i + 1 − 2r|/τ from each document to the next.
    """
    n = len(s)
    for r in range(n):
        P[r, r], total, lo[r], hi[r], x = 1.0, 1.0, r, r + 1, 0.0
        while hi[r] < n and x < SMALL:
            x += (s[hi[r] - 1] - s[hi[r]]) * (2.0 * (hi[r] - r) - 1.0) / tau
            P[r, hi[r]] = math.exp(-x)
            total += P[r, hi[r]]
            hi[r] += 1
        x = 0.0
        while lo[r] > 0 and x < SMALL:
            x += (s[lo[r] - 1] - s[lo[r]]) * (2.0 * (r - lo[r]) + 1.0) / tau
            lo[r] -= 1
            P[r, lo[r]] = math.exp(-x)
            total += P[r, lo[r]]
        for i in range(lo[r], hi[r]):
            P[r, i] /= total


@compiled
def _columns(P: Array, lo: Ints, hi: Ints, u: Array, out: Array) -> None:
    """Fill `out` with Pᵀu."""
    for i in range(len(out)):
        out[i] = 0.0
    for r in range(len(out)):
        _add_times(u[r], P[r, lo[r] : hi[r]], out[lo[r] : hi[r]])


@compiled
def _add_times(factor: float, values: Array, out: Array) -> None:
    for i in range(len(values)):
        out[i] += factor * values[i]


@compiled
def _rows(P: Array, lo: Ints, hi: Ints, c: Array, out: Array) -> None:
    """Fill `out` with Pc."""
    for r in range(len(out)):
        out[r] = dot(P[r, lo[r] : hi[r]], c[lo[r] : hi[r]])  # type: ignore[arg-type]


@compiled
def _inverse(sums: Array, out: Array) -> None:
    for i in range(len(sums)):
        out[i] = 1.0 / max(sums[i], LEAST)


@compiled
def _step_back(
    P: Array, lo: Ints, hi: Ints, c: Array, u: Array, before: Array, dc: Array, du: Array, D: Array
) -> None:  # fmt: skip
    """Reverse of a round: from ∂/∂c and ∂/∂u after it to ∂/∂u before it, in `du`; adds to ∂/∂P, and sets `dc` to 0."""
    n = len(c)
    for r in range(n):
        du[r] *= -u[r] * u[r] if u[r] * LEAST < 1.0 else 0.0
        _add_times(du[r], P[r, lo[r] : hi[r]], dc[lo[r] : hi[r]])
        _add_times(du[r], c[lo[r] : hi[r]], D[r, lo[r] : hi[r]])
    for i in range(n):
        dc[i] *= -c[i] * c[i] if c[i] * LEAST < 1.0 else 0.0
    for r in range(n):
        du[r] = dot(P[r, lo[r] : hi[r]], dc[lo[r] : hi[r]])  # type: ignore[arg-type]
        _add_times(before[r], dc[lo[r] : hi[r]], D[r, lo[r] : hi[r]])
    for i in range(n):
        dc[i] = 0.0


@compiled
def _to_scores(
    s: Array, P: Array, D: Array, lo: Ints, hi: Ints, c: Array, u: Array, tau: float, slope: Array, bend: Array
) -> None:  # fmt: skip
    """Derivatives by scores from ∂/∂P, through the gaps between neighbours; and a bound of the second ones.

    An entry of Sinkhorn's matrix Q has the effect e = ∂/∂log Q after rows and columns have been divided by their sums.
    For the score at place k, exponents of row r change by 1/τ above k, −1/τ below, and 2(k − r)/τ at k; the second
    derivative is at most max |e| times the sum of the variances of that over the rows.
    """
    n, largest = len(s), 0.0
    clear(slope, bend)
    for r in range(n):
        mean = 0.0
        for i in range(lo[r], hi[r]):
            mean += P[r, i] * D[r, i]
        for i in range(lo[r], hi[r]):
            largest = max(largest, abs(D[r, i] - mean) / (u[r] * c[i]))
            D[r, i] = P[r, i] * (D[r, i] - mean)  # ∂ by the exponent
        moved = 0.0
        for m in range(hi[r] - 2, r - 1, -1):  # the gap of places m and m + 1 moves all entries below it
            moved += D[r, m + 1]
            _add_gap(m, -moved * (2.0 * (m - r) + 1.0) / tau, slope)
        moved = 0.0
        for m in range(lo[r], r):
            moved += D[r, m]
            _add_gap(m, -moved * (2.0 * (r - m) - 1.0) / tau, slope)
        above = 0.0
        for k in range(lo[r], hi[r]):
            own = P[r, k] * u[r] * c[k]
            below, move = max(1.0 - above - own, 0.0), 2.0 * (k - r)
            mean = above - below + own * move
            bend[k] += (above + below + own * move * move - mean * mean) / (tau * tau)
            above += own
    for k in range(n):
        bend[k] = largest * max(bend[k], 0.0)


@compiled
def _add_gap(m: int, force: float, slope: Array) -> None:
    slope[m] += force
    slope[m + 1] -= force


@register
class NeuralNDCG(Loss):
    """1 − NDCG@k of a smooth permutation matrix of the documents, by NeuralSort, scaled by Sinkhorn's rounds.

    Formula: L = 1 − Σ_{r ≤ k} D(r) Σ_i Q_ri (2^{y_i} − 1)/ideal DCG@k, D(r) = 1/log2(1 + r). Row r of P is
        softmax_i(((n + 1 − 2r)s_i − Σ_j |s_i − s_j|)/τ), and Q is P after `scale` rounds of dividing columns, then
        rows, by their sums; P itself (PiRank, and TF-Ranking's loss) with `scale=0`. With `samples`, L is the mean over
        that many scores with β times Gumbel noise, from `seed`.
    Ties: equal scores have equal columns of P, and are ranked as in lambdarank for the gradient, which jumps there.
        Noise follows the order of grades, then of scores, so row order does not matter. Documents equal in both share
        their gradient. A query whose grades are all equal contributes 0.
        allRank stops the rounds early: its value is the same to 1e-6, but its gradient is not the derivative of it yet.
    Cost: O(scale·n·m) per query, m being the number of documents within reach of a rank, n at most; memory O(n²).
    Use it for: NDCG itself, smooth and bounded; as τ falls, it becomes 1 − NDCG. Not convex.
    Curvature: a bound at the limit of Sinkhorn's rounds.
    Reference: Pobrotyn & Białobrzeski, NeuralNDCG: direct optimisation of a ranking metric via differentiable
        relaxation of sorting, 2021; Swezey et al., PiRank: scalable learning to rank via differentiable sorting,
        NeurIPS 2021.
    """

    tau: float = param(default=1.0, above=0, search=(0.1, 10.0, "log"))
    """Temperature of the smooth permutation; the smaller, the nearer to NDCG."""
    k: int | None = param(default=None, least=1)
    """Cut-off of NDCG; none by default."""
    scale: int = param(default=50, least=0)
    """Rounds in which columns and rows are divided by their sums; 0 for none (PiRank)."""
    samples: int = param(default=0, least=0)
    """Noisy copies of the scores over which the loss is averaged; 0 for none."""
    beta: float = param(default=0.1, above=0)
    """Size of the noise."""
    seed: int = param(default=0, least=0)
    """Seed of what is drawn at random."""
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"
    grades = staticmethod(over_grades)

    def kernel_constants(self, labels: Array) -> Array:
        check_gains(self.name, labels)
        return super().kernel_constants(labels)

    @property
    def seed_at(self) -> int | None:
        return SEED if self.samples > 0 else None
