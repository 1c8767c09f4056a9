"""Base of transforms that map each feature by an increasing function, and scale the result by another transform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Ints, Singles
from podium.base.matrix_on_disk import on_disk
from podium.transforms.base import State, refuse_infinite
from podium.transforms.composed import PREFIX, Composed

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@dataclass(frozen=True, repr=False)
class Mapped(Composed):
    """An increasing map of each feature, then `of`. Sparse features become dense."""

    def bounds(self, data: Dataset) -> State:
        """What the map needs to know of the training data."""
        return {}

    def image(self, state: State, X: Singles) -> Singles:
        """The map of each value; a missing one stays missing."""
        raise NotImplementedError

    def check(self, data: Dataset) -> None:
        self.of.check(data)

    def fit(self, data: Dataset) -> State:
        refuse_infinite(data, self.name)
        state = self.bounds(data)
        return state | {PREFIX + name: array for name, array in self.of.fit(self._mapped(state, data)).items()}

    def features(self, state: State, data: Dataset) -> Any:
        return self.of.features(self.state_below(state), self._mapped(state, data))

    def sources(self, state: State, n_features: int) -> Ints:
        return self.of.sources(self.state_below(state), n_features)

    def _mapped(self, state: State, data: Dataset) -> Dataset:
        X: Any = data.features
        if on_disk(X):
            image = X.mapped(lambda block: self.image(state, block), data.n_features)
        else:
            data = data.dense()
            image = self.image(state, np.asarray(data.features))
        return data.with_features(image, data.feature_names)
