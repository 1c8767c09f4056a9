"""Explanation of why a model ranks one document above another, and the smallest change that reverses their order.

    >>> from podium.data import make_letor_like
    >>> from podium.training import train
    >>> data, _ = make_letor_like(20, seed=1)
    >>> names = data.document_name(0), data.document_name(1)
    >>> explanation = explain(train(data, "regression"), data, query=data.query_name(0), documents=names)
    >>> bool(abs(explanation.shares.sum() - explanation.difference) < 1e-12)
    True

The shares are exact for linear models and trees; see `podium.explanation.attribution`. The quadrature error of a
multi-layer perceptron is `rest`, so that shares and rest always add up to the difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Singles, column
from podium.base.columns import text_ids
from podium.base.errors import DataError, IncompatibleError
from podium.base.shown import Shown, ShownTable, Value
from podium.data.inputs import labelled_data
from podium.jit.sorting import dense_ranks

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.explanation.flip import Flip
    from podium.model import Model


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Shown):
    """Explanation of one document over another: the share of each feature in the difference of their scores."""

    query: str
    documents: tuple[str, str]  # the one with the larger score first
    grades: tuple[float, float] | None
    scores: tuple[float, float]
    ranks: tuple[int, int]  # dense: documents with equal scores share a rank
    features: tuple[str, ...]
    values: Singles  # (2, d) as in the data
    shares: Array  # (d,)
    rest: float  # the part of the difference of no feature
    how: str
    flip: Flip | None  # None if no change of one feature was found that reverses the pair
    flip_range: tuple[float, float] | None  # of that feature in the data

    @property
    def difference(self) -> float:
        """The difference of the scores."""
        return self.scores[0] - self.scores[1]

    def to_dict(self, *, most: int | None = None) -> dict[str, Any]:
        """Everything as plain values for JSON; with `most`, only that many features and the sum of the others."""
        order = [int(l) for l in np.argsort(-np.abs(self.shares), kind="stable") if self.shares[l] != 0][:most]
        return {
            "query": self.query,
            "documents": [
                {"document": name, "score": self.scores[k], "rank": self.ranks[k],
                 "grade": None if self.grades is None else self.grades[k]}
                for k, name in enumerate(self.documents)
            ],
            "difference": self.difference,
            "how": self.how,
            "features": [
                {"feature": self.features[l], "share": float(self.shares[l]), "values": _plain(self.values[:, l])}
                for l in order
            ],
            "others": float(np.delete(self.shares, order).sum()),
            "rest": self.rest,
            "flip": None if self.flip is None else {**self.flip.to_dict(self.features), "range": self.flip_range},
        }  # fmt: skip

    def _shown(self) -> ShownTable:
        order = np.argsort(-np.abs(self.shares), kind="stable")
        upper, lower = self.documents
        rows: list[list[Value]] = [
            [self.features[l], float(self.values[0, l]), float(self.values[1, l]), float(self.shares[l])]
            for l in order
            if self.shares[l] != 0
        ]
        return ShownTable(
            f"Query {self.query}: {upper} (rank {self.ranks[0]}) above {lower} (rank {self.ranks[1]})",
            ["feature", upper, lower, "share"],
            rows,
            notes=[f"scores {self.scores[0]:.6g} − {self.scores[1]:.6g} = {self.difference:.6g}; {self.how}"],
            bars=3,
            columns=["feature", "upper", "lower", "share"],
        )


def explain(model: Model, data: Any, *, query: str, documents: tuple[str, str]) -> Explanation:
    """Explain why the model ranks one document of a query above another. In a tie the first document is first.

    `data`: a Dataset, or a frame, with the query.
    `documents`: the ids of two documents of the query.
    `model`: a linear model, trees or an mlp, on features that are not mixed.
    `query`: id of the query.
    """
    data = labelled_data(data)
    query, names = text_ids([query], "query")[0], text_ids(documents, "document").tolist()
    if len(names) != 2 or names[0] == names[1]:
        raise DataError(f"query {query}: two different documents are needed; got {' and '.join(names) or 'none'}.")
    q = _query(data, query)
    rows = [_row(data, q, name) - int(data.offsets[q]) for name in names]
    explanation = explain_rows(model, data, q, (rows[0], rows[1]))
    if explanation is None:
        raise IncompatibleError(
            f"The scores of {model.learner.name} with transform={model.learner.transform} cannot be taken apart by "
            "feature. Explain a model with scorer=linear, trees or mlp, or one of prank, oc-svm, rankboost, adarank, "
            "splitting, svm-map, permurank, gbrank, single-feature, on features that are not mixed (zscore, minmax, "
            "identity)."
        )
    return explanation


def explain_rows(model: Model, data: Dataset, q: int, rows: tuple[int, int]) -> Explanation | None:
    """Explain two rows of query number q, counted from its first; None if the model cannot be decomposed."""
    from podium.explanation.attribution import attribute_pair
    from podium.explanation.flip import smallest_flip

    data = model.align_features(data)
    part = data.select([q]).dense()
    scores = model.score(part)
    a, b = rows if scores[rows[0]] >= scores[rows[1]] else rows[::-1]
    attribution = attribute_pair(model, part, (a, b))
    if attribution is None:
        return None
    difference, ranks = float(scores[a] - scores[b]), dense_ranks(scores)
    grades = None if part.labels is None else (float(part.labels[a]), float(part.labels[b]))
    flip = smallest_flip(model, part, (a, b), data) if difference > 0 else None
    return Explanation(
        query=part.query_name(0),
        documents=(data.document_name(int(data.offsets[q]) + a), data.document_name(int(data.offsets[q]) + b)),
        grades=grades,
        scores=(float(scores[a]), float(scores[b])),
        ranks=(int(ranks[a]), int(ranks[b])),
        features=tuple(feature_name(model, data, l) for l in range(model.n_features)),
        values=np.asarray(part.features[[a, b]]),
        shares=attribution.shares,
        rest=difference - float(attribution.shares.sum()),
        how=attribution.how,
        flip=flip,
        flip_range=None if flip is None else _range(data, flip.feature),
    )


def _range(data: Dataset, l: int) -> tuple[float, float] | None:
    """The smallest and the largest value of a feature; None if it has none."""
    values = column(data.features, l)
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else None


def feature_name(model: Model, data: Dataset, l: int) -> str:
    """A feature's name; its number, from 1, if it has none."""
    names = model.feature_names or data.feature_names
    return str(l + 1) if names is None else names[l]


def _query(data: Dataset, name: str) -> int:
    for q in range(data.n_queries):
        if data.query_name(q) == name:
            return q
    examples = ", ".join(data.query_name(q) for q in range(min(data.n_queries, 5)))
    raise DataError(f"no query {name!r}; there are {data.n_queries}, e.g. {examples}.", where=data.source)


def _row(data: Dataset, q: int, name: str) -> int:
    rows = range(int(data.offsets[q]), int(data.offsets[q + 1]))
    same = [row for row in rows if data.document_name(row) == name]
    if len(same) == 1:
        return same[0]
    if same:
        raise DataError(f"query {data.query_name(q)}: {len(same)} documents are called {name!r}.", where=data.source)
    examples = ", ".join(data.document_name(row) for row in rows[:5])
    raise DataError(
        f"query {data.query_name(q)}: no document {name!r}; there are {len(rows)}, e.g. {examples}.", where=data.source
    )


def _plain(values: Singles) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]
