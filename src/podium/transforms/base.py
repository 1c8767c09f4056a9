"""Transforms of features: fitted on the training data, saved with the model, applied before scoring."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, is_sparse
from podium.base.errors import DataError
from podium.base.matrix_on_disk import Rows, in_blocks, on_disk
from podium.base.registry import Named
from podium.data.dataset import Dataset

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

    def worth_trying(self, data: Dataset) -> bool:
        """Whether a search should try it on the data: not where it cannot take it, or would change nothing."""
        return True

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
        """The dataset with transformed features; those of rows that are not in memory are made as they are read."""
        made = Transformed(self, state, data) if on_disk(data.features) else self.features(state, data)
        names = data.feature_names if made.shape[1] == data.n_features else None
        return data.with_features(made, names)


class Transformed(Rows):
    """The transformed features of rows that are not in memory; whole queries at a time where the transform needs them.

    A row is transformed as in memory: bits do not depend on which other rows are read with it.
    """

    def __init__(self, transform: Transform, state: State, data: Dataset) -> None:
        nothing = Dataset(np.zeros((0, data.n_features), np.float32), None, np.zeros(1, np.int64))
        super().__init__((data.n_documents, int(transform.features(state, nothing).shape[1])))
        self.transform, self.state, self.of = transform, state, cast(Rows, data.features)
        self.offsets = data.offsets if transform.per_query else None

    def read(self, first: int, last: int) -> Any:
        if self.offsets is None:
            return self._made(self.of.read(first, last), None)
        a = max(int(np.searchsorted(self.offsets, first, side="right")) - 1, 0)
        b = max(int(np.searchsorted(self.offsets, last, side="left")), a)
        start, end = int(self.offsets[a]), int(self.offsets[b])
        return self._made(self.of.read(start, end), self.offsets[a : b + 1] - start)[first - start : last - start]

    def gather(self, rows: NDArray[np.int64]) -> Any:
        return super().gather(rows) if self.offsets is not None else self._made(self.of.gather(rows), None)

    def _made(self, X: Any, offsets: NDArray[np.int64] | None) -> Any:
        whole = np.array([0, len(X)]) if offsets is None else offsets
        return self.transform.features(self.state, Dataset(X, None, whole))


def refuse_infinite(data: Dataset, what: str) -> None:
    """Raise a clear error for infinite features, which cannot be scaled."""
    for values in [data.features.data] if is_sparse(data.features) else in_blocks(data.features):
        if np.isinf(values).any():
            break
    else:
        return
    at = int(np.flatnonzero(np.isinf(values))[0])
    column = int(data.features.indices[at]) if is_sparse(data.features) else at % data.n_features
    raise DataError(
        f"feature {column + 1} holds an infinite value, which {what} cannot take. "
        "Replace it, or use transform=identity with scorer=trees.",
        where=data.source,
    )
