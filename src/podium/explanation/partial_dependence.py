"""Partial dependence within queries: how a document's score and rank change as one of its features moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Ints, Singles, column
from podium.data.dataset import Dataset

if TYPE_CHECKING:
    from podium.model import Model

QUANTILES = 11
"""Values that a feature moves over: its least, its tenths and its largest."""
_DOCUMENTS = 200
"""Most documents to move, drawn at random."""


@dataclass(frozen=True, eq=False)
class PartialDependence:
    """Mean changes of score and rank of documents, by feature."""

    at: list[Array]  # of each feature, (P,) values, rising
    score: list[Array]
    rank: list[Array]
    base: float  # the mean score
    documents: int  # how many were moved

    def of(self, l: int) -> tuple[Array, Array, Array]:
        """Values of feature l, and the mean changes of score and rank."""
        return self.at[l], self.score[l], self.rank[l]


def partial_dependence(model: Model, data: Dataset) -> PartialDependence:
    """Move each feature of each document of a sample over the feature's quantiles, all else as it is."""
    scores = model.score(data)
    rng = np.random.default_rng(0)
    sample = np.sort(rng.permutation(data.n_documents)[:_DOCUMENTS])
    queries, place = np.unique(data.query_index[sample], return_inverse=True)
    part = data.select(queries).dense()
    rows = part.offsets[place] + sample - data.offsets[queries[place]]
    own = model.score(part)
    moved = _whole_queries if model.learner.per_query else _rows_alone
    result = PartialDependence([], [], [], float(scores.mean()), len(sample))
    for l in range(model.n_features):
        kinds = (model.categories or {}).get(l)
        at = _quantiles(column(data.features, l)) if kinds is None else np.arange(len(kinds), dtype=np.float32)
        score, rank = moved(model, part, own, rows, l, at) if len(at) > 1 else np.zeros((2, len(at)))
        result.at.append(at.astype(np.float64))
        result.score.append(score)
        result.rank.append(rank)
    return result


def _quantiles(values: Singles) -> Singles:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return np.empty(0, np.float32)
    return np.unique(np.quantile(finite, np.linspace(0, 1, QUANTILES), method="nearest"))


def _rows_alone(model: Model, part: Dataset, own: Array, rows: Ints, l: int, at: Singles) -> Array:
    """Mean changes of score and rank, if a score does not depend on the query."""  # (2, P)
    X = np.repeat(np.asarray(part.features)[rows], len(at), axis=0)
    X[:, l] = np.tile(at, len(rows))
    documents = replace(Dataset.from_arrays(X), categories=model.categories)
    scores = model.score(documents).reshape(len(rows), len(at))
    changes = np.zeros((2, len(at)))
    for row, new in zip(rows.tolist(), scores, strict=True):
        q = int(part.query_index[row])
        others = np.delete(own[part.offsets[q] : part.offsets[q + 1]], row - int(part.offsets[q]))
        changes += _changes(new, np.broadcast_to(others, (len(at), len(others))), own[row], others)
    return changes / len(rows)


def _whole_queries(model: Model, part: Dataset, own: Array, rows: Ints, l: int, at: Singles) -> Array:
    """Mean changes of score and rank, with the scores of the whole query computed anew for each value."""  # (2, P)
    changes = np.zeros((2, len(at)))
    for row in rows.tolist():
        q = int(part.query_index[row])
        n, here = int(part.sizes[q]), row - int(part.offsets[q])
        copies = part.select(np.full(len(at), q))
        X = np.array(copies.features)
        X[here + n * np.arange(len(at)), l] = at
        scores = model.score(replace(copies, features=X)).reshape(len(at), n)
        before = np.delete(own[part.offsets[q] : part.offsets[q + 1]], here)
        changes += _changes(scores[:, here], np.delete(scores, here, axis=1), own[row], before)
    return changes / len(rows)


def _changes(scores: Array, others: Array, own: float, before: Array) -> Array:
    """Changes of one document's score and rank, from `own` among `before`; ties share their mean rank."""  # (2, P)
    above = (others > scores[:, None]).sum(axis=1) + 0.5 * (others == scores[:, None]).sum(axis=1)
    was = (before > own).sum() + 0.5 * (before == own).sum()
    return np.stack([scores - own, above - was])
