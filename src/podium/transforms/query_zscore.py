"""Z-scores per query: features of different queries on one scale, as scores of text need.

>>> import numpy as np
>>> from podium.data.dataset import Dataset
>>> data = Dataset.from_arrays([[1.0], [3.0], [10.0], [10.0]], group=[2, 2])
>>> QueryZScore().apply({}, data).features.ravel().tolist()
[-1.0, 1.0, 0.0, 0.0]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array
from podium.base.registry import register
from podium.transforms.per_query import PerQuery


@register
class QueryZScore(PerQuery):
    """x' = (x − mean)/deviation, both over the documents of the query; a feature that is constant there becomes 0."""

    name = "query-zscore"

    def levels(self, X: NDArray[np.float32], starts: NDArray[np.int64]) -> tuple[Array, Array]:
        """The mean of each feature in each query over its known values, and 1/deviation, 0 where it is constant."""
        known = ~np.isnan(X)  # (Q, d) each
        counts = np.maximum(np.add.reduceat(known, starts, axis=0, dtype=np.int64), 1)
        values = np.where(known, X, np.float32(0)).astype(np.float64)
        mean = np.add.reduceat(values, starts, axis=0) / counts
        sizes = np.diff(np.append(starts, len(X)))
        apart = np.where(known, values - np.repeat(mean, sizes, axis=0), 0.0)
        deviation = np.sqrt(np.add.reduceat(apart**2, starts, axis=0) / counts)
        flat = deviation <= 1e-6 * np.maximum(np.abs(mean), 1e-30)  # rounding of float32, not information
        return mean, np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, deviation))
