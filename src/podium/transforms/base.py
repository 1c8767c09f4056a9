"""Transforms of features: fitted on the training data, saved with the model, applied before scoring."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium.arrays import Array, is_sparse
from podium.data.dataset import Dataset
from podium.errors import DataError
from podium.registry import Named

State = dict[str, NDArray[Any]]
"""What a transform keeps of its training data."""


class Affine(NamedTuple):
    """A map of each feature alone, x' = (x − centre)·scale; a missing value becomes `missing`."""

    centre: Array  # (d,)
    scale: Array  # (d,)
    missing: Array  # (d,)


class Transform(Named):
    """A map of features. It may look at one query's documents together, never at labels of new data."""

    kind: ClassVar[str] = "transform"
    home: ClassVar[str] = "podium.transforms"
    per_query: ClassVar[bool] = False
    """Whether a document's features depend on the other documents of its query."""
    mixes: ClassVar[bool] = False
    """Whether a transformed feature is made of several features."""
    supervised: ClassVar[bool] = False
    """Whether `fit` looks at the labels of the training data."""

    def check(self, data: Dataset) -> None:
        """Raise a clear error, before work starts, if this transform cannot be fitted on the data."""

    def fit(self, data: Dataset) -> State:
        """What to remember of the training data."""
        raise NotImplementedError

    def features(self, state: State, data: Dataset) -> Any:
        """The transformed features of a dataset."""  # (N, d')
        raise NotImplementedError

    def sources(self, state: State, n_features: int) -> NDArray[np.int64]:
        """The feature that each transformed feature is made of, unless the transform mixes several."""  # (d',)
        return np.arange(n_features)

    def affine(self, state: State, data: Dataset) -> Affine | None:
        """The transform as an affine map of each feature alone, for the documents of `data`; None where it is not one.

        With `per_query`, the map is that of a dataset of one query.
        """
        return None

    def apply(self, state: State, data: Dataset) -> Dataset:
        """The dataset with transformed features."""
        made = self.features(state, data)
        names = data.feature_names if made.shape[1] == data.n_features else None
        return data.with_features(made, names)


def refuse_infinite(data: Dataset, what: str) -> None:
    """Raise a clear error for infinite features, which cannot be scaled."""
    values = data.features.data if is_sparse(data.features) else data.features
    if not np.isinf(values).any():
        return
    at = int(np.flatnonzero(np.isinf(values))[0])
    column = int(data.features.indices[at]) if is_sparse(data.features) else at % data.n_features
    raise DataError(
        f"feature {column + 1} holds an infinite value, which {what} cannot take. "
        "Replace it, or use transform=identity with scorer=trees.",
        where=data.source,
    )
