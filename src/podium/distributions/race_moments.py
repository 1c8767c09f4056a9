"""Ranks of many documents under Plackett–Luce, without the matrix of all rank probabilities.

Given its own time of arrival, the number of others that arrive before a document is a sum of independent events, of
mean M and variance V. For some hundred documents it is as good as normal, so that with T_i ~ Exp(φ_i)

    P(rank of i ≤ r) = E Φ((r − ½ − M(T_i))/√V(T_i))

in time linear in the documents. `plackett_luce.py` has the exact distribution; of 400 documents, the ends of
intervals are the same but for one rank now and then.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array
from podium.distributions.rank_summary import RankSummary, tails
from podium.jit.compiled import compiled

_EARLY, _LATE = 18.0, 3.5  # log T + s lies outside (−18, 3.5) with probability 1e−8
_FINEST = 0.01  # a step finer than this serves no list of less than a hundred thousand documents


def race_summary(s: Array, level: float) -> RankSummary:
    """The summary of scores that have no wide gaps (see `closed_up`)."""
    from scipy.special import softmax

    expected, found = np.empty(len(s)), np.empty((2, len(s)), np.int64)
    _summarise(s, *_counted(s), *tails(level), expected, found)
    return RankSummary(softmax(s), expected, *found)


def race_cdf(s: Array, ranks: NDArray[np.int64]) -> Array:
    """P(document i has rank ranks[i, c] or a better one) at [i, c], of scores that have no wide gaps."""
    found = np.empty(ranks.shape)
    _add_up(s, *_counted(s), ranks, found)
    return found


def _counted(s: Array) -> tuple[float, float, Array, Array]:
    """The first node u = log t, the step to the next, and M and V at each."""
    step = max(1.2 / math.sqrt(len(s) + 16.0), _FINEST)  # V changes over 1/√n
    start = -float(s.max()) - _EARLY
    mean, variance = np.zeros((2, math.ceil((float(s.max() - s.min()) + _EARLY + _LATE) / step) + 2))
    _count(s, start, step, mean, variance)
    return start, step, mean, variance


@compiled
def _count(s: Any, start: Any, step: Any, mean: Any, variance: Any) -> None:
    """The mean and variance of how many documents have arrived at each node u = log t."""
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
def _nodes(score: Any, start: Any, step: Any, nodes: Any) -> Any:
    """The first node at which a document may have arrived, and the first at which it surely has."""
    first = math.ceil((-_EARLY - score - start) / step)
    end = math.floor((_LATE - score - start) / step) + 1
    return max(first, 0), min(end, nodes)


@compiled
def _arrived(x: Any) -> Any:
    return -math.expm1(-math.exp(x))


@compiled
def _summarise(
    s: Any, start: Any, step: Any, mean: Any, variance: Any, lower: Any, upper: Any, expected: Any, ends: Any
) -> None:
    for i in range(len(s)):
        weights, others, spread = _mixture(s[i], start, step, mean, variance)
        expected[i] = 1.0
        for k in range(len(weights)):
            expected[i] += weights[k] * others[k]
        ends[0, i] = _rank_at(lower, weights, others, spread, len(s))
        ends[1, i] = _rank_at(upper, weights, others, spread, len(s))


@compiled
def _add_up(s: Any, start: Any, step: Any, mean: Any, variance: Any, ranks: Any, found: Any) -> None:
    for i in range(len(s)):
        weights, others, spread = _mixture(s[i], start, step, mean, variance)
        for c in range(ranks.shape[1]):
            found[i, c] = _up_to(ranks[i, c], weights, others, spread) if ranks[i, c] < len(s) else 1.0


@compiled
def _mixture(score: Any, start: Any, step: Any, mean: Any, variance: Any) -> Any:
    """A document's times of arrival: their probabilities, and the mean and deviation of how many others are there."""
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
def _up_to(rank: Any, weights: Any, others: Any, spread: Any) -> Any:
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
def _rank_at(share: Any, weights: Any, others: Any, spread: Any, n: Any) -> int:
    """The least rank whose share of probability is as large."""
    least, most = 1, n
    while least < most:
        middle = (least + most) // 2
        if _up_to(middle, weights, others, spread) >= share:
            most = middle
        else:
            least = middle + 1
    return least
