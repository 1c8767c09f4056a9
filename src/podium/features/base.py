"""Transforms of features: fitted on the training data, saved with the model, applied before scoring."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from numpy.typing import NDArray

from podium.data.dataset import Dataset
from podium.registry import Named

State = dict[str, NDArray[Any]]
"""What a transform remembers of its training data."""


class Transform(Named):
    """A map of features. It may look at one query's documents together, never at labels of new data."""

    kind: ClassVar[str] = "transform"
    home: ClassVar[str] = "podium.features"

    def fit(self, data: Dataset) -> State:
        """What to remember of the training data."""
        raise NotImplementedError

    def features(self, state: State, data: Dataset) -> Any:
        """The transformed features of a dataset."""  # (N, d')
        raise NotImplementedError

    def apply(self, state: State, data: Dataset) -> Dataset:
        """The dataset with transformed features."""
        made = self.features(state, data)
        names = data.feature_names if made.shape[1] == data.n_features else None
        return replace(data, features=made, feature_names=names)


