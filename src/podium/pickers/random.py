"""Random: judge a random sample."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.model import Model
from podium.pickers.base import Picker


@register
class Random(Picker):
    """Queries at random, and documents of each at random: the baseline, a first round, and the only test set.

    Formula: all are worth the same; a row of k of Q queries and m of n documents is chosen with probability (k/Q)(m/n).
    Ties: drawn.
    Cost: none; it needs no model.
    Use it for: the first judgments, and judgments to measure with.
    Reference: Horvitz & Thompson, A generalization of sampling without replacement from a finite universe, JASA 1952.
    """

    needs_model: ClassVar[bool] = False
    random_queries = 1.0
    random_documents = 1.0

    def worth(self, model: Model | None, pool: Dataset, rng: np.random.Generator) -> tuple[Array, Array]:
        return np.ones(pool.n_queries), np.ones(pool.n_documents)
