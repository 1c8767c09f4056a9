"""Random baseline: random scores."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.learner import Learned, Learner
from podium.scorers import Params
from podium.solvers import Watch
from podium.transforms import Identity, Transform


@register
class Random(Learner):
    """Random scores, drawn uniformly: the baseline that every method must beat.

    Formula: s_i ~ U(0, 1), the same draws for the same seed and number of documents.
    Ties: none.
    Cost: O(n).
    Use it for: the floor of a comparison.
    """

    transform: Transform = Identity()

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        return Learned(self, {"seed": np.array([rng.integers(2**63)], np.int64)}, {})

    def score(self, params: Params, data: Dataset) -> Array:
        return np.random.default_rng(int(params["seed"][0])).random(data.n_documents)
