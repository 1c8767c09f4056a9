"""Per-query min–max: each feature of a query's documents mapped to [0, 1], as LETOR's QueryLevelNorm does.

A feature that is constant within a query, and a missing value, become 0. Sparse features are made dense.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.arrays import Array, dense
from podium.data.dataset import Dataset
from podium.registry import register
from podium.threads import map_blocks
from podium.transforms.base import Affine, State, Transform, refuse_infinite


@register
class MinMax(Transform):
    """x' = (x − min) / (max − min), both over the documents of the query."""

    name = "minmax"
    per_query = True

    def fit(self, data: Dataset) -> State:
        refuse_infinite(data, self.name)
        return {}

    def affine(self, state: State, data: Dataset) -> Affine | None:
        if np.count_nonzero(data.sizes) != 1:
            return None
        low, scale = _range(dense(data.features), np.zeros(1, np.int64))
        return Affine(low[0], scale[0], np.zeros(data.n_features))

    def features(self, state: State, data: Dataset) -> Any:
        refuse_infinite(data, self.name)
        X = dense(data.features)
        filled = np.flatnonzero(data.sizes)
        out = np.empty(X.shape, np.float32)
        if not len(filled):
            return out
        low, scale = _range(X, data.offsets[:-1][filled])
        query = np.repeat(np.arange(len(filled)), data.sizes[filled])

        def work(a: int, b: int) -> None:
            out[a:b] = np.nan_to_num((X[a:b] - low[query[a:b]]) * scale[query[a:b]], nan=0.0)

        map_blocks(work, len(X))
        return out


def _range(X: NDArray[np.float32], starts: NDArray[np.int64]) -> tuple[Array, Array]:
    """The least value of each feature in each query, and 1/(largest − least)."""  # (Q, d) each
    low = np.fmin.reduceat(X, starts, axis=0).astype(np.float64)
    width = np.fmax.reduceat(X, starts, axis=0) - low
    # A width of 0 or of nothing but missing values has no information: the whole feature becomes 0.
    return low, np.divide(1.0, width, out=np.zeros_like(width), where=width > 0)
