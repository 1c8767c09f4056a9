"""Features, and a copy of each that is scaled to [0, 1] within its query (per-query min–max).

For trees on features whose level differs between queries, such as BM25 scores: they see the value relative to the other
documents of the query, and the value itself. A feature that is already scaled in the training data is not added.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Ints, dense, is_sparse
from podium.base.errors import DataError
from podium.base.matrix_on_disk import in_blocks, on_disk
from podium.base.registry import register
from podium.transforms.base import Affine, State, Transform, refuse_infinite
from podium.transforms.identity import Identity
from podium.transforms.minmax import MinMax

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@register
class AddMinMax(Transform):
    """x, followed by (x − min) / (max − min) over the documents of the query. Sparse features become dense."""

    name = "add-minmax"
    per_query = True

    def worth_trying(self, data: Dataset) -> bool:
        """Whether levels differ between queries: else a feature determines most of its scaled copy."""
        if is_sparse(data.features) or data.categories:
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

    def sources(self, state: State, n_features: int) -> Ints:
        return np.concatenate([np.arange(n_features), state["added"]])


_SAME = 1e-5
"""Rounding error of scaled features in LETOR's files, which have six digits."""
_ENOUGH, _QUERIES = 20_000, 50
"""Documents and queries, spread over the data, that are enough to see whether levels differ."""
_NEARLY_ALL = 0.75
"""Share of the variance of a scaled feature that the feature explains. For normal features with the same level in all
queries, it is 0.78 to 0.9 with 10 to 60 documents a query."""


def _scaled_and_not(data: Dataset) -> Iterator[tuple[Any, Any]]:
    """Blocks of rows of scaled and of original features, missing values as 0."""
    MinMax().fit(data)  # refuses infinite values
    scaled = MinMax().apply({}, data).features
    X = data.features if on_disk(data.features) else dense(data.features)
    return ((a, np.nan_to_num(b)) for a, b in zip(in_blocks(scaled), in_blocks(X), strict=True))


def _explained(data: Dataset) -> Array:
    """Squared correlation of each feature with its scaled copy; 1 if either is constant."""
    sums, shift = np.zeros((5, data.n_features)), None
    for a, b in _scaled_and_not(data):
        shift = b.mean(axis=0, dtype=np.float64) if shift is None else shift
        a, b = a.astype(np.float64), b - shift
        sums += [a.sum(axis=0), b.sum(axis=0), (a * a).sum(axis=0), (b * b).sum(axis=0), (a * b).sum(axis=0)]
    a, b, aa, bb, ab = sums / max(data.n_documents, 1)
    both = (aa - a * a) * (bb - b * b)
    squared: Array = np.divide((ab - a * b) ** 2, both, out=np.ones_like(both), where=both > _ROUNDING * aa * bb)
    return squared


_ROUNDING = 1e-24
"""Relative product of two variances below which one of them is rounding error."""
