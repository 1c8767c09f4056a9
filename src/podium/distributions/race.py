"""Plackett–Luce as a race: documents arrive at times T_i ~ Exp(e^{s_i}), and the first to arrive ranks first.

Given the time u at which a document arrives, the others have arrived by then independently of each other, so its rank
is a count of independent events (Poisson binomial); an integral over u gives the rank marginals.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.jit import sorting as ranking
from podium.jit.compiled import compiled


def sample_race(scores: ArrayLike, rng: np.random.Generator, size: int) -> Ints:
    """Ranks of documents in `size` races, one per row."""  # (size, n)
    s = np.asarray(scores, np.float64)
    places = np.empty((size, len(s)), np.int64)
    for row in range(size):
        places[row] = ranking.dense_ranks(s + rng.gumbel(size=len(s)))
    return places


def race_marginals(scores: ArrayLike) -> Array:
    """P(document i has rank p + 1) at [i, p]."""  # (n, n)
    s = closed_up(np.array(scores, np.float64))
    marginals = np.zeros((len(s), len(s)))
    if len(s):
        _integrate(s - s.max(), _STEP / math.sqrt(len(s) + 16.0), marginals)
    return np.maximum(marginals, 0.0)  # rounding may leave −1e−17


def closed_up(s: Array) -> Array:
    """Scores with gaps of more than 40 narrowed to 40, which changes no probability by more than e^−40."""
    best_first = ranking.order(s)
    gaps = -np.diff(s[best_first])
    if not (gaps > _EARLY).any():
        return s
    closed = np.empty(len(s))
    closed[best_first] = -np.concatenate([[0.0], np.cumsum(np.minimum(gaps, _EARLY))])
    return closed


_STEP = 1.2  # times 1/√(n + 16): the integrand is about 1/√n wide, and the error falls like e^(−c/step²)
_EARLY, _LATE = 40.0, 4.0  # log T + s is Gumbel: outside (−40, 4) with probability 1e−17
_TINY = 1e-30  # the ends of a distribution below this are cut off


@compiled
def _integrate(s: Array, step: float, marginals: Array) -> None:
    """P(rank of i = r + 1) = ∫ φ_i e^{−φ_i t} P(r others have arrived by t) dt, by the trapezoid rule in u = log t.

    Others have arrived by t with probabilities q_j = 1 − e^{−φ_j t}, independently; the distribution of their number
    is computed document by document, then document i is removed again.
    """
    n = len(s)
    arrived, counts, without = np.empty(n), np.empty(n + 1), np.empty(n)
    last = int(np.ceil((_LATE - np.min(s)) / step))
    for node in range(int(np.floor((-_EARLY - np.max(s)) / step)), last + 1):
        u, wanted = node * step, False
        for j in range(n):
            arrived[j] = -math.expm1(-math.exp(min(u + s[j], 700.0)))
            wanted |= -_EARLY < u + s[j] < _LATE
        if wanted:
            low, high = count_distribution(arrived, counts)
            for i in range(n):
                x = u + s[i]
                if -_EARLY < x < _LATE:
                    first, end = take_out(counts, low, high, arrived[i], without)
                    weight = step * math.exp(x - math.exp(x))
                    for r in range(first, end):
                        marginals[i, r] += weight * without[r]


@compiled
def count_distribution(q: Array, counts: Array) -> Any:
    """Fill `counts` with P(r of n independent events happen); returns the first and the last possible r."""
    counts[:] = 0.0
    counts[0] = 1.0
    low, high = 0, 0
    for j in range(len(q)):
        high += 1
        for r in range(high, low, -1):
            counts[r] += q[j] * (counts[r - 1] - counts[r])
        counts[low] *= 1.0 - q[j]
        while counts[high] < _TINY:
            counts[high] = 0.0
            high -= 1
        while counts[low] < _TINY:
            counts[low] = 0.0
            low += 1
    return low, high


@compiled
def take_out(counts: Array, low: int, high: int, q: float, without: Array) -> Any:
    """Fill `without` with the distribution without an event of probability q; returns its range.

    It starts at the end that divides by the larger of q and 1 − q.
    """
    first, end, left = max(low - 1, 0), min(high + 1, len(without)), 0.0
    without[first] = 0.0
    without[end - 1] = 0.0
    if q < 0.5:
        odds, scale = q / (1.0 - q), 1.0 / (1.0 - q)
        for r in range(low, end):
            left = counts[r] * scale - odds * left
            without[r] = left
    else:
        odds, scale = (1.0 - q) / q, 1.0 / q
        for r in range(min(high, len(without)) - 1, first - 1, -1):
            left = counts[r + 1] * scale - odds * left
            without[r] = left
    return first, end
