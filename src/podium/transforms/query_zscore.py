"""Per-query z-scores: features of different queries on one scale, e.g. text scores such as BM25.

>>> import numpy as np
>>> from podium.data.dataset import Dataset
>>> data = Dataset.from_arrays([[1.0], [3.0], [10.0], [10.0]], group=[2, 2])
>>> QueryZScore().apply({}, data).features.ravel().tolist()
[-1.0, 1.0, 0.0, 0.0]
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints, Singles
from podium.base.registry import register
from podium.transforms.per_query import PerQuery


@register
class QueryZScore(PerQuery):
    """Per-query z-scores: x' = (x − mean)/deviation over the documents of the query; 0 if constant there."""

    name = "query-zscore"

    def levels(self, X: Singles, starts: Ints) -> tuple[Array, Array]:
        """Mean of each feature in each query without missing values, and 1/deviation, 0 if it is constant."""
        present = ~np.isnan(X)  # (Q, d) each
        counts = np.maximum(np.add.reduceat(present, starts, axis=0, dtype=np.int64), 1)
        values = np.where(present, X, np.float32(0)).astype(np.float64)
        mean = np.add.reduceat(values, starts, axis=0) / counts
        sizes = np.diff(np.append(starts, len(X)))
        apart = np.where(present, values - np.repeat(mean, sizes, axis=0), 0.0)
        deviation = np.sqrt(np.add.reduceat(apart**2, starts, axis=0) / counts)
        flat = deviation <= 1e-6 * np.maximum(np.abs(mean), 1e-30)  # rounding of float32, not information
        return mean, np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, deviation))
