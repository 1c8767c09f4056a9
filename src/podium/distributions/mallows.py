"""Mallows' φ-model (1957): the more pairs a ranking has in another order than the scores, the less likely it is.

    P(π) = e^{−θ d(π)} / ψ_n(θ),   ψ_n(θ) = Π_{i≤n} (1 − e^{−iθ})/(1 − e^{−θ})

with d(π) the number of pairs that π orders against their scores (Kendall's distance). Only the order of scores
counts. Documents of equal score are exchangeable: their pairs add nothing to d, and ψ_n becomes ψ_n Π m!/ψ_m over
groups of m equal scores.

>>> from podium.distributions import Mallows
>>> Mallows(theta=1.0).prefers([2.0, 1.0])[0, 1].round(4)  # 1/(1 + e^−1)
np.float64(0.7311)
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.distributions.base import RankingDistribution
from podium.jit import sorting as ranking
from podium.jit.compiled import compiled


@register
class Mallows(RankingDistribution):
    """Mallows distribution over strict rankings around the order of scores: P(π) ∝ e^{−θ d}, d Kendall's distance."""

    theta: float = param(default=1.0, above=0, search=(0.01, 10.0, "log"))
    """Concentration around the order of scores; at 0 all rankings would be equally likely."""
    max_exact_n: ClassVar[int] = 400
    max_sampled_n: ClassVar[int] = 5_000

    def log_prob(self, scores: ArrayLike, ranks: ArrayLike) -> float:
        """−θd − log ψ_n + Σ (log ψ_m − log m!) over groups of m equal scores; ties in `ranks` are refused."""
        from scipy.special import gammaln

        s, places = self._checked(scores, ranks)
        groups = np.unique(s, return_counts=True)[1]
        free = float(np.sum(log_normaliser(groups, self.theta) - gammaln(groups + 1.0)))
        return free - self.theta * _distance(s, places) - float(log_normaliser(np.array([len(s)]), self.theta)[0])

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> Ints:
        """Sample rankings, one per row, by insertion: the k-th by score goes v ranks above the end, P ∝ e^{−θv}."""
        s = np.asarray(scores, np.float64)  # (size, n)
        places, best_first = np.empty((size, len(s)), np.int64), ranking.order(s)
        for row in range(size):
            equal_shuffled = best_first[np.lexsort((rng.random(len(s)), -s[best_first]))]
            _insert(equal_shuffled, self.theta, rng.random(len(s)), places[row])
        return places

    def mode(self, scores: ArrayLike) -> Ints:
        """Order of scores; equal ones in input order."""
        return ranking.ordinal_ranks(scores)

    def prefers(self, scores: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 10_000) -> Array:
        """P(document i comes before document j), which depends on their distance in the order of scores."""
        s = np.asarray(scores, np.float64)
        n, order = len(s), ranking.order(s)
        k = np.arange(n + 1, dtype=np.float64)
        gain = np.diff(_coth_excess(0.5 * self.theta * k)) / self.theta  # P − ½ of documents k ranks apart
        apart = np.arange(n)[None, :] - np.arange(n)[:, None]
        before = np.empty((n, n))
        before[np.ix_(order, order)] = 0.5 + np.sign(apart) * gain[np.abs(apart)] if n else 0.0
        before = _shared(_shared(before, s).T, s).T
        before[s[:, None] == s] = 0.5
        np.fill_diagonal(before, 0.0)
        return before

    def exact_marginals(self, s: Array) -> tuple[Array, Array]:
        marginals = np.zeros((len(s), len(s)))
        _insertion_marginals(ranking.order(s), self.theta, marginals)
        return _shared(marginals, s), self.prefers(s)


def log_normaliser(n: Ints, theta: float) -> Array:
    """log ψ_n(θ), the normaliser: the sum over all orders of n documents."""
    return np.asarray(normalisers(int(n.max(initial=0)), theta)[0][n], np.float64)


def mean_distance(n: Ints, theta: float) -> Array:
    """Expected distance E d = Σ_{i≤n} 1/(e^θ − 1) − i/(e^{iθ} − 1), which is n(n − 1)/4 at θ = 0."""
    return np.asarray(normalisers(int(n.max(initial=0)), theta)[1][n], np.float64)


@compiled
def normalisers(n: int, theta: float) -> Any:
    """log ψ_m(θ) and E d of m documents, for m = 0, …, n."""
    logs, means = np.zeros(n + 1), np.zeros(n + 1)
    for i in range(1, n + 1):
        if theta == 0.0:
            log, mean = math.log(i), 0.5 * (i - 1)
        else:
            log = math.log(math.expm1(-i * theta) / math.expm1(-theta))
            mean = 1.0 / math.expm1(theta) - i / math.expm1(i * theta)
        logs[i], means[i] = logs[i - 1] + log, means[i - 1] + mean
    return logs, means


@compiled
def _distance(s: Array, places: Ints) -> int:
    """Number of pairs that places order against the scores."""
    pairs = 0
    for i in range(len(s)):
        for j in range(len(s)):
            pairs += s[i] > s[j] and places[i] > places[j]
    return pairs


@compiled
def _insert(best_first: Ints, theta: float, uniforms: Array, places: Ints) -> None:
    """Insert documents one after another; each goes above the last v of those before it."""
    ranked = np.empty(len(best_first), np.int64)
    for k in range(len(best_first)):
        v = min(int(-math.log1p(uniforms[k] * math.expm1(-(k + 1) * theta)) / theta), k)
        for p in range(k, k - v, -1):
            ranked[p] = ranked[p - 1]
        ranked[k - v] = best_first[k]
    for p in range(len(ranked)):
        places[ranked[p]] = p + 1


@compiled
def _insertion_marginals(best_first: Ints, theta: float, marginals: Array) -> None:
    """P(rank) of each document: the rank of its insertion, then shifted by later insertions above it.

    The k-th document is inserted at one of the first p ranks with probability (e^{pθ} − 1)/(e^{kθ} − 1).
    """
    above = np.zeros(len(best_first) + 1)  # at p
    for k in range(1, len(best_first) + 1):
        for p in range(k + 1):
            above[p] = math.exp(-theta * (k - p)) * math.expm1(-theta * p) / math.expm1(-theta * k)
        for i in range(k - 1):
            row = marginals[best_first[i]]
            for p in range(k - 1, 0, -1):
                row[p] = row[p] * (1.0 - above[p + 1]) + row[p - 1] * above[p]
            row[0] *= 1.0 - above[1]
        for p in range(k):
            marginals[best_first[k - 1], p] = above[p + 1] - above[p]


def _coth_excess(x: Array) -> Array:
    """x coth x − 1, accurate near 0."""
    small = np.abs(x) < 0.05
    safe = np.where(small, 1.0, x)
    return np.where(small, x * x / 3.0 * (1.0 - x * x / 15.0 * (1.0 - 2.0 * x * x / 21.0)), safe / np.tanh(safe) - 1.0)


def _shared(rows: Array, s: Array) -> Array:
    """Rows of documents of equal score replaced by their mean."""
    _, group, sizes = np.unique(s, return_inverse=True, return_counts=True)
    if len(sizes) == len(s):
        return rows
    sums = np.zeros((len(sizes), rows.shape[1]))
    np.add.at(sums, group, rows)
    return np.asarray((sums / sizes[:, None])[group], np.float64)
