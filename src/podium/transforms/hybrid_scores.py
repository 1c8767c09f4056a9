"""Scores of several first stages, normalised as a search engine does before it adds them up with weights.

>>> import numpy as np
>>> from podium.data.dataset import Dataset
>>> data = Dataset.from_arrays([[2.0, np.nan], [5.0, 0.5], [3.5, 0.25]])
>>> HybridScores().apply({}, data).features.round(3).tolist()
[[0.0010000000474974513, 0.0], [1.0, 1.0], [0.5, 0.0010000000474974513]]
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from podium.base.arrays import Singles, dense
from podium.base.registry import register
from podium.transforms.base import State, Transform, refuse_infinite

if TYPE_CHECKING:
    from podium.data.dataset import Dataset

_LEAST = np.float32(1.4e-45)
"""The least largest score, in both engines."""
_FLOOR = np.float32(0.001)
_SMALL = 1e-6


@register
class HybridScores(Transform):
    """Normalised scores of first stages: each column over the documents of the query that the stage returned.

    minmax is (x − min)/(max − min), l2 is x/√Σx², both in float32 as the engine computes them: in OpenSearch the least
    score is 0.001, not 0, and equal ones are 1; in Elasticsearch equal ones stay. A document that a stage did not
    return has a missing score, and 0 after it.
    """

    engine: Literal["opensearch", "elasticsearch"] = "opensearch"
    """Engine whose arithmetic is followed."""
    how: Literal["minmax", "l2"] = "minmax"
    """Normalisation: (x − min)/(max − min), or x/√Σx²."""
    name = "hybrid-scores"
    per_query = True

    def fit(self, data: Dataset) -> State:
        refuse_infinite(data, self.name)
        return {}

    def features(self, state: State, data: Dataset) -> Any:
        refuse_infinite(data, self.name)
        X = np.asarray(dense(data.features), np.float32)
        out = np.zeros(X.shape, np.float32)
        for a, b in itertools.pairwise(data.offsets.tolist()):
            out[a:b] = self.normalised(X[a:b])
        return out

    def normalised(self, X: Singles) -> Singles:
        """The scores of one query, normalised."""  # (n, m)
        out = np.zeros(X.shape, np.float32)
        with np.errstate(over="ignore", invalid="ignore"):  # scores near the largest float32
            for column in range(X.shape[1]):
                there = ~np.isnan(X[:, column])
                if there.any():
                    out[there, column] = (_minmax if self.how == "minmax" else _l2)(X[there, column], self.engine)
        return np.nan_to_num(out, nan=0.0, posinf=0.0, neginf=0.0)


def _minmax(x: Singles, engine: str) -> Singles:
    low, high = x.min(), max(x.max(), _LEAST)
    if low == high:
        return np.full_like(x, 1.0 if engine == "opensearch" else low)
    scaled: Singles = (x - low) / (high - low)
    return np.where(scaled == 0, _FLOOR, scaled) if engine == "opensearch" else scaled


def _l2(x: Singles, engine: str) -> Singles:
    """OpenSearch adds up in float32, best first; Elasticsearch adds float32 squares in float64."""
    squares = np.sort(x)[::-1] ** 2
    if engine == "opensearch":
        norm = np.float32(np.sqrt(np.cumsum(squares)[-1]))
        return np.zeros_like(x) if norm == 0 else x / norm
    double = np.sqrt(np.cumsum(squares.astype(np.float64))[-1])
    return x if double < _SMALL else (x / double).astype(np.float32)
