"""Per-query min–max scaling: each feature is mapped to [0, 1] within its query, as in LETOR's QueryLevelNorm.

Features that are constant within a query, and missing values, become 0. Sparse features become dense.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints, Singles
from podium.base.registry import register
from podium.transforms.per_query import PerQuery


@register
class MinMax(PerQuery):
    """Per-query min–max scaling: x' = (x − min) / (max − min) over the documents of the query."""

    name = "minmax"

    def levels(self, X: Singles, starts: Ints) -> tuple[Array, Array]:
        """Smallest value of each feature in each query, and 1/(largest − smallest)."""  # (Q, d) each
        low = np.fmin.reduceat(X, starts, axis=0).astype(np.float64)
        width = np.fmax.reduceat(X, starts, axis=0) - low
        # If the width is 0, or all values are missing, the whole feature becomes 0.
        return low, np.divide(1.0, width, out=np.zeros_like(width), where=width > 0)
