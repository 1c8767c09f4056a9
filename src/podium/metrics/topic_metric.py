"""Metrics that read topics: what is relevant to a topic counts less, or nothing, once the topic was met.

J_t(d) is 1 if the grade of document d for topic t is at least `relevant`. Topics without any relevant document are left
out; S are left. A document at rank r gains G_r = Σ_t J_t(d_r) (1 − α)^(relevant documents of t above r).

The ideal list is greedy: each rank takes the judged document with the largest gain, of equal ones the first, or the one
with the largest id if ties are broken so. The best list is NP-hard to find, so a ranking may beat the ideal one, and
its value be above 1, but never above 1/(1 − 1/e) = 1.58.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from podium.base.arrays import Array, Flags
from podium.base.errors import IncompatibleError
from podium.metrics.base import Metric
from podium.metrics.conventions import Convention
from podium.metrics.declaration import Kernel
from podium.metrics.lists import Lists
from podium.metrics.topic_lists import TopicLists

ABOVE_IDEAL = 1.0 / (1.0 - 1.0 / math.e)
"""The most that a value over that of the greedy list can be, with weights of ranks that fall."""


@dataclass(frozen=True, eq=False)
class TopicQuery:
    """One query as a topic metric sees it; only topics with a relevant document are there."""

    grades: Array  # (n, S) in rank order, −∞ without a judgment
    judged_grades: Array  # (m, S) of all judged documents, in the order of the ideal's ties
    relevant: float
    largest: float
    """The largest grade of all queries."""

    @cached_property
    def hits(self) -> Flags:
        """J of the ranked documents."""  # (n, S)
        return self.grades >= self.relevant

    @cached_property
    def judged(self) -> Flags:
        """J of the judged documents."""  # (m, S)
        return self.judged_grades >= self.relevant

    @property
    def n_topics(self) -> int:
        """S, the number of topics."""
        return int(self.judged.shape[1])

    def gains(self, alpha: float, depth: int | None = None) -> Array:
        """G of the first ranks."""
        return novelty_gains(self.hits[:depth], alpha)

    def ideal_gains(self, alpha: float, depth: int | None = None) -> Array:
        """G of the first ranks of the ideal list; ranks that gain nothing are left out."""
        return greedy_gains(self.judged, alpha, len(self.judged) if depth is None else depth)


def novelty_gains(hits: Flags, alpha: float) -> Array:
    """G of each rank, from J in rank order."""
    above = np.cumsum(hits, axis=0, dtype=np.int64) - hits
    return np.asarray((hits * (1.0 - alpha) ** above).sum(axis=1), np.float64)


def greedy_gains(judged: Flags, alpha: float, depth: int) -> Array:
    """G of a list that takes the document with the largest gain at each rank."""
    kept = judged[judged.any(axis=1)]
    kinds, kind_of = np.unique(kept, axis=0, return_inverse=True)  # documents of the same topics gain alike
    waiting = [list(np.flatnonzero(kind_of.ravel() == kind)[::-1]) for kind in range(len(kinds))]
    first = np.array([documents[-1] for documents in waiting], np.float64)
    worth, gains = np.ones(judged.shape[1]), list[float]()
    while len(gains) < min(depth, len(kept)):
        offers = np.where(np.isinf(first), -np.inf, kinds @ worth)
        best = offers.max()
        if best <= _NOTHING * judged.shape[1]:
            break
        kind = int(np.argmin(np.where(offers >= best - _EQUAL * best, first, np.inf)))
        gains.append(float(offers[kind]))
        waiting[kind].pop()
        first[kind] = waiting[kind][-1] if waiting[kind] else np.inf
        worth = np.where(kinds[kind], worth * (1.0 - alpha), worth)
    return np.array(gains)


def all_topics(ranks: int, alpha: float) -> Array:
    """G over the number of topics of a list whose every document is relevant to every topic."""
    return np.asarray((1.0 - alpha) ** np.arange(max(ranks, 1)), np.float64)


def discounted(gains: Array) -> float:
    """Σ G_r/log2(r + 1)."""
    return float((gains / np.log2(np.arange(2, len(gains) + 2))).sum())


def reciprocal(gains: Array) -> float:
    """Σ G_r/r."""
    return float((gains / np.arange(1, len(gains) + 1)).sum())


def geometric(gains: Array, beta: float) -> float:
    """Σ β^(r − 1) G_r."""
    return float((gains * beta ** np.arange(len(gains))).sum())


@dataclass(frozen=True, repr=False)
class TopicMetric(Metric):
    """Metric of a ranking's diversity: it reads which documents are relevant to which topics of their query."""

    reads_topics: ClassVar[bool] = True
    kernel: ClassVar[Kernel] = Kernel(None, averages_ties=False)
    normalised: ClassVar[bool] = False

    def value(self, query: TopicQuery) -> float:
        """The value of one query, which has at least one topic."""
        raise NotImplementedError

    def over_topics(self, lists: Lists, topics: TopicLists | None) -> Array:
        """Its value for each query (Q,), NaN if there is no relevant document for any topic."""
        if topics is None:
            raise IncompatibleError(
                f"{self} reads topics, and there are none. For labelled data, write lines of query topic document "
                "grade to <data>.topics; for a run, give diversity qrels, whose second column is the topic."
            )
        how, values = self.convention, np.full(lists.n_queries, np.nan)
        rows, largest = lists.rows(how), topics.largest
        for q in range(lists.n_queries):
            a, b = int(lists.offsets[q]), int(lists.offsets[q + 1])
            grades, judged = topics.query(q, rows[a:b] - a, by_id=how.ties == "docno")
            kept = (judged >= how.relevant).any(axis=0)
            if kept.any():
                values[q] = self.value(TopicQuery(grades[:, kept], judged[:, kept], how.relevant, largest))
        return values

    def tag(self) -> str:
        """The metric with its parameters and its convention in full; tied documents come as they stand."""
        return super().tag().replace("ties=mean", "ties=input")

    def _concerns(self) -> set[str]:
        return super()._concerns() | {"order"}

    def _concerning(self, convention: Convention) -> Convention:
        """As for any metric; there is no mean over orders of ties, so that ties=mean is ties=input."""
        kept = super()._concerning(convention)
        return replace(kept, ties="mean") if kept.ties == "input" else kept


_NOTHING = 1e-20  # a gain that changes no sum
_EQUAL = 1e-12  # relative difference of gains that are equal but for rounding
