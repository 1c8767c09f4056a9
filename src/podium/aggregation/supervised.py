"""Supervised rank aggregation: the trust in each voter is learned from judged queries.

    >>> from podium.aggregation import VoterWeights
    >>> from podium.aggregation.rankings.rankings import Rankings
    >>> votes = [[["A", "B", "C"], ["C", "B", "A"]], [["D", "E", "F"], ["F", "D", "E"]]]
    >>> rankings = Rankings.from_orders(votes, voters=["good", "bad"])
    >>> learned = VoterWeights().fit(with_labels(rankings, {("0", "A"): 1.0, ("1", "D"): 1.0}))
    >>> learned(rankings).order(0)
    ['A', 'B', 'C']

A supervised aggregator is a frozen value, like the others; `fit` returns a trained `Aggregator`. Weights of the voters
in the rankings are not used: they are learned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from podium.aggregation.base import Aggregator
from podium.aggregation.rankings.rankings import Rankings
from podium.base.arrays import Array
from podium.base.errors import DataError, IncompatibleError
from podium.base.registry import Named
from podium.formats.trec.judged_run import rows_of
from podium.formats.trec.trec import AnyQrels, Qrels, as_qrels


@dataclass(frozen=True, eq=False, repr=False)
class Trained(Aggregator):
    """Aggregator with learned trust in its voters."""

    learner: SupervisedAggregator
    voters: tuple[str, ...]
    trust: Array  # (V,) the influence of each voter; its scale depends on the method
    record: dict[str, Any]  # the record of training, for users

    def __repr__(self) -> str:
        return repr(self.learner)

    def check(self, rankings: Rankings) -> None:
        if rankings.voters != self.voters:
            raise IncompatibleError(
                f"{self.learner.name} was trained on voters {', '.join(self.voters)}; "
                f"got {', '.join(rankings.voters)}. Give the same voters in the same order."
            )


class SupervisedAggregator(Named):
    """Rank aggregation method that learns from judged queries. Its fields are its parameters."""

    kind: ClassVar[str] = "supervised aggregator"
    home: ClassVar[str] = "podium.aggregation"

    def fit(self, rankings: Rankings, *, seed: int = 0) -> Trained:
        """Learn from the queries that have grades; within them, a document without one has grade 0."""
        raise NotImplementedError

    def judged(self, rankings: Rankings) -> list[tuple[int, Array]]:
        """The queries to learn from with their grades: those in which one document is graded above another."""
        if rankings.labels is None:
            raise DataError(f"{self.name} learns from grades, and the rankings have none. Give it judgments.")
        grades = np.nan_to_num(rankings.labels)
        bounds = zip(rankings.offsets[:-1], rankings.offsets[1:], strict=True)
        graded = [(q, grades[a:b]) for q, (a, b) in enumerate(bounds) if len(np.unique(grades[a:b])) > 1]
        if not graded:
            raise DataError(
                f"{self.name} has nothing to learn from: in none of {rankings.n_queries} queries is one document "
                "graded above another. Check that the judgments write query and document ids as the rankings do."
            )
        return graded


def with_labels(rankings: Rankings, grades: AnyQrels | Mapping[tuple[str, str], float]) -> Rankings:
    """The same rankings with grades: from qrels, or by (query, document). Queries without any have NaN."""
    by_pair = isinstance(grades, Mapping) and all(isinstance(key, tuple) for key in grades)
    qrels = _as_qrels(grades) if by_pair else as_qrels(grades)
    place = {query: q for q, query in enumerate(qrels.query_ids.tolist())}
    queries = np.array([place.get(query, -1) for query in rankings.query_ids.tolist()], np.int64)
    rows, offsets = rows_of(qrels.offsets, queries)
    at = rankings.document_ids.find_in(qrels.document_ids[rows], offsets, rankings.offsets)
    missing = np.repeat(np.where(queries < 0, np.nan, 0.0), np.diff(rankings.offsets))
    return replace(rankings, labels=np.where(at < 0, missing, np.append(qrels.labels[rows], 0.0)[at]))


def _as_qrels(grades: Mapping[tuple[str, str], float]) -> Qrels:
    by_query: dict[str, dict[str, float]] = {}
    for (query, document), grade in grades.items():
        by_query.setdefault(query, {})[document] = grade
    return Qrels.from_dict(by_query)
