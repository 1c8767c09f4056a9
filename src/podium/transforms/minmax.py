"""Per-query min–max: each feature of a query's documents mapped to [0, 1], as LETOR's QueryLevelNorm does.

A feature that is constant within a query, and a missing value, become 0. Sparse features are made dense.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array
from podium.base.registry import register
from podium.transforms.per_query import PerQuery


@register
class MinMax(PerQuery):
    """x' = (x − min) / (max − min), both over the documents of the query."""

    name = "minmax"

    def levels(self, X: NDArray[np.float32], starts: NDArray[np.int64]) -> tuple[Array, Array]:
        """The least value of each feature in each query, and 1/(largest − least)."""  # (Q, d) each
        low = np.fmin.reduceat(X, starts, axis=0).astype(np.float64)
        width = np.fmax.reduceat(X, starts, axis=0) - low
        # A width of 0 or of nothing but missing values has no information: the whole feature becomes 0.
        return low, np.divide(1.0, width, out=np.zeros_like(width), where=width > 0)
