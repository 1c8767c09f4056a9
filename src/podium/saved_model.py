"""An existing model as a method: what is in production, or another tool's model, as a row of a comparison.

podium compare DATA --method 'model(file=ours.podium)' --method lambdamart
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from podium.data.dataset import Dataset
from podium.errors import DataError, ParameterError
from podium.learner import Learned, Learner
from podium.model import Model
from podium.registry import register
from podium.solvers import Watch
from podium.transforms import Identity, Transform


@register
class SavedModel(Learner):
    """A model file, which is not trained: it scores as it did when it was saved, whatever the training data.

    Use it for: comparing a model of today, or one that `podium import` took in, with methods that are trained.
    """

    file: str = ""
    """A file that `podium train` or `podium import` wrote."""
    transform: Transform = Identity()
    name = "model"

    def check(self, data: Dataset) -> None:
        if not self.file:
            raise ParameterError("model: give a file, e.g. 'model(file=ours.podium)'.")
        model = Model.load(self.file)
        if model.align_features(data) is not data:
            raise DataError(
                f"the features are in another order than those of {self.file}. Train or import it with these.",
                where=data.source,
            )

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        model = Model.load(self.file)
        record = {"stopped": "not trained", "iterations": 0, "file": self.file}
        return Learned(model.learner, model.params, record, state=model.state)

    def digest(self) -> str:
        return hashlib.sha256(Path(self.file).read_bytes()).hexdigest()
