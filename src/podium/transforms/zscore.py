"""z-scores (standardisation): each feature minus its training mean, divided by its training standard deviation.

Missing values become the mean. Sparse training features are scaled but not centred, which keeps them sparse; linear
scorers rank the same, because all scores shift by the same amount.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Singles, is_sparse
from podium.base.errors import IncompatibleError
from podium.base.registry import register
from podium.base.threads import map_blocks
from podium.jit.compiled import compiled
from podium.jit.tiers import FEW_CELLS
from podium.transforms.base import Affine, State, Transform, refuse_infinite

if TYPE_CHECKING:
    import scipy.sparse as sp

    from podium.data.dataset import Dataset


@register
class ZScore(Transform):
    """z-scores: x' = (x − mean) / deviation, both of the training data; 0 if the feature is constant there."""

    name = "zscore"

    def fit(self, data: Dataset) -> State:
        refuse_infinite(data, self.name)
        mean, deviation = _sparse_moments(data.features) if is_sparse(data.features) else _moments(data.features)
        return self.state(mean, deviation, centred=not is_sparse(data.features))

    def state(self, mean: Array, deviation: Array, *, centred: bool) -> State:
        """State from the moments of the training data."""
        # A spread below float32's resolution of the values is rounding, not information.
        flat = deviation <= 1e-6 * np.maximum(np.abs(mean), 1e-30)
        scale = np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, deviation))
        centre = mean if centred else np.zeros_like(mean)
        return {"mean": mean, "centre": centre, "scale": scale}

    def affine(self, state: State, data: Dataset) -> Affine:
        missing = (state["mean"] - state["centre"]) * state["scale"]
        return Affine(state["centre"], state["scale"], missing)

    def features(self, state: State, data: Dataset) -> Any:
        X, mean, centre, scale = data.features, state["mean"], state["centre"], state["scale"]
        if {mean.shape, centre.shape, scale.shape} != {(X.shape[1],)}:  # a compiled loop would read beyond
            raise IncompatibleError(f"zscore was fitted on {len(mean)} features; the data has {X.shape[1]}.")
        if is_sparse(X) and not centre.any():
            import scipy.sparse as sp

            values = np.where(np.isnan(X.data), mean[X.indices], X.data) * scale[X.indices]
            return sp.csr_array((values.astype(np.float32), X.indices, X.indptr), shape=X.shape)
        if not is_sparse(X) and X.size <= FEW_CELLS // 10:  # it takes three times the memory
            x = X[0 : len(X)]
            values = np.where(np.isnan(x), mean, x)
            values -= centre
            values *= scale
            with np.errstate(over="ignore"):  # infinite, as in machine code
                return values.astype(np.float32)
        out = np.empty(X.shape, np.float32)

        def work(a: int, b: int) -> None:
            _scale(X[a:b].toarray() if is_sparse(X) else X[a:b], mean, centre, scale, out[a:b])

        map_blocks(work, X.shape[0])
        return out


@compiled
def _scale(X: Singles, mean: Array, centre: Array, scale: Array, out: Singles) -> None:
    for i in range(X.shape[0]):
        x, row = X[i], out[i]
        for l in range(len(mean)):
            value = mean[l] if np.isnan(x[l]) else np.float64(x[l])
            row[l] = np.float32((value - centre[l]) * scale[l])


def _moments(X: Singles) -> tuple[Array, Array]:
    """Mean and standard deviation of each column in float64, without missing values."""
    counts, total = counts_and_sums(X)
    mean = total / np.maximum(counts, 1)
    return mean, np.sqrt(squares(X, mean) / np.maximum(counts, 1))


def counts_and_sums(X: Any) -> tuple[Array, Array]:
    """Number of values of each column that are not missing, and their sum."""

    def block(a: int, b: int) -> tuple[Array, Array]:
        x = X[a:b]
        return (~np.isnan(x)).sum(axis=0), np.nansum(x, axis=0, dtype=np.float64)

    blocks, zeros = map_blocks(block, len(X)), np.zeros(X.shape[1])
    return sum((counts for counts, _ in blocks), zeros), sum((sums for _, sums in blocks), zeros)


def squares(X: Any, mean: Array) -> Array:
    """Sum of (x − mean)² over the values of each column that are not missing."""
    blocks = map_blocks(lambda a, b: np.nansum((X[a:b] - mean) ** 2, axis=0), len(X))
    return sum(blocks, np.zeros(X.shape[1]))


def _sparse_moments(X: sp.csr_array) -> tuple[Array, Array]:
    """Mean and standard deviation of each column of a sparse matrix."""
    n, d = X.shape
    present = ~np.isnan(X.data)
    columns, values = X.indices[present], X.data[present].astype(np.float64)
    counts = np.maximum(n - np.bincount(X.indices[~present], minlength=d), 1)
    mean = np.bincount(columns, values, minlength=d) / counts
    squares = np.bincount(columns, (values - mean[columns]) ** 2, minlength=d)
    unwritten = n - np.bincount(X.indices, minlength=d)
    return mean, np.sqrt((squares + unwritten * mean**2) / counts)
