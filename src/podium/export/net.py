"""Net: transformed features and layers, for targets that support any arithmetic.

A linear model is one layer. The order of sums differs; the features are podium's own to the bit, but for a kernel's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from podium.arrays import Array
from podium.export.affine import UNIT64
from podium.export.front import Front
from podium.float32 import Singles

_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Net:
    """The features of a front; then x → a(x·W + b), at last without a."""

    front: Front
    layers: tuple[tuple[Array, Array], ...]
    activation: Literal["tanh", "relu"]

    @property
    def widths(self) -> list[int]:
        """The number of features or units, from the raw features to the score."""
        return [*self.front.widths, *(len(offset) for _, offset in self.layers)]

    def scores(self, X: Singles) -> Array:
        """The scores of rows in float64; X is a query where that matters."""
        values = self.front.transformed(X)
        for depth, (weights, offset) in enumerate(self.layers):
            z = values @ weights + offset
            last = depth == len(self.layers) - 1
            values = z if last else np.tanh(z) if self.activation == "tanh" else np.maximum(z, 0.0)
        return np.asarray(values[:, 0])

    def bound(self, X: Singles) -> float:
        """The most that the scores of the rows X can differ between two programs that compute in float64."""
        scaled = self.front.scaled(X)
        blocks = [scaled[a : a + _ROWS] for a in range(0, len(scaled), _ROWS)]
        return max((self._bound(*self.front.spread(block)) for block in blocks), default=0.0)

    def _bound(self, values: Array, error: Array) -> float:
        """e ← |W|ᵀe + γ(|W|ᵀ|h| + |b|) per layer, γ of n + 2 roundings.

        tanh and max(0, ·) do not widen a gap, and podium's tanh and any library's are within 5 units of the last place.
        """
        for depth, (weights, offset) in enumerate(self.layers):
            gamma = (len(weights) + 2) * UNIT64 / (1 - (len(weights) + 2) * UNIT64)
            size = np.abs(weights)
            error = error @ size + gamma * ((np.abs(values) + error) @ size + np.abs(offset))
            values = values @ weights + offset
            if depth < len(self.layers) - 1:
                values = np.tanh(values) if self.activation == "tanh" else np.maximum(values, 0.0)
                error = error + 10 * UNIT64 * np.abs(values) if self.activation == "tanh" else error
        return 2.0 * float(np.max(error, initial=0.0))
