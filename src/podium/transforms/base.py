"""Feature transforms: fitted on the training data, saved with the model, applied before scoring."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple, cast

import numpy as np

from podium.base.arrays import AnyArray, Array, Ints, Singles, dense, is_sparse
from podium.base.errors import DataError
from podium.base.matrix_on_disk import Rows, in_blocks, on_disk
from podium.base.registry import Named
from podium.data.dataset import Dataset
from podium.data.table import Sources

State = dict[str, AnyArray]
"""Fitted arrays of a transform, by name."""


class Affine(NamedTuple):
    """Affine map of each feature, x' = (x − centre)·scale; a missing value becomes `missing`."""

    centre: Array  # (d,)
    scale: Array  # (d,)
    missing: Array  # (d,)


class Transform(Named):
    """Transform of features. It may use all documents of a query, never the labels of new data."""

    kind: ClassVar[str] = "transform"
    home: ClassVar[str] = "podium.transforms"
    per_query: ClassVar[bool] = False
    """Whether a document's features depend on its query: its other documents, or its query features."""
    mixes: ClassVar[bool] = False
    """Whether a transformed feature depends on several features."""
    categories: ClassVar[Literal["refused", "kept", "numbers"]] = "refused"
    """Features of categories are refused, kept as codes in the same columns, or turned into numbers."""
    supervised: ClassVar[bool] = False
    """Whether `fit` uses the labels of the training data."""

    why_not_trees: ClassVar[str] = ""
    """Why trees cannot use its features, and what to use instead; empty if they can."""

    def grid(self) -> dict[str, tuple[Any, ...]]:
        """Parameters to choose on validation data, in addition to those of the method."""
        return {}

    def query_columns(self, state: State) -> tuple[str, ...]:
        """Query features that it cannot be applied without."""
        return ()

    def check(self, data: Dataset) -> None:
        """Raise an error, before work starts, if this transform cannot be fitted on the data."""

    def worth_trying(self, data: Dataset) -> bool:
        """Whether tuning should try this transform: not if it cannot be fitted, or would change nothing."""
        return True

    def fit(self, data: Dataset) -> State:
        """Fit on the training data; returns the state to save."""
        raise NotImplementedError

    def features(self, state: State, data: Dataset) -> Any:
        """Transformed features of a dataset."""  # (N, d')
        raise NotImplementedError

    def sources(self, state: State, n_features: int) -> Ints:
        """Original feature of each transformed feature, unless the transform mixes several."""  # (d',)
        return np.arange(n_features)

    def affine(self, state: State, data: Dataset) -> Affine | None:
        """The transform as an affine map of each feature, for the documents of `data`; None if it is not one.

        With `per_query`, `data` has a single query.
        """
        return None

    def apply(self, state: State, data: Dataset) -> Dataset:
        """Dataset with transformed features; rows on disk are transformed as they are read."""
        X = Transformed(self, state, data) if on_disk(data.features) else self.features(state, data)
        names = data.feature_names if X.shape[1] == data.n_features else None
        kept = data.categories if self.categories == "kept" else None
        return data.with_features(X, names, categories=kept, sources=self._sources(state, data, int(X.shape[1])))

    def training(self, state: State, data: Dataset) -> Dataset:
        """The transformed training data: as `apply`, unless that would show a document its own label."""
        return self.apply(state, data)

    def _sources(self, state: State, data: Dataset, width: int) -> Sources:
        """Where the transformed features come from."""
        columns = np.full(width, -1) if self.mixes else self.sources(state, data.n_features)
        before = data.sources
        if before is None:
            return Sources(columns, data.feature_names, data.n_features)
        return before._replace(feature=np.where(columns < 0, -1, before.feature[columns]))


class Transformed(Rows):
    """Transformed features of rows on disk, read by whole queries if the transform needs them.

    The bits of a row are the same as in memory, whichever other rows are read with it.
    """

    def __init__(self, transform: Transform, state: State, data: Dataset) -> None:
        nothing = Dataset(np.zeros((0, data.n_features), np.float32), None, np.zeros(1, np.int64))
        super().__init__((data.n_documents, int(transform.features(state, nothing).shape[1])))
        self.transform, self.state, self.of = transform, state, cast(Rows, data.features)
        self.offsets = data.offsets if transform.per_query else None
        self.data = data

    def read(self, first: int, last: int) -> Any:
        if self.offsets is None:
            return self._transformed(self.of.read(first, last))
        a = max(int(np.searchsorted(self.offsets, first, side="right")) - 1, 0)
        b = max(int(np.searchsorted(self.offsets, last, side="left")), a)
        start, end = int(self.offsets[a]), int(self.offsets[b])
        return self._of_queries(self.of.read(start, end), a, b)[first - start : last - start]

    def gather(self, rows: Ints) -> Any:
        return super().gather(rows) if self.offsets is not None else self._transformed(self.of.gather(rows))

    def _transformed(self, X: Singles) -> Any:
        return self.transform.features(self.state, Dataset(X, None, np.array([0, len(X)])))

    def _of_queries(self, X: Singles, a: int, b: int) -> Any:
        """Transformed features of the queries a:b."""
        about = None if self.data.query_features is None else self.data.query_features[a:b]
        links = None if self.data.relations is None else self.data.relations.select(np.arange(a, b))
        offsets, names = self.data.offsets[a : b + 1] - self.data.offsets[a], self.data.query_feature_names
        queries = Dataset(X, None, offsets, query_features=about, query_feature_names=names, relations=links)
        return dense(self.transform.features(self.state, queries))


_ENOUGH = 100_000


def sampled_rows(data: Dataset) -> Singles:
    """Features of all documents, or of 100,000 evenly spaced ones: enough for quantiles."""  # (n, d)
    X: Any = data.features
    rows = np.linspace(0, X.shape[0] - 1, _ENOUGH).astype(np.int64) if X.shape[0] > _ENOUGH else slice(None)
    return np.asarray(dense(X[rows]), np.float32)


def refuse_infinite(data: Dataset, what: str) -> None:
    """Raise DataError if a feature is infinite, which cannot be scaled."""
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
