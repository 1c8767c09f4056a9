"""Base of transforms that are applied to the output of another transform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from podium.base.arrays import Singles
from podium.transforms.base import State
from podium.transforms.composed import PREFIX, Composed
from podium.transforms.identity import Identity

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@dataclass(frozen=True, repr=False)
class Stacked(Composed):
    """Transform of the output of `of`. Sparse features become dense; values that are still missing become 0."""

    mixes: ClassVar[bool] = True

    def check(self, data: Dataset) -> None:
        self.of.check(data)

    def fit_below(self, data: Dataset) -> State:
        """State of `of`, under prefixed names."""
        below = data if isinstance(self.of, Identity) else data.dense()
        return {PREFIX + name: array for name, array in self.of.fit(below).items()}

    def below(self, state: State, data: Dataset) -> Singles:
        """Features transformed by `of`."""  # (N, d)
        X: Any = self.of.features(self.state_below(state), data.dense())
        return np.where(np.isnan(X), np.float32(0), X)
