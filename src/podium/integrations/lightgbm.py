"""Losses of podium as objectives of LightGBM."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from podium.base.arrays import Array
from podium.integrations.objective import Objective
from podium.losses import Loss

if TYPE_CHECKING:
    import lightgbm


def objective(loss: Loss | str) -> Callable[[Array, lightgbm.Dataset], tuple[Array, Array]]:
    """Make an objective for `lightgbm.train({"objective": objective("lambdarank")}, data)`; data has labels and group.

    Weights of rows multiply gradient and curvature. A loss that samples draws anew for each tree, and learned
    parameters take a step before each: make an objective for each training.
    """
    descents = Objective(loss)

    def derivatives(scores: Array, data: lightgbm.Dataset) -> tuple[Array, Array]:
        labels, sizes, weights = data.get_label(), data.get_group(), data.get_weight()
        return descents.derivatives(data, scores, labels=labels, sizes=sizes, row_weights=weights)

    return derivatives
