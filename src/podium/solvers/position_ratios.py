"""Ratios of positions learned along with boosted trees: Unbiased LambdaMART, as in XGBoost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.losses import Derivatives, LambdaRank
from podium.losses.sweep import sweep_tables
from podium.losses.unbiased_pairs import COLUMNS, KEY, LABEL, LOST, MINUS, PLUS, WON, kernel_of

LEAST = 1e-6
"""Least share of the first position's sum: ratios are divisors."""


@dataclass(frozen=True, eq=False)
class Ratios:
    """How much positions bring about clicks, t⁺, and their absence, t⁻; 1 at the first one."""

    plus: Array
    minus: Array


class PositionRatios:
    """Ratios t⁺ and t⁻ of the positions at which documents were shown, 1 before the first tree.

    The loss of each pair is divided by t⁺ of the winner's position times t⁻ of the loser's. Then t⁺_k becomes
    (Σ c_ij/t⁻_j over the winners i at k, relative to the first position)^(1/(1 + p)), and t⁻_k as well, over the
    losers: Σ c_ij/t⁺_i. Both use the ratios before the step. A position without such pairs keeps its ratio.

    As in XGBoost, c_ij = |ΔM_ij| log(1 + e^(σ(s_i − s_j))), which grows with a better order. The paper has the loss,
    with −σ; on synthetic clicks rankings are worse with it.
    """

    def __init__(self, loss: LambdaRank, data: Dataset) -> None:
        assert data.positions is not None
        assert data.labels is not None
        self.shown, self.place = np.unique(data.positions, return_inverse=True)
        self.power, n = 1.0 / (1.0 + loss.p), len(self.shown)
        self.weights = data.query_weights_of_rows() * (1.0 if data.row_weights is None else data.row_weights)
        self.table = np.zeros((data.n_documents, COLUMNS))
        self.table[:, LABEL] = data.labels
        self.table[:, KEY] = np.unique(data.labels, return_inverse=True)[1] * float(n) + self.place
        self.history = [Ratios(np.ones(n), np.ones(n))]  # by number of trees

    def sweep(self, loss: Any, scores: Array, data: Dataset, *, constants: Array | None = None) -> Derivatives:
        """The loss with each pair divided by its ratios."""
        ratios = self.history[-1]
        self.table[:, PLUS], self.table[:, MINUS] = ratios.plus[self.place], ratios.minus[self.place]
        self.table[:, [WON, LOST]] = 0.0
        return sweep_tables(loss, kernel_of(loss), scores, data, tables=self.table, constants=constants)

    def step(self, gradient: Array, curvature: Array) -> None:
        """Learn the ratios from the pairs of the last sweep; the derivatives are not needed."""
        old = self.history[-1]
        self.history.append(Ratios(self._moved(old.plus, WON), self._moved(old.minus, LOST)))

    def _moved(self, ratio: Array, column: int) -> Array:
        pairs = ratio[self.place] * self.table[:, column] * self.weights  # without its own ratio
        sums = np.bincount(self.place, pairs, len(ratio))
        if sums[0] <= 0.0:
            return ratio
        return np.where(sums > 0.0, np.maximum(sums / sums[0], LEAST) ** self.power, ratio)

    def record(self, trees: int) -> dict[str, Any]:
        """Ratios after a number of trees, by position."""
        ratios, names = self.history[trees], [str(position) for position in self.shown.tolist()]
        return {
            "position_ratios": {
                "clicked": dict(zip(names, ratios.plus.tolist(), strict=True)),
                "not_clicked": dict(zip(names, ratios.minus.tolist(), strict=True)),
            }
        }
