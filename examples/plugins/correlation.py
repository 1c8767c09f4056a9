"""A linear ranking whose weights are the features' correlations with the grades."""

import numpy as np

from podium.algorithms.linear_learner import LinearLearner
from podium.algorithms.requirements import needs_grades
from podium.base.arrays import dense
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.learner import Learned
from podium.solvers import Watch
from podium.transforms import Transform, ZScore


@register
class Correlation(LinearLearner):
    """Naive weights: each feature as if it were alone.

    Formula: w_l = Σ_i x_il·(y_i − ȳ) / N over standardised features.
    Ties: documents of equal grade pull alike.
    Cost: one pass over the data.
    Use it for: a baseline that cannot overfit.
    """

    transform: Transform = ZScore()

    def check(self, data: Dataset) -> None:
        needs_grades(data, self.name)

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        assert data.labels is not None, "checked before"
        weights = (data.labels - data.labels.mean()) @ dense(data.features).astype(np.float64) / data.n_documents
        return Learned(self, {"weights": weights}, {"stopped": "closed form"})
