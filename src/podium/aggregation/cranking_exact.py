"""Cranking by enumeration: its likelihood, gradient and rank marginals over all n! rankings, for n ≤ 8.

L(θ) = log (1/C) Σ_σ' Σ_{π∈G(π)} e^{θ·d(π,σ')} / Σ_π e^{θ·d(π,σ')}, σ' over the C ways to make the voters' lists strict.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from podium.aggregation.cranking_lists import CrankingQuery
from podium.aggregation.permutations import distances
from podium.base.arrays import Array, Ints

MAX_EXACT_N = 8
"""Documents up to which all rankings are enumerated."""
_BUDGET = 4e6  # distances of one query


def fits(query: CrankingQuery) -> bool:
    """Whether a query is small enough."""
    n = query.n_documents
    return n <= MAX_EXACT_N and query.completions * math.factorial(n) * max(len(query.voters), 1) <= _BUDGET


class Enumerated:
    """One query with the distances of all rankings from all strict versions of its lists."""

    def __init__(self, query: CrankingQuery, kind: int) -> None:
        self.query = query
        self.places = _all_places(query.n_documents)  # (R, n)
        ends = np.cumsum(np.bincount(query.final))
        self.allowed = (self.places < ends[query.final]).all(axis=1)  # agree with the final ranking's groups
        self.distances: list[NDArray[np.int8]] = []  # per list (|G|, R)
        for strict in query.all_completions():
            table = np.empty((len(strict), len(self.places)), np.int8)
            for row, ranking in zip(table, strict, strict=True):
                distances(kind, self.places, ranking, row)
            self.distances.append(table)

    def likelihood(self, theta: Array) -> tuple[float, Array]:
        """L(θ) and its gradient, for the voters with a list."""
        from scipy.special import logsumexp

        logs, slopes = [], []
        for d in self._completed():
            weight = theta @ d
            chosen = weight[self.allowed]
            logs.append(logsumexp(chosen) - logsumexp(weight))
            slopes.append(d[:, self.allowed] @ _shares(chosen) - d @ _shares(weight))
        each = _shares(np.array(logs))
        return float(logsumexp(logs) - math.log(len(logs))), each @ np.array(slopes)

    def marginals(self, theta: Array) -> Array:
        """P(document i has rank r + 1) at [i, r]."""  # (n, n)
        n, chance, ways = self.query.n_documents, np.zeros(len(self.places)), 0
        for d in self._completed():
            chance += _shares(theta @ d)
            ways += 1
        rows = [np.bincount(self.places[:, i], chance / ways, minlength=n) for i in range(n)]
        return np.array(rows, np.float64)

    def _completed(self) -> Iterator[Array]:
        """The distances of every ranking from the voters' lists, for each way to make them strict."""  # (L, R)
        for way in product(*self.distances):
            yield np.array(way, np.float64).reshape(len(self.distances), len(self.places))


def _shares(logs: Array) -> Array:
    weights = np.exp(logs - logs.max())
    shares: Array = weights / weights.sum()
    return shares


@functools.lru_cache(maxsize=MAX_EXACT_N)
def _all_places(n: int) -> Ints:
    return np.array(list(permutations(range(n))), np.int64).reshape(-1, n)
