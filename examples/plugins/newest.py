"""Newest: judge the documents that came last."""

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.model import Model
from podium.pickers import Picker


@register
class Newest(Picker):
    """Documents with the largest value of one feature, such as the time of their arrival, of random queries.

    Formula: the feature's value less the lowest of the pool; a missing one is worth nothing.
    Ties: the id.
    Cost: O(N).
    Use it for: documents that the judges have not seen.
    Reference: none.
    """

    feature: int = param(default=1, least=1)
    """Number of the feature, from 1."""
    needs_model = False
    random_queries = 1.0

    def worth(self, model: Model | None, pool: Dataset, rng: np.random.Generator) -> tuple[Array, Array]:
        values = np.asarray(pool.dense().features[:, self.feature - 1], np.float64)
        lowest = np.nanmin(values) if np.isfinite(values).any() else 0.0
        return np.ones(pool.n_queries), np.nan_to_num(values - lowest)
