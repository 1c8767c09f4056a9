"""Lists of one query for Cranking: groups of tied documents, each list one of many strict rankings.

A list that ties documents, or leaves some out (tied at its end), represents every strict ranking that agrees with
it, G(σ); so do the grades of a judged query, G(π). Silent voters are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array, Ints
from podium.jit import sorting as ranking


@dataclass(frozen=True, eq=False)
class CrankingQuery:
    """The lists of the voters that have one, and the groups of the final ranking; places and groups count from 0."""

    voters: Ints  # (L,) the voter of each list
    groups: Ints  # (L, n) the group of each document in each list
    final: Ints  # (n,) the group of each document in the final ranking; all 0 if it is not known

    @classmethod
    def of(cls, query: QueryRankings, grades: Array | None = None) -> CrankingQuery:
        """From a query's lists, with missing documents at their ends, and grades."""
        matrix = query.completed().matrix()
        speaks = np.flatnonzero(~np.isnan(matrix[:, 0]))
        groups = matrix[speaks].astype(np.int64) - 1
        final = np.zeros(query.n_documents, np.int64) if grades is None else ranking.dense_ranks(grades) - 1
        return cls(speaks, groups, final)

    @property
    def n_documents(self) -> int:
        return len(self.final)

    @property
    def completions(self) -> float:
        """The number of ways to make all lists strict: Π |G(σ_j)|."""
        return math.prod(math.factorial(int(m)) for row in self.groups for m in np.bincount(row))

    def complete(self, rng: np.random.Generator) -> Ints:
        """Every list as a random strict ranking of those it represents, each as likely."""  # (L, n) places
        n = self.n_documents
        return np.array([strict(row, rng.random(n)) for row in self.groups], np.int64).reshape(self.groups.shape)

    def borda(self, theta: Array) -> Array:
        """Weighted Borda: each document's mean place over the lists, weighted by −θ, or equally if all θ are 0."""
        sizes = [np.bincount(row) for row in self.groups]
        places = [
            (np.cumsum(size) - 0.5 * (size + 1))[row] for size, row in zip(sizes, self.groups, strict=True)
        ]  # of documents tied, the mean of their places
        mean: Array = np.average(places, axis=0, weights=-theta if theta.any() else None)
        return mean

    def all_completions(self) -> list[Ints]:
        """For each list, all strict rankings it represents."""  # L times (|G|, n)
        return [_all_strict(row) for row in self.groups]


def strict(groups: Ints, key: Array) -> Ints:
    """Places that agree with the groups, within them in the order of a key."""  # (n,)
    places = np.empty(len(groups), np.int64)
    places[np.lexsort((key, groups))] = np.arange(len(groups))
    return places


def _all_strict(groups: Ints) -> Ints:
    members = [np.flatnonzero(groups == g) for g in range(int(groups.max()) + 1)]
    rankings = []
    for ways in product(*(permutations(group) for group in members)):
        places = np.empty(len(groups), np.int64)
        places[[j for way in ways for j in way]] = np.arange(len(groups))
        rankings.append(places)
    return np.array(rankings)
