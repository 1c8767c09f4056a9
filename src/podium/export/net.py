"""Net: a transform of each feature alone and layers, for targets that support any arithmetic.

A linear model is one layer. The transform is podium's own to the bit, so only the order of sums differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from podium.arrays import Array
from podium.export.affine import UNIT64
from podium.float32 import Singles


@dataclass(frozen=True, eq=False)
class Net:
    """x' = float32((x − centre)·scale), `filling` for a missing x; then x → a(x·W + b), at last without a."""

    centre: Array  # (d,)
    scale: Array  # (d,)
    filling: Array  # (d,) NaN where a missing value is refused
    layers: tuple[tuple[Array, Array], ...]
    activation: Literal["tanh", "relu"]
    within_query: bool = False  # x' = (x − least)/(largest − least) over the query instead; 0 where missing or constant

    def transformed(self, X: Singles) -> Array:
        """The features that the first layer sees, float32 numbers as float64; X is a query where that matters."""
        if self.within_query:
            return _within(X)
        filled = np.where(np.isnan(X), self.filling, X)
        with np.errstate(over="ignore"):
            return ((filled - self.centre) * self.scale).astype(np.float32).astype(np.float64)

    def scores(self, X: Singles) -> Array:
        """The scores of rows in float64."""
        values = self.transformed(X)
        for depth, (weights, offset) in enumerate(self.layers):
            z = values @ weights + offset
            last = depth == len(self.layers) - 1
            values = z if last else np.tanh(z) if self.activation == "tanh" else np.maximum(z, 0.0)
        return np.asarray(values[:, 0])

    def bound(self, X: Singles) -> float:
        """The most that the scores of the rows X can differ between two orders of summation in float64.

        e ← |W|ᵀe + γ(|W|ᵀ|h| + |b|) per layer, γ of n + 2 roundings; tanh and max(0, ·) do not widen a gap, and two
        libraries' tanh are each within 4 units of the last place.
        """
        values, error = self.transformed(X), np.zeros(X.shape)
        for depth, (weights, offset) in enumerate(self.layers):
            gamma = (len(weights) + 2) * UNIT64 / (1 - (len(weights) + 2) * UNIT64)
            size = np.abs(weights)
            error = error @ size + gamma * ((np.abs(values) + error) @ size + np.abs(offset))
            values = values @ weights + offset
            if depth < len(self.layers) - 1:
                values = np.tanh(values) if self.activation == "tanh" else np.maximum(values, 0.0)
                error = error + 8 * UNIT64 * np.abs(values) if self.activation == "tanh" else error
        return 2.0 * float(np.max(error, initial=0.0))


def _within(X: Singles) -> Array:
    """min–max scaling of the documents of one query, as `transforms.MinMax` rounds it."""
    x = X.astype(np.float64)
    low = np.min(np.where(np.isnan(x), np.inf, x), axis=0, initial=np.inf)
    width = np.max(np.where(np.isnan(x), -np.inf, x), axis=0, initial=-np.inf) - low
    scale = np.divide(1.0, width, out=np.zeros_like(width), where=width > 0)
    known = np.where(np.isnan(x), 0.0, x - np.where(np.isinf(low), 0.0, low))
    return (known * np.where(np.isnan(x), 0.0, scale)).astype(np.float32).astype(np.float64)
