"""Engine: search and re-ranking. A first stage finds candidates in an index; a model ranks them by its features."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arguments import whole_number
from podium.base.arrays import Array, Ints, Singles
from podium.base.errors import IncompatibleError, UnknownNameError
from podium.clicks.behaviour.base import BehaviourFeature
from podium.data.dataset import Dataset
from podium.engine.counted_feature import CountedFeature
from podium.explanation.attribution import shares_over_mean
from podium.formats.trec.trec import Run
from podium.jit.sorting import order
from podium.model import Model
from podium.text.context import Context
from podium.text.features import Feature, Plan
from podium.text.retrieval import BM25, Retrieval
from podium.text.retrieval.candidates import DEPTH

if TYPE_CHECKING:
    from podium.text.collection.collection import Topic
    from podium.text.index.index import Hits, Index
    from podium.text.query import Query
    from podium.text.retrieval.base import Where


Fill = Callable[[Sequence[str], Singles], Singles]
"""The features of documents, by their ids, with those that are missing filled in."""


@dataclass(frozen=True, eq=False)
class Answer:
    """Documents for a query, best first."""

    ids: list[str]
    scores: Array
    numbers: Ints
    first_stage: Ints
    """The rank of each document in the first stage, from 1."""
    features: Singles
    """The values of the features, a row per document."""
    shares: Array | None = None
    """With `explain`: the contribution of each feature to the score, compared with the mean of all candidates."""
    how: str = ""
    """How the shares were computed."""

    def __len__(self) -> int:
        return len(self.ids)


class Engine:
    """Searches an index and re-ranks the candidates by a model that was trained on features of such an index.

    `depth` is the number of candidates from the first stage; by default that of the training data.

    `index`: the index to search, made as that of the training data (same analyser and fields).
    `model`: a model, or the path of one; its features must be names of text features.
    """

    def __init__(self, index: Index, model: Model | str | os.PathLike[str], *, depth: int | None = None) -> None:
        self.index, self.model = index, model if isinstance(model, Model) else Model.load(model)
        about = self.model.info.get("features")
        if not isinstance(about, dict) or self.model.feature_names is None:
            raise IncompatibleError(
                "this model was not trained on features of an index. Make training data with podium features INDEX …, "
                "and train on that."
            )
        if "engine" in about:
            raise IncompatibleError(
                f"this model was trained on features of {about['engine']}, which podium does not compute. Use it "
                "there: podium export."
            )
        self.retrieval: Retrieval = Retrieval.parse(str(about.get("retrieval", repr(BM25()))))
        self.depth = whole_number(about.get("depth", DEPTH) if depth is None else depth, "depth", least=1)
        self._check(about)
        try:
            self.features = tuple(self._feature(name, about) for name in self.model.feature_names)
        except UnknownNameError as error:
            raise IncompatibleError(f"the model needs a feature that is not known here: {error}") from None
        for feature in self.features:
            feature.check(index)
        self.plan = Plan(self.features, index)

    def _feature(self, name: str, about: dict[str, Any]) -> Feature:
        counted = about.get("behaviour")
        if isinstance(counted, list) and name in counted:
            return CountedFeature(BehaviourFeature.parse(name))
        return Feature.parse(name)

    def _check(self, about: dict[str, Any]) -> None:
        for word, value in (("analyser", repr(self.index.analyser)), ("fields", list(self.index.fields))):
            if about.get(word) != value:
                raise IncompatibleError(
                    f"{self.index.store.path} has {word} {value}, but the model was trained on an index with "
                    f"{about.get(word)}. Its features would not mean the same. Index the documents in the same way, "
                    "or train again."
                )

    def search(
        self,
        query: str | Query,
        k: int = 10,
        *,
        explain: bool = False,
        vector: Sequence[float] | None = None,
        where: Where | None = None,
        offset: int = 0,
        syntax: bool = False,
        fill: Fill | None = None,
    ) -> Answer:
        """Search: the k best of the candidates of the first stage, by the model, after the first `offset`.

        With `syntax`, the query is in the query language: see `text/query_language.py`.

        `k`: the number of documents.
        `explain`: whether each has the shares of its features in the score.
        `vector`: the vector of the query, if the first stage needs one.
        `where`: a filter on stored fields.
        `fill`: fills in behaviour features, if the model has some; a service that counts has them.
        `query`: the text of the query, or a `Query` of this index.
        """
        k, offset = whole_number(k, "k", least=1), whole_number(offset, "offset", least=0)
        asked = self.index.query(query, vector=vector, syntax=syntax) if isinstance(query, str) else query
        hits = self.index.search(asked, self.depth, by=self.retrieval, where=where)
        data, X, scores = self.scores(asked, hits, fill, by=self.retrieval)
        best = order(scores)[offset : offset + k]
        shares, how = self._shares(data, best) if explain and len(X) else (None, "")
        ids = [hits.ids[row] for row in best]
        return Answer(ids, scores[best], hits.numbers[best], best + 1, X[best], shares, how)

    def scores(
        self, query: Query, hits: Hits, fill: Fill | None = None, *, by: Retrieval
    ) -> tuple[Dataset, Singles, Array]:
        """The features of documents, as a dataset and as a matrix, and their scores by the model.

        `query`: as read by the index.
        `hits`: the candidates.
        `fill`: fills in behaviour features, if the model has some.
        `by`: what found the candidates.
        """
        X = self.plan.matrix(Context(self.index, query, hits.numbers, hits.scores, by=by))
        counted = next((feature for feature in self.features if isinstance(feature, CountedFeature)), None)
        if counted is not None:
            if fill is None:
                raise IncompatibleError(
                    f"this model has behaviour features, such as {counted}, which are counted by a service: podium "
                    "serve MODEL INDEX --store FILE, and POST /v1/search."
                )
            X = fill(hits.ids, X)
        names = self.model.feature_names
        data = Dataset.from_arrays(X, group=[len(X)], feature_names=names, document_ids=hits.ids).grouped()
        return data, X, self.model.score(data) if len(X) else np.empty(0)

    def _shares(self, data: Dataset, rows: Ints) -> tuple[Array | None, str]:
        """Contributions of features to the scores of rows, compared with a document with the mean of all features."""
        attribution = shares_over_mean(self.model, data, rows)
        if attribution is None:
            return None, ""
        return attribution.shares, f"{attribution.how}, to the mean of the candidates"

    def run(self, queries: Iterable[Topic], k: int = 1000) -> Run:
        """Search for many queries; the rankings as a run.

        `k`: the number of documents of each query.
        `queries`: ids and texts, with vectors if the first stage needs them.
        """
        rankings: dict[str, dict[str, float]] = {}
        for topic in queries:
            answer = self.search(topic.text, k, vector=topic.vector)
            rankings[topic.id] = dict(zip(answer.ids, answer.scores.tolist(), strict=True))
        return Run.from_dict(rankings)
