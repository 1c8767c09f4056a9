"""Features as they are, and each of them again, scaled to [0, 1] within its query.

For trees on features whose level differs from query to query, such as BM25 scores: they see where a document stands
among the others of its query, and keep what the values say across queries. A feature that is scaled so already in the
training data is not added.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.arrays import dense
from podium.data.dataset import Dataset
from podium.registry import register
from podium.transforms.base import State, Transform
from podium.transforms.minmax import MinMax


@register
class AddMinMax(Transform):
    """x, and (x − min) / (max − min) over the documents of the query, side by side. Sparse features are made dense."""

    name = "add-minmax"
    per_query = True

    def fit(self, data: Dataset) -> State:
        MinMax().fit(data)  # refuses infinite values
        scaled = MinMax().features({}, data)
        apart = np.abs(scaled - np.nan_to_num(dense(data.features))).max(axis=0, initial=0.0)
        return {"added": np.flatnonzero(apart > _SAME)}

    def features(self, state: State, data: Dataset) -> Any:
        added = MinMax().features({}, data)[:, state["added"]]
        return np.hstack([dense(data.features), added])

    def sources(self, state: State, n_features: int) -> NDArray[np.int64]:
        return np.concatenate([np.arange(n_features), state["added"]])


_SAME = 1e-5
"""What LETOR's files lose by printing scaled features with six digits."""
