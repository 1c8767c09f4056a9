"""Features as they are, and each of them again, scaled to [0, 1] within its query.

For trees on features whose level differs from query to query, such as BM25 scores: they see where a document stands
among the others of its query, and keep what the values say across queries. A feature that is scaled so already in the
training data is not added.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, dense, is_sparse
from podium.base.errors import DataError
from podium.base.matrix_on_disk import in_blocks, on_disk
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.transforms.base import Affine, State, Transform, refuse_infinite
from podium.transforms.identity import Identity
from podium.transforms.minmax import MinMax


@register
class AddMinMax(Transform):
    """x, and (x − min) / (max − min) over the documents of the query, side by side. Sparse features are made dense."""

    name = "add-minmax"
    per_query = True

    def worth_trying(self, data: Dataset) -> bool:
        """Not where each feature says nearly all that its scaled copy would: levels hardly differ between queries."""
        if is_sparse(data.features):
            return False
        every = max(min(data.n_documents // _ENOUGH, data.n_queries // _QUERIES), 1)
        try:
            differ = bool((_explained(data.select(np.arange(0, data.n_queries, every))) < _NEARLY_ALL).any())
            if differ:
                refuse_infinite(data, self.name)
        except DataError:
            return False
        return differ

    def fit(self, data: Dataset) -> State:
        each = [np.abs(a - b).max(axis=0, initial=0.0) for a, b in _scaled_and_not(data)]
        apart = np.max(each, axis=0, initial=0.0)
        return {"added": np.flatnonzero(apart > _SAME)}

    def features(self, state: State, data: Dataset) -> Any:
        added = MinMax().features({}, data)[:, state["added"]]
        return np.hstack([dense(data.features), added])

    def affine(self, state: State, data: Dataset) -> Affine | None:
        return None if len(state["added"]) else Identity().affine({}, data)

    def sources(self, state: State, n_features: int) -> NDArray[np.int64]:
        return np.concatenate([np.arange(n_features), state["added"]])


_SAME = 1e-5
"""What LETOR's files lose by printing scaled features with six digits."""
_ENOUGH, _QUERIES = 20_000, 50
"""Documents and queries, from everywhere in the data, that show whether levels differ."""
_NEARLY_ALL = 0.75
"""The share of the variance of a scaled feature that follows from the feature. Of normal features that have the same
level in all queries, it is 0.78 to 0.9 with 10 to 60 documents a query."""


def _scaled_and_not(data: Dataset) -> Iterator[tuple[Any, Any]]:
    """Blocks of rows of scaled features and of features as they are, missing values as 0."""
    MinMax().fit(data)  # refuses infinite values
    scaled = MinMax().apply({}, data).features
    X = data.features if on_disk(data.features) else dense(data.features)
    return ((a, np.nan_to_num(b)) for a, b in zip(in_blocks(scaled), in_blocks(X), strict=True))


def _explained(data: Dataset) -> Array:
    """The squared correlation of each feature with its scaled copy; 1 where either is constant."""
    sums, shift = np.zeros((5, data.n_features)), None
    for a, b in _scaled_and_not(data):
        shift = b.mean(axis=0, dtype=np.float64) if shift is None else shift
        a, b = a.astype(np.float64), b - shift
        sums += [a.sum(axis=0), b.sum(axis=0), (a * a).sum(axis=0), (b * b).sum(axis=0), (a * b).sum(axis=0)]
    a, b, aa, bb, ab = sums / max(data.n_documents, 1)
    both = (aa - a * a) * (bb - b * b)
    found: Array = np.divide((ab - a * b) ** 2, both, out=np.ones_like(both), where=both > _ROUNDING * aa * bb)
    return found


_ROUNDING = 1e-24
"""Of a product of two variances: below it, one of the two is rounding."""
