"""Rank summaries of many documents under Plackett–Luce, by a normal approximation in linear time.

Given its own time of arrival, the number of others that arrive before a document is a sum of independent events, of
mean M and variance V. For some hundred documents it is nearly normal, so that with T_i ~ Exp(φ_i)

    P(rank of i ≤ r) = E Φ((r − ½ − M(T_i))/√V(T_i))

in time linear in the documents. `plackett_luce.py` has the exact distribution; for 400 documents, the ends of intervals
rarely differ, and then by one rank.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.distributions.rank_summary import RankSummary, tails
from podium.jit.compiled import compiled

_EARLY, _LATE = 18.0, 3.5  # log T + s is outside (−18, 3.5) with probability 1e−8
_FINEST = 0.01  # smallest step, fine enough for a hundred thousand documents


def race_summary(s: Array, level: float) -> RankSummary:
    """Rank summary for scores without wide gaps (see `closed_up`)."""
    from scipy.special import softmax

    expected, ends = np.empty(len(s)), np.empty((2, len(s)), np.int64)
    _summarise(s, *_counted(s), *tails(level), expected, ends)
    return RankSummary(softmax(s), expected, *ends)


def race_cdf(s: Array, ranks: Ints) -> Array:
    """P(document i has rank ranks[i, c] or a better one) at [i, c], for scores without wide gaps."""
    cdf = np.empty(ranks.shape)
    _add_up(s, *_counted(s), ranks, cdf)
    return cdf


def _counted(s: Array) -> tuple[float, float, Array, Array]:
    """First node u = log t, the step to the next, and M and V at each."""
    step = max(1.2 / math.sqrt(len(s) + 16.0), _FINEST)  # V changes over 1/√n
    start = -float(s.max()) - _EARLY
    mean, variance = np.zeros((2, math.ceil((float(s.max() - s.min()) + _EARLY + _LATE) / step) + 2))
    _count(s, start, step, mean, variance)
    return start, step, mean, variance


@compiled
def _count(s: Array, start: float, step: float, mean: Array, variance: Array) -> None:
    """Mean and variance of the number of documents that have arrived at each node u = log t."""
    surely = np.zeros(len(mean) + 1)  # documents that have arrived from this node on
    for i in range(len(s)):
        first, end = _nodes(s[i], start, step, len(mean))
        for k in range(first, end):
            q = _arrived(start + k * step + s[i])
            mean[k] += q
            variance[k] += q * (1.0 - q)
        surely[end] += 1.0
    total = 0.0
    for k in range(len(mean)):
        total += surely[k]
        mean[k] += total


@compiled
def _nodes(score: float, start: float, step: float, nodes: int) -> Any:
    """First node at which a document may have arrived, and the first at which it surely has."""
    first = math.ceil((-_EARLY - score - start) / step)
    end = math.floor((_LATE - score - start) / step) + 1
    return max(first, 0), min(end, nodes)


@compiled
def _arrived(x: float) -> Any:
    return -math.expm1(-math.exp(x))


@compiled
def _summarise(
    s: Array, start: float, step: float, mean: Array, variance: Array, lower: float, upper: float,
    expected: Array, ends: Ints,
) -> None:  # fmt: skip
    for i in range(len(s)):
        weights, others, spread = _mixture(s[i], start, step, mean, variance)
        expected[i] = 1.0
        for k in range(len(weights)):
            expected[i] += weights[k] * others[k]
        ends[0, i] = _rank_at(lower, weights, others, spread, len(s))
        ends[1, i] = _rank_at(upper, weights, others, spread, len(s))


@compiled
def _add_up(s: Array, start: float, step: float, mean: Array, variance: Array, ranks: Ints, cdf: Array) -> None:
    for i in range(len(s)):
        weights, others, spread = _mixture(s[i], start, step, mean, variance)
        for c in range(ranks.shape[1]):
            cdf[i, c] = _up_to(ranks[i, c], weights, others, spread) if ranks[i, c] < len(s) else 1.0


@compiled
def _mixture(score: float, start: float, step: float, mean: Array, variance: Array) -> Any:
    """Probabilities of a document's times of arrival; mean and deviation of the number of others there by then."""
    first, end = _nodes(score, start, step, len(mean))
    weights, others, spread = np.empty(end - first), np.empty(end - first), np.empty(end - first)
    total = 0.0
    for k in range(first, end):
        x, m = start + k * step + score, k - first
        q = _arrived(x)
        weights[m] = math.exp(x - math.exp(x))
        others[m] = mean[k] - q
        spread[m] = math.sqrt(max(variance[k] - q * (1.0 - q), 1e-12))
        total += weights[m]
    for m in range(len(weights)):
        weights[m] /= total
    return weights, others, spread


@compiled
def _up_to(rank: int, weights: Array, others: Array, spread: Array) -> Any:
    """Σ w Φ((r − ½ − M)/√V)."""
    total = 0.0
    for k in range(len(weights)):
        z = (rank - 0.5 - others[k]) / spread[k]
        if z > 8.0:
            total += weights[k]
        elif z > -8.0:
            total += weights[k] * 0.5 * math.erfc(-z * math.sqrt(0.5))
    return total if rank > 0 else 0.0


@compiled
def _rank_at(share: float, weights: Array, others: Array, spread: Array, n: int) -> int:
    """Smallest rank r with P(rank ≤ r) ≥ share."""
    least, most = 1, n
    while least < most:
        middle = (least + most) // 2
        if _up_to(middle, weights, others, spread) >= share:
            most = middle
        else:
            least = middle + 1
    return least
