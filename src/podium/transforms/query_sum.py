"""Per-query shares: each feature divided by its sum over the documents of the query, as RankLib's `-norm sum`.

>>> from podium.data.dataset import Dataset
>>> data = Dataset.from_arrays([[1.0, 0.0], [3.0, 0.0], [-2.0, 5.0], [2.0, 5.0]], group=[2, 2])
>>> QuerySum().apply({}, data).features.tolist()
[[0.25, 0.0], [0.75, 0.0], [-0.5, 0.5], [0.5, 0.5]]
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints, Singles
from podium.base.registry import register
from podium.transforms.per_query import PerQuery


@register
class QuerySum(PerQuery):
    """Per-query shares: x' = x / Σ|x| over the documents of the query; 0 if all are 0."""

    name = "query-sum"

    def levels(self, X: Singles, starts: Ints) -> tuple[Array, Array]:
        """0, and 1/Σ|x| of each feature in each query, 0 if all are 0."""  # (Q, d) each
        sizes = np.add.reduceat(np.abs(np.nan_to_num(X.astype(np.float64))), starts, axis=0)
        return np.zeros_like(sizes), np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
