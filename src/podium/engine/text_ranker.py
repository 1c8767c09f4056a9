"""TextRanker: re-ranking of texts that are not in an index, by a model that was trained on features of the index."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from podium.base.arguments import whole_number
from podium.base.arrays import Singles
from podium.base.errors import DataError, IncompatibleError, ParameterError
from podium.data.dataset import Dataset
from podium.engine.engine import Engine
from podium.jit.sorting import order
from podium.model import Model
from podium.text.context import Context
from podium.text.features import Feature
from podium.text.text_context import TextContext

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.query import Query

Text = str | Mapping[str, Any]
"""A text, or a dict with the fields of the index."""


class RankedText(NamedTuple):
    """A text: its position in the list that was given, from 0, its score and its features."""

    position: int
    score: float
    features: Singles


class TextRanker:
    """Ranks texts for a query by the features that a model was trained on, with the statistics of an index.

    The texts need not be documents of the index, and are not added to it; one that is has that document's features.
    A string is the field `text`, or if the index has none, the field with the most words. What a text lacks (links,
    visits, stored fields that are not given) is a missing value, if the model takes missing values.

    `index`: the index whose statistics the features use, made as that of the training data.
    `model`: a model that was trained on features of such an index, or its path.
    """

    def __init__(self, index: Index, model: Model | str | os.PathLike[str]) -> None:
        self.engine = Engine(index, model)
        self.index, self.model = index, self.engine.model
        self._demanding = [
            (column, feature)
            for column, feature in enumerate(self.engine.features)
            if type(feature).lacks is not Feature.lacks
        ]
        self._takes: dict[int, bool] = {}

    def rank(
        self, query: str, texts: Sequence[Text], k: int | None = None, *, vector: Sequence[float] | None = None
    ) -> list[RankedText]:
        """The texts, best first; the k best of them if k is given. Texts with equal scores keep their order.

        `query`: its text.
        `vector`: the vector of the query, if the model has features of vectors.
        `texts`: strings, or dicts of fields.
        `k`: the number of texts to return; None returns all.
        """
        most = len(texts) if k is None else whole_number(k, "k", least=1)
        if isinstance(texts, str):
            raise ParameterError("rank: a list of texts is needed; got one text. Write [text].")
        records = [self._record(text, n) for n, text in enumerate(texts, 1)]
        self._refuse(records)
        X = self.features(query, records, vector=vector)
        scores = self.model.score(Dataset.from_arrays(X, group=[len(X)], feature_names=self.model.feature_names))
        return [RankedText(row, float(scores[row]), X[row]) for row in order(scores)[:most].tolist()]

    def features(self, query: str, texts: Sequence[Text], *, vector: Sequence[float] | None = None) -> Singles:
        """The features of texts for a query, in the order of the model's.

        `vector`: as for `rank`.
        `query`: its text.
        `texts`: strings, or dicts of fields.
        """  # (n, d)
        records = [self._record(text, n) for n, text in enumerate(texts, 1)]
        asked = self.index.query(query, vector=vector)
        context = TextContext(self.index, asked, records, lambda: self._candidates(asked))
        return self.engine.plan.matrix(context)

    def record(self, text: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A text with other fields, as `rank` takes it: the text is what a string would be.

        `text`: the main text.
        `fields`: other fields by name, such as a title or stored numbers.
        """
        return {**fields, main_field(self.index): text}

    def _candidates(self, query: Query) -> Context:
        hits = self.index.search(query, self.engine.depth, by=self.engine.retrieval)
        return Context(self.index, query, hits.numbers, hits.scores, by=self.engine.retrieval)

    def _record(self, text: Text, n: int) -> Mapping[str, Any]:
        if isinstance(text, str):
            return {main_field(self.index): text}
        if not isinstance(text, Mapping):
            raise DataError(f"a text is a string or a dict of fields; got {type(text).__name__}.", where=f"text {n}")
        return text

    def _refuse(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Raise an error if a text lacks what a feature needs, and the model takes no missing value of it."""
        for column, feature in self._demanding:
            for n, record in enumerate(records, 1):
                what = feature.lacks(record, self.index)
                if what is not None and not self._takes_missing(column):
                    raise IncompatibleError(
                        f"text {n} lacks {what}, which the feature {feature} needs, and this model takes no missing "
                        "values. Give it as a field of the text, or train without the feature, or with a model of "
                        "trees."
                    )

    def _takes_missing(self, column: int) -> bool:
        if column not in self._takes:
            X = np.zeros((1, len(self.engine.features)), np.float32)
            X[0, column] = np.nan
            try:
                self.model.score(Dataset.from_arrays(X, group=[1], feature_names=self.model.feature_names))
            except DataError:
                self._takes[column] = False
            else:
                self._takes[column] = True
        return self._takes[column]


def main_field(index: Index) -> str:
    """The field of a text without fields: `text`, or without one the field with the most words."""
    if "text" in index.fields:
        return "text"
    words = sum((segment.totals[:-1] for segment in index.segments), np.zeros(len(index.fields), np.int64))
    return index.fields[int(np.argmax(words))]
