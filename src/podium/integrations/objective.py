"""Gradient and curvature of a loss for trees of other libraries, as podium's own boosting computes them."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.integrations.batch import finite_scores, labelled_queries, parsed
from podium.losses import Loss
from podium.solvers.boosting import Descent


class Objective:
    """Descent of a loss on each of the datasets that a library trains on, e.g. those of a cross-validation."""

    def __init__(self, loss: Loss | str) -> None:
        self.loss = parsed(loss)
        self._descents: WeakKeyDictionary[object, Descent] = WeakKeyDictionary()

    def derivatives(
        self, of: object, scores: ArrayLike, *, labels: ArrayLike | None, sizes: ArrayLike | None,
        row_weights: ArrayLike | None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Gradient and curvature for the next tree on a dataset, whose labels, sizes and weights are read once."""
        if of not in self._descents:
            self._descents[of] = descent(self.loss, labels, sizes, row_weights)
        return self._descents[of].derivatives(finite_scores(np.array(scores, np.float64)))


def descent(
    loss: Loss, labels: ArrayLike | None, sizes: ArrayLike | None, row_weights: ArrayLike | None = None
) -> Descent:
    """Descent on labels of consecutive queries, each row with its weight."""
    if labels is None or sizes is None or not np.size(sizes):
        raise DataError(
            f"the data has no {'labels' if labels is None else 'sizes of queries (group)'}. Set them first."
        )
    weights = None if row_weights is None or not np.size(row_weights) else np.array(row_weights, np.float64)
    data = labelled_queries(np.array(labels, np.float64), np.array(sizes, np.int64), weights)
    return Descent(loss.fitted_to(data), data)
