"""z-scores: each feature minus its training mean, divided by its training standard deviation.

Missing values become the mean (0). Sparse features are scaled but not centred, which keeps them sparse; a score
shifts by the same amount for every document, so no order changes for linear scorers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from podium.data.dataset import Dataset
from podium.features.base import State, Transform
from podium.registry import register
from podium.threads import map_blocks


@register
class ZScore(Transform):
    """x' = (x − mean) / deviation, both of the training data."""

    name = "zscore"

    def fit(self, data: Dataset) -> State:
        X = data.features
        if sp.issparse(X):
            n = max(X.shape[0], 1)
            mean = np.asarray(X.sum(axis=0), np.float64).ravel() / n
            square = np.asarray(X.multiply(X).sum(axis=0), np.float64).ravel() / n
            deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
            mean = np.zeros_like(mean)
        else:
            mean, deviation = _moments(X)
        # A spread below float32's resolution of the values is rounding, not information.
        flat = deviation <= 1e-6 * np.maximum(np.abs(mean), 1e-30)
        return {"mean": mean, "scale": np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, deviation))}

    def features(self, state: State, data: Dataset) -> Any:
        X = data.features
        if sp.issparse(X):
            return sp.csr_array(X @ sp.diags_array(state["scale"]), dtype=np.float32)
        out = np.empty_like(X)

        def work(a: int, b: int) -> None:
            out[a:b] = (X[a:b] - state["mean"]) * state["scale"]
            np.nan_to_num(out[a:b], copy=False, nan=0.0, posinf=None, neginf=None)

        map_blocks(work, len(X))
        return out


def _moments(X: Any) -> tuple[Any, Any]:
    """Mean and standard deviation of each column in float64, over its values that are not missing."""
    counts = sum(map_blocks(lambda a, b: (~np.isnan(X[a:b])).sum(axis=0), len(X)), np.zeros(X.shape[1]))
    counts = np.maximum(counts, 1)
    mean = sum(map_blocks(lambda a, b: np.nansum(X[a:b], axis=0, dtype=np.float64), len(X)), np.zeros(X.shape[1]))
    mean = mean / counts
    parts = map_blocks(lambda a, b: np.nansum((X[a:b] - mean) ** 2, axis=0), len(X))
    return mean, np.sqrt(sum(parts, np.zeros(X.shape[1])) / counts)
