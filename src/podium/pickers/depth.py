"""Depth: judge the top of the ranking."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.model import Model
from podium.pickers.base import Picker


@register
class Depth(Picker):
    """The first documents of the model's ranking, of queries at random: pooling with one run.

    Formula: of a document, its score less the lowest of its query; queries are drawn, all with the same probability.
    Ties: the id.
    Cost: that of scoring.
    Use it for: judgments that measure this model at the top. To learn from, they are one-sided.
    Reference: Aslam, Kanoulas, Pavlu, Savev & Yilmaz, Document selection methodologies for efficient and effective
        learning-to-rank, SIGIR 2009.
    """

    random_queries = 1.0

    def worth(self, model: Model | None, pool: Dataset, rng: np.random.Generator) -> tuple[Array, Array]:
        assert model is not None, "checked before"
        scores = pool.added_to_base(model.score(pool))
        lowest = np.full(pool.n_queries, np.inf)
        np.minimum.at(lowest, pool.query_index, scores)
        return np.ones(pool.n_queries), scores - lowest[pool.query_index]
