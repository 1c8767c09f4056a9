"""Base of per-query scaling: x' = (x − centre)·scale, both from the documents of the query.

Missing values become 0. Sparse features become dense.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Ints, Singles, dense
from podium.base.threads import map_blocks
from podium.transforms.base import Affine, State, Transform, refuse_infinite

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


class PerQuery(Transform):
    """Affine scaling of features within each query; a subclass defines centre and scale."""

    per_query = True

    def levels(self, X: Singles, starts: Ints) -> tuple[Array, Array]:
        """Centre and scale of each feature in each query; query q begins at row starts[q]."""  # (Q, d) each
        raise NotImplementedError

    def fit(self, data: Dataset) -> State:
        refuse_infinite(data, self.name)
        return {}

    def affine(self, state: State, data: Dataset) -> Affine | None:
        if np.count_nonzero(data.sizes) != 1:
            return None
        centre, scale = self.levels(dense(data.features), np.zeros(1, np.int64))
        return Affine(centre[0], scale[0], np.zeros(data.n_features))

    def features(self, state: State, data: Dataset) -> Any:
        refuse_infinite(data, self.name)
        X = dense(data.features)
        filled = np.flatnonzero(data.sizes)
        out = np.empty(X.shape, np.float32)
        if not len(filled):
            return out
        centre, scale = self.levels(X, data.offsets[:-1][filled])
        query = np.repeat(np.arange(len(filled)), data.sizes[filled])

        def work(a: int, b: int) -> None:
            out[a:b] = np.nan_to_num((X[a:b] - centre[query[a:b]]) * scale[query[a:b]], nan=0.0)

        map_blocks(work, len(X))
        return out
