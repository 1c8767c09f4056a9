"""ListMLE (Xia et al., 2008): the likelihood of the labels' order under Plackett–Luce, averaged over how ties break.

>>> from podium.losses import ListMLE
>>> round(ListMLE()([2.0, 1.0, 0.0], [2, 1, 0]).value, 4)  # log(1 + e^−1 + e^−2) + log(1 + e^−1)
0.7209
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.compiled import compiled
from podium.distributions import PlackettLuce
from podium.kernels.blocks import bounds, by_grade_and_score, clear, count_edges
from podium.kernels.draws import share, shuffle_blocks, start
from podium.losses.base import Loss
from podium.registry import param, register

FAR = 300.0
"""Scores further apart than this are summed by their logarithms."""


@compiled
def over_grades(scores: Any, labels: Any, gradient: Any, curvature: Any, params: Any) -> Any:
    """Mean over tie-breaks of −Σ_{r ≤ k} log(φ_r / Σ_{l ≥ r} φ_l), φ = e^s; 0 where all grades are equal."""
    clear(gradient, curvature)
    order, ends = by_grade_and_score(scores, labels)
    n, samples = len(scores), int(params[0, 0])
    if n == 0 or ends[0] == n:
        return 0.0
    state, places = start(params[0, 1], ends), n if params[0, 2] < 0.0 else min(n, int(params[0, 2]))
    if count_edges(ends) == n * (n - 1) // 2:
        samples = 1  # no ties
    low, high = bounds(scores)
    s, phi, ranked, work, value = np.empty(n), np.empty(n), np.empty(n, np.int64), np.empty(n), 0.0
    for i in range(n):
        s[i], ranked[i] = scores[i] - high, order[i]
        phi[i] = math.exp(s[i])
    for _ in range(samples):
        state = shuffle_blocks(ranked, ends, state)
        if high - low <= FAR:
            value += _one_ranking(phi, ranked, places, gradient, curvature, work)
        else:
            value += one_wide_ranking(s, ranked, places, gradient, curvature, work)
        for p in range(places):
            value -= s[ranked[p]]
            gradient[ranked[p]] -= 1.0
    for i in range(n):
        gradient[i] /= samples
        curvature[i] = max(curvature[i] / samples, 0.0)
    share(scores, order, ends, gradient)
    share(scores, order, ends, curvature)
    return value / samples


@compiled
def _one_ranking(phi: Any, ranked: Any, places: Any, gradient: Any, curvature: Any, rest: Any) -> float:
    """Σ_{r ≤ k} log R_r, R_r = Σ_{l ≥ r} φ_l, of one ranking; adds Σ_r p_ir and Σ_r p_ir(1 − p_ir), p = φ_i/R_r."""
    total, value, product = 0.0, 0.0, 1.0
    for p in range(len(ranked) - 1, -1, -1):
        total += phi[ranked[p]]
        rest[p] = total
        if p < places:
            product *= total  # one logarithm for many factors
            if product < 1e-150 or product > 1e150:
                value += math.log(product)
                product = 1.0
    stages, squares = 0.0, 0.0
    for p in range(len(ranked)):
        i, r = ranked[p], 1.0 / rest[p] if p < places else 0.0
        stages += r
        squares += r * r
        gradient[i] += phi[i] * stages
        curvature[i] += phi[i] * stages - phi[i] * phi[i] * squares
    return value + math.log(product)


@compiled
def one_wide_ranking(s: Any, ranked: Any, places: Any, gradient: Any, curvature: Any, rest: Any) -> float:
    """The same where φ would underflow: R_r by its logarithm, the sums over r scaled by R_r."""
    value, log_rest = 0.0, -np.inf
    for p in range(len(ranked) - 1, -1, -1):
        mine = s[ranked[p]]
        high = max(log_rest, mine)
        log_rest = high + math.log1p(math.exp(min(log_rest, mine) - high))
        rest[p] = log_rest
        value += log_rest if p < places else 0.0
    stages, squares = 0.0, 0.0
    for p in range(len(ranked)):
        i, counts = ranked[p], 1.0 if p < places else 0.0
        shrink = math.exp(rest[p] - rest[p - 1]) if p > 0 else 0.0
        stages, squares = counts + stages * shrink, counts + squares * shrink * shrink
        e = math.exp(s[i] - rest[p])
        gradient[i] += e * stages
        curvature[i] += e * stages - e * e * squares
    return value


@register
class ListMLE(Loss):
    """The negative log-likelihood of the labels' order; a block of equal grades is averaged over its orders.

    Formula: L = −Σ_r log(φ_r / Σ_{l ≥ r} φ_l), documents in order of grade, φ = e^s; over the first k places where
        `k` is given.
    Ties: the mean of L over `samples` ways to break them. The ways are drawn from `seed` relative to the order of
        scores within a block, so they are the same for every call and row order does not matter; L is
        continuous, with slight kinks where scores of one block cross. Stochastic solvers draw anew for every step.
        A query whose grades are all equal contributes 0.
    Cost: O(samples · n) per query after sorting; O(n) without ties.
    Use it for: full rankings, and graded labels with few ties; pmop-fd models ties instead of averaging over them.
    Reference: Xia et al., Listwise approach to learning to rank: theory and algorithm, ICML 2008.
    """

    samples: int = param(default=20, least=1)
    seed: int = param(default=0, least=0)
    k: int | None = param(default=None, least=1)
    convex = True
    grades = staticmethod(over_grades)

    def rank_distribution(self) -> tuple[PlackettLuce, float]:
        return PlackettLuce(), 1.0
