"""Learner: anything that can be fitted and then scores documents: a recipe, or an algorithm of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from podium.data.dataset import Dataset
from podium.features import Transform
from podium.registry import Named
from podium.solvers import Watch

Params = dict[str, NDArray[Any]]
"""What a fitted learner knows: arrays by name, which is all that a model file holds."""


@dataclass(frozen=True)
class Learned:
    """What a learner found."""

    learner: Learner  # with whatever parameters of its own it has learned
    params: Params
    record: dict[str, Any]  # how it went: numbers and words for people


class Learner(Named):
    """What turns data into a model. Its fields are its settings, one of them its `transform` of the features."""

    kind: ClassVar[str] = "learner"
    home: ClassVar[str] = "podium.methods"
    transform: Transform

    def check(self, data: Dataset) -> None:
        """Refuse, in words and before work starts, settings or data that cannot be."""

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        """Fit transformed data; `watch.valid` is transformed too."""
        raise NotImplementedError

    def score(self, params: Params, data: Dataset) -> NDArray[np.float64]:
        """Scores of transformed data, larger is better."""
        raise NotImplementedError
