"""Nested ranker: stages of a method, each of which ranks the top of the one before anew."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np

from podium.base.arrays import Array, Flags
from podium.base.errors import DataError, IncompatibleError, ModelFileError, ParameterError, PodiumError, counted
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.ensembles.composite import Composite, fitted, parsed, quiet, report
from podium.ensembles.packing import pack, unpack
from podium.ensembles.stack import folds
from podium.jit.sorting import dense_ranks
from podium.learner import Learned, Learner
from podium.learner import fitted as fitted_array
from podium.metrics import Metric
from podium.model import Model
from podium.scorers import Params, Prepared
from podium.solvers import Watch, mean_metric

FEW = 10
"""A query with no more documents than this at a stage is not ranked again."""


@register
class Nested(Composite):
    """Nested ranker: a method ranks all documents, then the top share of them anew, then the top of that.

    Formula: stage 0 is fitted to all documents; stage k to the share keep_k of each query's documents that stage k − 1
        ranks first, by scores out of fold: 5 folds of the queries, each scored by a model of the others. The score of a
        document is the number of the last stage that ranked it plus its place there within (0, 1), so that no stage
        overtakes a later one. A query of at most 10 documents at a stage ends there.
    Ties: documents that a stage ties share their place.
    Cost: 1 + 5 fits for each stage but the last. With `first`, a cheap method ranks first, a cascade.
    Use it for: long lists, of which only the top counts, and methods that spend their effort on the whole list; a
        cascade, whose later stages see few documents.
    Reference: Matveeva, Burges, Burkard, Laucius & Wong, High accuracy retrieval with multiple nested ranker, SIGIR
        2006.
    """

    of: str = "ranknet"
    """Method of the stages."""
    keep: tuple[float, ...] = (0.5, 0.25)
    """The share of a query's documents that each further stage ranks; falling. A share of 1 is left out."""
    first: str = ""
    """Method of the first stage, if another than `of`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(0.0 < share <= 1.0 for share in self.keep) or list(self.keep) != sorted(self.keep, reverse=True):
            raise ParameterError(f"nested: keep has falling shares, above 0 and at most 1; got {list(self.keep)}.")
        if self.first:
            parsed(self.first)

    @property
    def per_query(self) -> bool:
        return True

    @property
    def _shares(self) -> list[float]:
        return [share for share in self.keep if share < 1.0]

    def _stage(self, number: int) -> Learner:
        return parsed(self.first).learner if self.first and number == 0 else self.inner

    def check(self, data: Dataset) -> None:
        super().check(data)
        self._stage(0).check(data)
        if not self._shares:
            return
        if data.labels is None or data.preferences is not None or data.document_weights is not None:
            raise IncompatibleError(
                "nested ranks part of each query's documents anew, for which it needs labels, and no preferences or "
                "document weights."
            )
        if data.n_queries < 2:
            got = counted(data.n_queries, "query", "queries")
            raise DataError(f"nested holds queries out in turn, so that it needs at least 2; got {got}.")

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        models, left, why = [fitted(self._stage(0), data, rng, quiet(watch))], np.ones(data.n_documents, bool), ""
        documents, parts = [data.n_documents], folds(data, rng) if self._shares else []
        for number, share in enumerate(self._shares):
            report(watch, number + 1, len(self._shares))
            own = Watch(_next_part(models, self._shares, watch), watch.metric)
            try:
                left = _top(_out_of_fold(self._stage(number), data, left, parts, rng), data, share)
                models.append(fitted(self.inner, _part(data, left), rng.spawn(1)[0], own))
            except PodiumError as error:  # nothing is left to learn from
                why = f"after stage {number}: {error}"
                break
            documents.append(int(left.sum()))
        record: dict[str, Any] = {"stopped": why or "all stages fitted", "iterations": len(models)}
        record["documents"] = documents  # that each stage learned from
        return Learned(self, {**pack(models), "stages": np.array([len(models)])}, record)

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        count = int(fitted_array(params, "stages", (1,))[0])
        if not 1 <= count <= 1 + len(self._shares):
            raise ModelFileError(f"The model has {count} stages of {1 + len(self._shares)}. Train it again.")
        models = unpack(params, count, most_features=n_features)
        if count == 1:
            return models[0].score
        return lambda data: _staged(models, self._shares, data)[0]


def _staged(models: list[Model], shares: list[float], data: Dataset) -> tuple[Array, Array]:
    """Number of the last stage plus the place there, and scores of the last stage, NaN if it left a document out."""
    last = models[0].score(data)
    scores = _places(last, data)
    for number, (model, share) in enumerate(zip(models[1:], shares, strict=False)):
        left = _top(last, data, share)
        last = np.full(data.n_documents, np.nan)
        if left.any():
            last[left] = model.score(_part(data, left))
        scores = np.where(left, number + 1 + _places(last, data), scores)
    return scores, last


def _places(scores: Array, data: Dataset) -> Array:
    """Places of the documents that have a score, within (0, 1), the best next to 1; NaN for the others."""
    places = np.full(len(scores), np.nan)
    for a, b in itertools.pairwise(data.offsets.tolist()):
        rows = a + np.flatnonzero(~np.isnan(scores[a:b]))
        if len(rows):
            ranks = dense_ranks(scores[rows])
            places[rows] = 1.0 - ranks / (ranks.max() + 1.0)
    return places


def _top(scores: Array, data: Dataset, share: float) -> Flags:
    """The share of each query's documents with the highest scores, and those that tie with the last of them."""
    top = np.zeros(len(scores), bool)
    for a, b in itertools.pairwise(data.offsets.tolist()):
        own = scores[a:b]
        there = np.sort(own[~np.isnan(own)])[::-1]
        count = min(math.ceil(share * (b - a)), len(there))
        if len(there) > FEW and count > 1:
            top[a:b] = own >= there[count - 1]
    return top


def _part(data: Dataset, rows: Flags) -> Dataset:
    """Some documents, of the queries that have any of them."""
    grades = np.zeros(data.n_documents) if data.labels is None or data.n_unjudged else data.labels
    labels = np.where(rows, grades, np.nan)
    bare = replace(
        data, labels=labels, preferences=None, topics=None, relations=None, document_weights=None, score_offsets=None
    )
    return bare.judged()


def _out_of_fold(
    learner: Learner, data: Dataset, left: Flags, parts: list[tuple[Any, Any]], rng: np.random.Generator
) -> Array:
    """Scores of the documents that are left, by models of the queries of other folds; NaN for the others."""
    scores = np.full(data.n_documents, np.nan)
    for held, seen in parts:
        test, training = (np.isin(data.query_index, queries) & left for queries in (held, seen))
        if test.any():
            model = fitted(learner, _part(data, training), rng.spawn(1)[0], Watch(None, None))
            scores[test] = model.score(_part(data, test))
    return scores


def _next_part(models: list[Model], shares: list[float], watch: Watch) -> Dataset | None:
    """Validation data of the next stage; None if it can measure nothing."""
    if watch.valid is None:
        return None
    part = _part(watch.valid, _top(_staged(models, shares, watch.valid)[1], watch.valid, shares[len(models) - 1]))
    metric = watch.metric or Metric.parse("ndcg@10")
    if not part.n_documents or np.isnan(mean_metric(metric, np.arange(part.n_documents, 0.0, -1.0), part)):
        return None
    return part
