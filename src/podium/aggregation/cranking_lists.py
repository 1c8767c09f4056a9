"""The lists of one query as Cranking sees them: groups of tied documents, each list one of many strict rankings.

A list that ties documents, or leaves some out (tied at its end), stands for every strict ranking that agrees with
it, G(σ); so do the grades of a judged query, G(π). Silent voters are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Ints
from podium.jit import sorting as ranking


@dataclass(frozen=True, eq=False)
class CrankingQuery:
    """The lists of the voters that speak, and the groups of the final ranking; places and groups count from 0."""

    voters: Ints  # (L,) which voter each list is of
    groups: Ints  # (L, n) the group of each document in each list
    final: Ints  # (n,) the group of each document in the final ranking; all 0 where it is not known

    @classmethod
    def of(cls, query: QueryRankings, grades: NDArray[np.float64] | None = None) -> CrankingQuery:
        """From a query's lists, with the documents they leave out at their ends, and grades."""
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
        """Every list as one strict ranking of those it may stand for, each as likely."""  # (L, n) places
        n = self.n_documents
        return np.array([strict(row, rng.random(n)) for row in self.groups], np.int64).reshape(self.groups.shape)

    def borda(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weighted Borda: each document's mean place over the lists, weighted by −θ, or equally where all θ are 0."""
        sizes = [np.bincount(row) for row in self.groups]
        places = [
            (np.cumsum(size) - 0.5 * (size + 1))[row] for size, row in zip(sizes, self.groups, strict=True)
        ]  # of documents tied, the mean of their places
        mean: NDArray[np.float64] = np.average(places, axis=0, weights=-theta if theta.any() else None)
        return mean

    def all_completions(self) -> list[Ints]:
        """For each list, all strict rankings it may stand for."""  # L times (|G|, n)
        return [_all_strict(row) for row in self.groups]


def strict(groups: Ints, key: NDArray[np.float64]) -> Ints:
    """Places that agree with the groups, within them in the order of a key."""  # (n,)
    places = np.empty(len(groups), np.int64)
    places[np.lexsort((key, groups))] = np.arange(len(groups))
    return places


def _all_strict(groups: Ints) -> Ints:
    members = [np.flatnonzero(groups == g) for g in range(int(groups.max()) + 1)]
    found = []
    for ways in product(*(permutations(group) for group in members)):
        places = np.empty(len(groups), np.int64)
        places[[j for way in ways for j in way]] = np.arange(len(groups))
        found.append(places)
    return np.array(found)
