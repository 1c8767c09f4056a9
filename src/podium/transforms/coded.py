"""Base of transforms that turn categories into numbers, and scale these and the other features by another transform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.transforms.base import State
from podium.transforms.composed import PREFIX, Composed

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@dataclass(frozen=True, repr=False)
class Coded(Composed):
    """Categories as numbers, then `of`. Data without categories is transformed by `of` alone."""

    categories = "numbers"

    def numbers(self, state: State, codes: Array, column: int) -> Array:
        """Numbers of the codes of a column."""  # (N, m)
        raise NotImplementedError

    def features(self, state: State, data: Dataset) -> Any:
        return self.of.features(self.state_below(state), self.spread_out(state, data))

    def sources(self, state: State, n_features: int) -> Ints:
        origin = self._origin(state, n_features)
        return origin[self.of.sources(self.state_below(state), len(origin))]

    def spread_out(self, state: State, data: Dataset) -> Dataset:
        """The features without codes, then the numbers of each column of codes."""
        columns = state["columns"].tolist()
        if not columns:
            return data
        X = np.asarray(data.dense().features[:])
        parts = [np.delete(X, columns, axis=1), *(self.numbers(state, X[:, column], column) for column in columns)]
        return data.with_features(np.hstack(parts).astype(np.float32), None)

    def with_below(self, state: State, data: Dataset) -> State:
        """The state with that of `of`, fitted to features without codes."""
        return state | {PREFIX + name: array for name, array in self.of.fit(data).items()}

    def _origin(self, state: State, n_features: int) -> Ints:
        columns = state["columns"].tolist()
        nothing = np.empty(0)
        widths = [self.numbers(state, nothing, column).shape[1] for column in columns]
        return np.append(np.delete(np.arange(n_features), columns), np.repeat(state["columns"], widths))


def category_columns(data: Dataset) -> Ints:
    """Columns of codes."""
    return np.array(sorted(data.categories or ()), np.int64)
