"""ListMLE (Xia et al., 2008): the Plackett–Luce likelihood of the order of labels, averaged over tie-breaks.

>>> from podium.losses import ListMLE
>>> round(ListMLE()([2.0, 1.0, 0.0], [2, 1, 0]).value, 4)  # log(1 + e^−1 + e^−2) + log(1 + e^−1)
0.7209
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.distributions import PlackettLuce
from podium.jit.compiled import compiled, outlined
from podium.kernels.blocks import bounds, by_grade_and_score, clear, filled, take
from podium.kernels.draws import share, shuffle, start
from podium.kernels.exponentials import exponentials
from podium.kernels.rotations import begin, rotations, sum_over_rotations
from podium.losses.base import Loss
from podium.losses.bounds import Bound, insertion_factor

FAR = 100.0
"""If scores are further apart, sums are computed by their logarithms."""
LOG2, EXP2 = 1.0, 2.0
"""Indices in the options of `weights`."""
LARGEST = 60
"""Largest exponent of the weights `exp2`."""


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    """Mean over tie-breaks of −Σ_{r ≤ k} w_r log(φ_r / Σ_{l ≥ r} φ_l), φ = e^s; 0 if all grades are equal.

    Documents below a block enter by their sum and those above not at all, so each block has its own tie-breaks.
    """
    clear(gradient, curvature)
    order, ends = by_grade_and_score(scores, labels)
    n = len(scores)
    if n == 0 or ends[0] == n:
        return 0.0
    ranks = n if params[0, 2] < 0.0 else min(n, int(params[0, 2]))
    low, high = bounds(scores)
    s = np.empty(n)
    for i in range(n):
        s[i] = scores[i] - high
    if high - low <= FAR and params[0, 3] == 0.0:
        value = _near(s, order, ends, ranks, gradient, curvature, params)
    else:
        value = _far(s, order, ends, ranks, gradient, curvature, params)
    for i in range(n):
        curvature[i] = max(curvature[i], 0.0)
    share(scores, order, ends, gradient)
    share(scores, order, ends, curvature)
    return value


@compiled
def _rank_weights(n: int, ranks: int, weights: float) -> Any:
    """w_r of each rank, 0 beyond the first `ranks`."""
    w = np.zeros(n)
    for r in range(ranks):
        w[r] = 1.0 / math.log2(2.0 + r) if weights == LOG2 else 2.0 ** min(n - r, LARGEST) - 1.0
        w[r] = w[r] if weights != 0.0 else 1.0
    return w


@outlined("float64(float64[::1], int64[::1], int64[::1], int64, float64[::1], float64[::1], float64[:, ::1])")
def _near(s: Array, order: Ints, ends: Ints, ranks: int, gradient: Array, curvature: Array, params: Array) -> float:
    """By sums of φ. With R_r = Σ_{l ≥ r} φ_l, document i has Σ_r φ_i/R_r − 1 and Σ_r φ_i/R_r − (φ_i/R_r)²."""
    n, state, value, first, above, above_2 = len(s), start(params[0, 1], ends), 0.0, 0, 0.0, 0.0
    phi, below, block, x = np.empty(n), np.zeros(n + 1), np.empty(n, np.int64), np.empty(2 * n)
    sums, work, largest_log = np.empty((3, 2 * n)), np.empty(8 * n), max(-bounds(s)[0], math.log(n))
    exponentials(take(s, order), 0.0, 1.0, phi)
    for p in range(n - 1, -1, -1):
        below[p] = below[p + 1] + phi[p]
    while first < n:
        end = ends[first]
        m, counted = end - first, min(max(ranks - first, 0), end - first)
        rounds, turns = rotations(m, params[0, 0])
        share, total, total_2 = 1.0 / (rounds * turns), 0.0, 0.0
        for p in range(first, end):
            block[p] = p
            _add_document(order[p], phi[p], above, above_2, 0.0, gradient, curvature)
        for _ in range(rounds if counted > 0 else 0):
            state = shuffle(block[first:end], state)
            for d in range(m):
                x[d] = phi[block[first + d]]
                x[m + d] = x[d]
            logs, inverse, inverse_2 = sum_over_rotations(
                x[: 2 * m], turns, below[end], counted, largest_log, work, sums
            )
            value, total, total_2 = value + logs * share, total + inverse * share, total_2 + inverse_2 * share
            for d in range(m):
                i, chosen = order[block[first + d]], sums[2, d] * share
                _add_document(i, x[d], sums[0, d] * share, sums[1, d] * share, chosen, gradient, curvature)
                value -= chosen * s[i]
        above, above_2, first = above + total, above_2 + total_2, end
    return value


@compiled
def _add_document(
    i: int, phi: float, stages: float, squares: float, chosen: float, gradient: Array, curvature: Array
) -> None:
    """Add Σ_r φ/R_r − the share of rankings that choose it, and Σ_r φ/R_r − (φ/R_r)²."""
    gradient[i] += phi * stages - chosen
    curvature[i] += phi * stages - phi * phi * squares


@outlined("float64(float64[::1], int64[::1], int64[::1], int64, float64[::1], float64[::1], float64[:, ::1])")
def _far(s: Array, order: Ints, ends: Ints, ranks: int, gradient: Array, curvature: Array, params: Array) -> float:
    """As `_near`, by logarithms of sums, because φ would underflow; and with weights of ranks."""
    n, state, value, first = len(s), start(params[0, 1], ends), 0.0, 0
    below, block, ranked, work = filled(n + 1, -np.inf), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    for p in range(n - 1, -1, -1):
        below[p] = _log_add(below[p + 1], s[order[p]])
    w = _rank_weights(n, ranks, params[0, 3])
    above, above_2 = 0.0, 0.0  # Σ over the stages above of R/R_r and (R/R_r)², R at the start of the block
    while first < n:
        end = ends[first]
        m, total, total_2 = end - first, 0.0, 0.0
        rounds, turns = rotations(m, params[0, 0])
        share = 1.0 / (rounds * turns)
        for p in range(m):
            block[p] = order[first + p]
        for way in range(rounds * turns):
            if way % turns == 0:
                state = shuffle(block[:m], state)
            for p in range(m):
                ranked[p] = block[(begin(way % turns, m, turns) + p) % m]
            entering = above, above_2, below[end], share
            v, inverse, inverse_2 = one_wide_ranking(s, ranked[:m], w[first:end], entering, gradient, curvature, work)
            value, total, total_2 = value + v * share, total + inverse * share, total_2 + inverse_2 * share
        above, above_2, first = total, total_2, end
    return value


@compiled
def _log_add(a: float, b: float) -> Any:
    """log(e^a + e^b), b finite."""
    return max(a, b) + math.log1p(math.exp(min(a, b) - max(a, b)))


@compiled
def one_wide_ranking(
    s: Array, ranked: Ints, weights: Array, entering: tuple[float, float, float, float],
    gradient: Array, curvature: Array, rest: Array,
) -> Any:  # fmt: skip
    """Σ_r w_r(log R_r − s_r) of one ranking, R_r = Σ_{l ≥ r} φ_l by its logarithm; adds its weighted derivatives.

    `entering` are Σ R_1/R_r and Σ (R_1/R_r)² over the stages before the ranking, log Σ φ of the documents after it, and
    the weight. Returns the value and the two sums for the documents after it.
    """
    stages, squares, after, weight = entering
    value, log_rest = 0.0, after
    for p in range(len(ranked) - 1, -1, -1):
        log_rest = _log_add(log_rest, s[ranked[p]])
        rest[p] = log_rest
        value += weights[p] * (log_rest - s[ranked[p]])
    for p in range(len(ranked)):
        i, counts = ranked[p], weights[p]
        shrink = math.exp(rest[p] - rest[p - 1]) if p > 0 else 1.0
        stages, squares = counts + stages * shrink, counts + squares * shrink * shrink
        e = math.exp(s[i] - rest[p])
        gradient[i] += weight * (e * stages - counts)
        curvature[i] += weight * (e * stages - e * e * squares)
    shrink = math.exp(after - rest[len(ranked) - 1])
    return value, stages * shrink, squares * shrink * shrink


@register
class ListMLE(Loss):
    """Negative log-likelihood of the order of labels under Plackett–Luce, averaged over the orders of equal grades.

    Formula: L = −Σ_r log(φ_r / Σ_{l ≥ r} φ_l), documents in order of grade, φ = e^s; over the first k ranks if
        `k` is given. `weights` multiply the terms: 1/log2(1 + r) (`log2`), or 2^{n−r+1} − 1 (`exp2`, p-ListMLE; the
        exponent is 60 at most).
    Ties: the mean of L over at most `samples` orders of each block, which are random cyclic orders with evenly
        spaced starts; exact for blocks of up to three documents. They are drawn from `seed` relative to the order of
        scores within a block, so they are the same in every call and row order does not matter; L is continuous, with
        slight kinks where scores of one block cross. Stochastic solvers draw again in every step.
        A query whose grades are all equal contributes 0.
    Cost: O(samples · n) per query after sorting; O(n) without ties.
    Use it for: full rankings, and graded labels with few ties; pmop-fd models ties instead of averaging over them.
    Reference: Xia et al., Listwise approach to learning to rank: theory and algorithm, ICML 2008; weights: Lan et
        al., Position-aware ListMLE, UAI 2014.
    """

    samples: int = param(default=12, least=1)
    """Most orders of equal grades over which the loss is averaged."""
    seed: int = param(default=0, least=0)
    """Seed of what is drawn at random."""
    k: int | None = param(default=None, least=1)
    """Ranks that count, from the top; all by default."""
    weights: Literal["none", "log2", "exp2"] = "none"
    """Weights of the ranks: all 1, 1/log2(1 + r), or 2^(n − r + 1) − 1."""
    convex = True
    grades = staticmethod(over_grades)

    def bounds(self) -> tuple[Bound, ...]:
        if self.k is not None or self.weights != "none":
            return ()
        return (Bound("ndcg", "1 − ndcg ≤ K·L/ln 2", lambda v, y: 1.0 - insertion_factor(y) * v / math.log(2.0)),)

    def consistent_for(self) -> tuple[str, ...]:
        return ("the order of labels (permutation 0–1 loss)",) if self.k is None and self.weights == "none" else ()

    def rank_distribution(self) -> tuple[PlackettLuce, float] | None:
        return (PlackettLuce(), 1.0) if self.weights == "none" else None
