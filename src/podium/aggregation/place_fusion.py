"""Supervised fusions that give each place of each voter a value, learned from judged queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from podium.aggregation.base import Aggregator
from podium.aggregation.combsum import normalised
from podium.aggregation.place_values import tied_means
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.aggregation.rankings.rankings import Rankings
from podium.aggregation.supervised import SupervisedAggregator, Trained
from podium.base.arrays import Array


@dataclass(frozen=True, eq=False, repr=False)
class PlaceFusion(Trained):
    """Sums of learned values of places."""

    learner: PlaceFuse
    tables: dict[int, Array]  # by voter

    def one(self, query: QueryRankings) -> Array:
        values = np.empty(len(query.documents))
        for v, (a, b) in enumerate(zip(query.offsets[:-1], query.offsets[1:], strict=True)):
            values[a:b] = self.learner.values(self.tables[v], int(b - a))
        values, absent = tied_means(query, values), self.learner.absent
        if self.needs_scores:
            values = values * (1.0 + normalised(query, "minmax"))
        speaking = np.count_nonzero(np.diff(query.offsets))
        total = np.bincount(query.documents, values - absent, minlength=query.n_documents)
        return np.asarray(total + speaking * absent, np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class ScoredPlaceFusion(PlaceFusion):
    """Sums of learned values of places, times 1 plus the normalised score."""

    needs_scores = True

    def check(self, rankings: Rankings) -> None:
        super().check(rankings)
        Aggregator.check(self, rankings)


class PlaceFuse(SupervisedAggregator):
    """Supervised fusion by values of places."""

    fusion: ClassVar[type[PlaceFusion]] = PlaceFusion
    absent: ClassVar[float] = 0.0
    """What a list adds to each document that it lacks."""

    def fit(self, rankings: Rankings, *, seed: int = 0) -> Trained:
        hits: list[list[Array]] = [[] for _ in rankings.voters]
        judged = self.judged(rankings)
        for q, grades in judged:
            query = rankings.query(q)
            values = tied_means(query, (grades[query.documents] > 0).astype(np.float64))
            for v, (a, b) in enumerate(zip(query.offsets[:-1], query.offsets[1:], strict=True)):
                hits[v].append(values[a:b])
        relevant = [int((grades > 0).sum()) for _, grades in judged]
        tables = {v: self.table(lists, relevant) for v, lists in enumerate(hits)}
        trust = np.array([float(table[0]) if len(table) else 0.0 for table in tables.values()])
        return self.fusion(self, rankings.voters, trust, {"queries": len(judged)}, tables)

    def table(self, hits: list[Array], relevant: list[int]) -> Array:
        """What is learned of a voter: in each judged query, hits at its places (the mean over tied documents), and
        the number of relevant documents."""
        raise NotImplementedError

    def values(self, table: Array, n: int) -> Array:
        """The values of the places of a list of n documents."""  # (n,)
        raise NotImplementedError


def up_to(table: Array, n: int, fill: float = 0.0) -> Array:
    """The first n values of a table, and `fill` behind its end."""  # (n,)
    return np.concatenate([table[:n], np.full(max(n - len(table), 0), fill)])


def segment_shares(hits: list[Array], ends: Array) -> Array:
    """The mean over lists of the hits between places of `ends`, by the number of those places."""
    shares = np.zeros(len(ends) - 1)
    for values in hits:
        sums = np.concatenate([[0.0], np.cumsum(values)])
        inside = np.minimum(ends, len(values)).astype(np.int64)
        shares += np.diff(sums[inside]) / np.diff(ends)
    return shares / max(len(hits), 1)
