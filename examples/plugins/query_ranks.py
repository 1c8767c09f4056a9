"""Ranks of features within their query, for features whose order matters and whose size does not."""

from typing import Any

import numpy as np

from podium.base.arrays import dense
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.transforms.base import State, Transform


@register
class QueryRanks(Transform):
    """x' = share of the query's documents with a smaller x; missing values become 0."""

    per_query = True

    def fit(self, data: Dataset) -> State:
        return {}

    def features(self, state: State, data: Dataset) -> Any:
        X = dense(data.features)
        shares = np.zeros(X.shape, np.float32)
        for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
            for column, share in zip(X[start:end].T, shares[start:end].T, strict=True):
                present = ~np.isnan(column)
                values = column[present]
                share[present] = np.searchsorted(np.sort(values), values) / max(len(values), 1)
        return shares
