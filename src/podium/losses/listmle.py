"""ListMLE (Xia et al., 2008): the likelihood of the labels' order under Plackett–Luce, averaged over how ties break.

>>> from podium.losses import ListMLE
>>> round(ListMLE()([2.0, 1.0, 0.0], [2, 1, 0]).value, 4)  # log(1 + e^−1 + e^−2) + log(1 + e^−1)
0.7209
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.losses.base import kernel
from podium.losses.blocks import bounds, by_grade_and_score, clear, count_edges
from podium.losses.plackett_luce import PlackettLuce
from podium.registry import param, register

FAR = 300.0
"""Scores further apart than this are summed by their logarithms."""


@kernel
def over_grades(scores: Any, labels: Any, gradient: Any, curvature: Any, params: Any) -> Any:
    """Mean over tie-breaks of −Σ_k log(φ_k / Σ_{l ≥ k} φ_l), φ = e^s; 0 where all grades are equal."""
    clear(gradient, curvature)
    order, ends = by_grade_and_score(scores, labels)
    n, samples, state = len(scores), int(params[0, 0]), np.uint64(params[0, 1])
    if n == 0 or ends[0] == n:
        return 0.0
    if count_edges(ends) == n * (n - 1) // 2:
        samples = 1  # no ties
    low, high = bounds(scores)
    s, phi, ranked, work, value = np.empty(n), np.empty(n), np.empty(n, np.int64), np.empty(n), 0.0
    for i in range(n):
        s[i], ranked[i] = scores[i] - high, order[i]
        phi[i] = math.exp(s[i])
    for _ in range(samples):
        state = _shuffle(ranked, ends, state)
        if high - low <= FAR:
            value += _one_ranking(phi, ranked, gradient, curvature, work)
        else:
            value += _one_wide_ranking(s, ranked, gradient, curvature, work)
    value /= samples
    for i in range(n):
        value -= s[i]
        gradient[i] = gradient[i] / samples - 1.0
        curvature[i] = max(curvature[i] / samples, 0.0)
    _share(scores, order, ends, gradient)
    _share(scores, order, ends, curvature)
    return value


_STEP, _MIX_1, _MIX_2 = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_27, _30, _31, _32 = (np.uint64(c) for c in (27, 30, 31, 32))


@kernel
def _shuffle(ranked: Any, ends: Any, state: Any) -> Any:
    """Shuffle each block with the generator SplitMix64; the state after it."""
    start = 0
    while start < len(ranked):
        for p in range(ends[start] - 1, start, -1):
            state += _STEP
            z = (state ^ (state >> _30)) * _MIX_1
            z = (z ^ (z >> _27)) * _MIX_2
            z ^= z >> _31
            q = start + np.int64(((z >> _32) * np.uint64(p - start + 1)) >> _32)
            ranked[p], ranked[q] = ranked[q], ranked[p]
        start = ends[start]
    return state


@kernel
def _one_ranking(phi: Any, ranked: Any, gradient: Any, curvature: Any, rest: Any) -> float:
    """Σ_k log R_k, R_k = Σ_{l ≥ k} φ_l, of one strict ranking; adds Σ_k p_ik and Σ_k p_ik(1 − p_ik), p_ik = φ_i/R_k."""
    total, value, product = 0.0, 0.0, 1.0
    for p in range(len(ranked) - 1, -1, -1):
        total += phi[ranked[p]]
        rest[p] = total
        product *= total  # one logarithm for many factors
        if product < 1e-150 or product > 1e150:
            value += math.log(product)
            product = 1.0
    stages, squares = 0.0, 0.0
    for p in range(len(ranked)):
        i, r = ranked[p], 1.0 / rest[p]
        stages += r
        squares += r * r
        gradient[i] += phi[i] * stages
        curvature[i] += phi[i] * stages - phi[i] * phi[i] * squares
    return value + math.log(product)


@kernel
def _one_wide_ranking(s: Any, ranked: Any, gradient: Any, curvature: Any, rest: Any) -> float:
    """The same where φ would underflow: R_k by its logarithm, the sums over k scaled by R_k."""
    value, log_rest = 0.0, -np.inf
    for p in range(len(ranked) - 1, -1, -1):
        mine = s[ranked[p]]
        high = max(log_rest, mine)
        log_rest = high + math.log1p(math.exp(min(log_rest, mine) - high))
        rest[p] = log_rest
        value += log_rest
    stages, squares = 0.0, 0.0
    for p in range(len(ranked)):
        i = ranked[p]
        shrink = math.exp(rest[p] - rest[p - 1]) if p > 0 else 0.0
        stages, squares = 1.0 + stages * shrink, 1.0 + squares * shrink * shrink
        e = math.exp(s[i] - rest[p])
        gradient[i] += e * stages
        curvature[i] += e * stages - e * e * squares
    return value


@kernel
def _share(scores: Any, order: Any, ends: Any, numbers: Any) -> None:
    """Give documents of equal grade and score the mean of their numbers, which a few shuffles leave unequal."""
    start = 0
    while start < len(order):
        end, total = start, 0.0
        while end < ends[start] and scores[order[end]] == scores[order[start]]:
            total += numbers[order[end]]
            end += 1
        for p in range(start, end):
            numbers[order[p]] = total / (end - start)
        start = end


@register
class ListMLE(PlackettLuce):
    """The negative log-likelihood of the labels' order; a block of equal grades is averaged over its orders.

    Formula: L = −Σ_k log(φ_k / Σ_{l ≥ k} φ_l), documents in order of grade, φ = e^s.
    Ties: the mean of L over `samples` ways to break them. The ways are drawn from `seed` relative to the order of
        scores within a block, so they are the same for every call and the order of rows has no say; L is
        continuous, with slight kinks where scores of one block cross. A query whose grades are all equal
        contributes 0.
    Cost: O(samples · n) per query after sorting; O(n) without ties.
    Use it for: full rankings, and graded labels with few ties; pmop-fd models ties instead of averaging over them.
    Reference: Xia et al., Listwise approach to learning to rank: theory and algorithm, ICML 2008.
    """

    samples: int = param(default=20, least=1)
    seed: int = param(default=0, least=0)
    grades = staticmethod(over_grades)
