"""Losses of podium as objectives of XGBoost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError
from podium.integrations.objective import Objective
from podium.losses import Loss

if TYPE_CHECKING:
    import xgboost


def objective(loss: Loss | str) -> Callable[[Array, xgboost.DMatrix], tuple[Array, Array]]:
    """Make an objective for `xgboost.train(parameters, data, obj=objective("lambdarank"))`; data has labels and group.

    Weights are those of queries, as XGBoost has them, or of rows. Curvature sums to a few units per query or less: set
    min_child_weight to about 0.001, and base_score to 0.
    """
    descents = Objective(loss)

    def derivatives(scores: Array, data: xgboost.DMatrix) -> tuple[Array, Array]:
        ends = data.get_uint_info("group_ptr")
        sizes = np.diff(ends.astype(np.int64))
        weights = _weights_of_rows(data.get_weight(), sizes)
        return descents.derivatives(data, scores, labels=data.get_label(), sizes=sizes, row_weights=weights)

    return derivatives


def _weights_of_rows(weights: Array, sizes: Ints) -> Array:
    if len(weights) in (0, sizes.sum()):
        return weights
    if len(weights) != len(sizes):
        raise DataError(f"{len(weights)} weights for {len(sizes)} queries. Give each query one weight.")
    return np.repeat(weights, sizes)
