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
from podium.rows import in_blocks, on_disk
from podium.transforms.base import State, Transform
from podium.transforms.minmax import MinMax


@register
class AddMinMax(Transform):
    """x, and (x − min) / (max − min) over the documents of the query, side by side. Sparse features are made dense."""

    name = "add-minmax"
    per_query = True

    def fit(self, data: Dataset) -> State:
        MinMax().fit(data)  # refuses infinite values
        scaled = MinMax().apply({}, data).features
        X = data.features if on_disk(data.features) else dense(data.features)
        pairs = zip(in_blocks(scaled), in_blocks(X), strict=True)
        each = [np.abs(a - np.nan_to_num(b)).max(axis=0, initial=0.0) for a, b in pairs]
        apart = np.max(each, axis=0, initial=0.0)
        return {"added": np.flatnonzero(apart > _SAME)}

    def features(self, state: State, data: Dataset) -> Any:
        added = MinMax().features({}, data)[:, state["added"]]
        return np.hstack([dense(data.features), added])

    def sources(self, state: State, n_features: int) -> NDArray[np.int64]:
        return np.concatenate([np.arange(n_features), state["added"]])


_SAME = 1e-5
"""What LETOR's files lose by printing scaled features with six digits."""
