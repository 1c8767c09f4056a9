"""LinearLearner: the base of algorithms whose model is one weight per feature."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.learner import Learner, fitted
from podium.problem import refuse_missing
from podium.scorers import Linear, Params, Prepared
from podium.scorers.forms import LinearForm


class LinearLearner(Learner):
    """A learner with linear scores ⟨w, x⟩, w = params["weights"]."""

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        theta = np.append(fitted(params, "weights", (n_features,)), 0.0)

        def score(data: Dataset) -> Array:
            refuse_missing(data, self.name)
            return Linear().score({"theta": theta}, data)

        return score

    def form(self, params: Params, n_features: int) -> LinearForm:
        return LinearForm(fitted(params, "weights", (n_features,)))
