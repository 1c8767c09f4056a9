"""Position bias learned along with boosted trees: an offset of scores for each position, as in LightGBM."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.data.dataset import Dataset
from podium.losses import Derivatives, Loss, sweep

DAMPING = 0.001
"""Added to the curvature of each position."""


class PositionBias:
    """Offsets b of the positions at which documents were shown, b = 0 before the first tree.

    The loss sees s_i + b[p_i]. After its gradient g and curvature h are computed for a tree, each b takes a step of
    Newton's method, η(−Σg − λbn)/(Σh + λn + 0.001), over the n documents of the position. Scoring leaves b out.
    """

    def __init__(self, positions: Ints, *, learning_rate: float, penalty: float) -> None:
        self.shown, self.place = np.unique(positions, return_inverse=True)
        self.count = np.bincount(self.place, minlength=len(self.shown))
        self.learning_rate, self.penalty = learning_rate, penalty
        self.history: list[Array] = [np.zeros(len(self.shown))]  # b by number of trees

    def sweep(self, loss: Loss, scores: Array, data: Dataset, *, constants: Array | None = None) -> Derivatives:
        """The loss of scores with their bias."""
        return sweep(loss, scores + self.history[-1][self.place], data, constants=constants)

    def step(self, gradient: Array, curvature: Array) -> None:
        """Move b by the derivatives of the loss."""
        b, n = self.history[-1], len(self.shown)
        down = -np.bincount(self.place, gradient, n) - self.penalty * b * self.count
        bend = np.bincount(self.place, curvature, n) + self.penalty * self.count
        self.history.append(b + self.learning_rate * down / (bend + DAMPING))

    def record(self, trees: int) -> dict[str, Any]:
        """b after a number of trees, by position, relative to the first."""
        b = self.history[trees] - self.history[trees][0]
        return {"position_bias": {str(k): value for k, value in zip(self.shown.tolist(), b.tolist(), strict=True)}}
