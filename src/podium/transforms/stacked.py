"""Transforms that make features out of what another transform makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from podium.data.dataset import Dataset
from podium.transforms.base import State, Transform
from podium.transforms.zscore import ZScore

_BELOW = "of."


@dataclass(frozen=True, repr=False)
class Stacked(Transform):
    """A transform of the features that `of` makes. Sparse features are made dense; what is still missing becomes 0."""

    mixes: ClassVar[bool] = True
    of: Transform = ZScore()  # noqa: RUF009  (a frozen value)

    @property
    def per_query(self) -> bool:  # type: ignore[override]
        """Whether a document's features depend on the other documents of its query."""
        return self.of.per_query

    def check(self, data: Dataset) -> None:
        self.of.check(data)

    def fit_below(self, data: Dataset) -> State:
        """What `of` keeps, under names that do not clash with one's own."""
        return {_BELOW + name: array for name, array in self.of.fit(data.dense()).items()}

    def below(self, state: State, data: Dataset) -> NDArray[np.float32]:
        """The features that `of` makes."""  # (N, d)
        made: Any = self.of.features(self.state_below(state), data.dense())
        return np.where(np.isnan(made), np.float32(0), made)

    def state_below(self, state: State) -> State:
        """What `of` keeps, under its own names."""
        return {name.removeprefix(_BELOW): array for name, array in state.items() if name.startswith(_BELOW)}
