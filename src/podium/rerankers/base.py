"""Re-rankers: from the scores of a query's documents to another order of them, one document after the other.

    >>> from podium.data.dataset import Dataset
    >>> data = Dataset.from_arrays([[1.0, 2.0], [1.1, 2.1], [5.0, 0.0]])  # the first two are nearly copies
    >>> Reranker.parse("mmr").scores([0.9, 0.6, 0.5], data).tolist()
    [3.0, 1.0, 2.0]

A model scores each document for itself; what comes after another document depends on both. A re-ranker sees one query
whole: scores, features, topics (`Dataset.topics`) and relations between documents (`Dataset.relations`). Its order
becomes the scores n, n − 1, …, 1, so that runs, metrics and reports take it like any other ranking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints, dense
from podium.base.columns import float_numbers
from podium.base.errors import DataError, IncompatibleError
from podium.base.registry import Named, param
from podium.data.dataset import Dataset
from podium.jit.sorting import check_scores
from podium.jit.sorting import order as best_first


@dataclass(frozen=True, eq=False)
class QueryView:
    """One query as a re-ranker sees it."""

    features: Array  # (n, d)
    topics: Array | None  # (n, T) P(d|t), the probability that a document is relevant to a topic
    relations: Array | None  # (n, n) the first value of each link

    @cached_property
    def similarity(self) -> Array:
        """Similarity of each pair within 0 and 1: of the relations, or the cosine of z-scored features, at least 0."""
        if self.relations is not None:
            links = np.maximum(self.relations, self.relations.T)
            return np.asarray(np.clip(links, 0.0, 1.0))
        X = np.nan_to_num(self.features - np.nanmean(self.features, axis=0, keepdims=True))
        deviation = X.std(axis=0)
        X = X[:, deviation > 0] / deviation[deviation > 0]
        length = np.linalg.norm(X, axis=1)
        length[length == 0] = 1.0
        unit = X / length[:, None]
        return np.asarray(np.clip(unit @ unit.T, 0.0, 1.0))


@dataclass(frozen=True, repr=False)
class Reranker(Named):
    """Re-ranker: chooses the documents of a query one by one, each with regard to those before it."""

    kind: ClassVar[str] = "reranker"
    home: ClassVar[str] = "podium.rerankers"
    needs_topics: ClassVar[bool] = False
    """Whether it needs to know which documents are relevant to which topics."""

    depth: int = param(default=100, least=0)
    """The number of documents to choose; the others follow in the order of their scores."""

    def choose(self, relevance: Array, query: QueryView, count: int) -> Ints:
        """The documents of the first `count` ranks; of equally good ones the more relevant, then the first."""
        raise NotImplementedError

    def order(self, scores: ArrayLike, query: QueryView) -> Ints:
        """All documents of a query from the first rank to the last."""
        numbers = float_numbers(scores, "score")
        check_scores(numbers)
        by_score = best_first(numbers)
        count = min(self.depth, len(numbers))
        if count == 0:
            return by_score
        chosen = self.choose(_relevance(numbers), query, count)
        return np.concatenate([chosen, by_score[~np.isin(by_score, chosen)]])

    def scores(self, scores: ArrayLike, data: Dataset) -> Array:
        """New scores of all documents of a dataset: n for the first rank of a query of n, 1 for the last."""  # (N,)
        numbers = float_numbers(scores, "score", where=data.source)
        if len(numbers) != data.n_documents:
            raise DataError(f"{len(numbers)} scores for {data.n_documents} documents.", where=data.source)
        if self.needs_topics and data.topics is None:
            raise IncompatibleError(
                f"{self.name} needs topics of the documents, and {data.source or 'the data'} has none: write lines of "
                "query topic document grade to <file>.topics. Without topics, use mmr."
            )
        highest = _highest_grade(data)
        out = np.empty(data.n_documents)
        for q in range(data.n_queries):
            a, b = int(data.offsets[q]), int(data.offsets[q + 1])
            out[a + self.order(numbers[a:b], query_view(data, q, highest))] = np.arange(b - a, 0, -1.0)
        return out


def query_view(data: Dataset, q: int, highest: float | None) -> QueryView:
    """One query of a dataset; `highest` is the largest grade of its topics, None if grades are probabilities."""
    a, b = int(data.offsets[q]), int(data.offsets[q + 1])
    topics = relations = None
    if data.topics is not None:
        topics = np.maximum(data.topics.matrix(q, b - a), 0.0)
        topics = topics if highest is None else topics / (highest + 1.0)
    if data.relations is not None:
        relations = np.zeros((b - a, b - a))
        rows = data.relations.of(q)
        relations[rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)] = rows[:, 2]
    return QueryView(np.asarray(dense(data.features[a:b]), np.float64), topics, relations)


def greedy(count: int, relevance: Array, worth: Callable[[Ints], Array], take: Callable[[int], None]) -> Ints:
    """Choose documents one by one: `worth(left)` values those left, `take(d)` is told of each choice."""
    left, chosen = np.argsort(-relevance, kind="stable"), []
    for _ in range(count):
        at = int(np.argmax(worth(left)))  # the first of equals: the more relevant
        chosen.append(int(left[at]))
        take(chosen[-1])
        left = np.delete(left, at)
    return np.array(chosen, np.int64)


def _relevance(scores: Array) -> Array:
    """Scores of a query from 0 to 1; all 1 if they are equal."""
    low, high = scores.min(), scores.max()
    return np.ones(len(scores)) if high == low else (scores - low) / (high - low)


def _highest_grade(data: Dataset) -> float | None:
    """The largest grade of a document for a topic; None if grades are probabilities, within 0 and 1 and not whole."""
    if data.topics is None or not len(data.topics):
        return 1.0
    grades = data.topics.values[:, 2]
    if grades.max() <= 1.0 and (grades % 1 != 0).any():
        return None
    return float(max(grades.max(), 1.0))
