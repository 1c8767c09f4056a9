"""Base of transforms that are applied to the output of another transform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from podium.base.arrays import Singles
from podium.transforms.base import State, Transform
from podium.transforms.identity import Identity
from podium.transforms.zscore import ZScore

if TYPE_CHECKING:
    from podium.data.dataset import Dataset

PREFIX = "of."
"""Names of the state of `of` begin with it."""


@dataclass(frozen=True, repr=False)
class Stacked(Transform):
    """Transform of the output of `of`. Sparse features become dense; values that are still missing become 0."""

    mixes: ClassVar[bool] = True
    of: Transform = ZScore()  # noqa: RUF009  (a frozen value)

    @property
    def per_query(self) -> bool:  # type: ignore[override]
        """Whether a document's features depend on its query."""
        return self.of.per_query

    @property
    def why_not_trees(self) -> str:  # type: ignore[override]
        """Why trees cannot use its features; empty if they can."""
        return self.of.why_not_trees

    def query_columns(self, state: State) -> tuple[str, ...]:
        return self.of.query_columns(self.state_below(state))

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

    def state_below(self, state: State) -> State:
        """State of `of`, under its own names."""
        return {name.removeprefix(PREFIX): array for name, array in state.items() if name.startswith(PREFIX)}
