"""Target statistics: the mean label of each category, so that any model can use categories.

x' = (Σ y + a·ȳ)/(n + a) over the n training documents of the category, ȳ the mean label of all. A training document
would see its own label there; it gets the statistics of the documents before it in a random order, as in CatBoost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.transforms.base import State
from podium.transforms.coded import Coded, category_columns

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@register
class TargetStatistics(Coded):
    """Mean label of each category, drawn towards the mean of all; training documents see those before them only.

    Use it for: linear models and networks on features of many categories; trees split categories themselves.
    Reference: Prokhorenkova et al., CatBoost: unbiased boosting with categorical features, NeurIPS 2018.
    """

    name = "target-statistics"
    supervised: ClassVar[bool] = True
    a: float = param(default=10.0, above=0)
    """Number of documents that the mean of all counts for."""
    seed: int = param(default=0, least=0)
    """Of the random order of training documents."""

    def check(self, data: Dataset) -> None:
        if data.categories and data.labels is None:
            raise IncompatibleError("target-statistics needs labels, but the data has none. Use transform=one-hot.")
        self.of.check(data)

    def fit(self, data: Dataset) -> State:
        self.check(data)
        columns = category_columns(data)
        state: State = {"columns": columns}
        if len(columns):
            assert data.labels is not None, "checked"
            state["mean"] = np.array([data.labels.mean()])
        for column in columns.tolist():
            codes = np.asarray(data.dense().features[:])[:, column]
            size = len((data.categories or {})[column])
            known = ~np.isnan(codes)
            places = codes[known].astype(np.int64)
            sums = (
                np.bincount(places, data.labels[known], minlength=size) if data.labels is not None else np.zeros(size)
            )
            state[f"values/{column}"] = (sums + self.a * state["mean"]) / (np.bincount(places, minlength=size) + self.a)
        return self.with_below(state, self._ordered(state, data))

    def numbers(self, state: State, codes: Array, column: int) -> Array:
        table = np.append(state[f"values/{column}"], state["mean"])
        return table[np.where(np.isnan(codes), len(table) - 1, codes).astype(np.int64)][:, None]

    def training(self, state: State, data: Dataset) -> Dataset:
        if not len(state["columns"]):
            return self.apply(state, data)
        below = {name.removeprefix("of."): array for name, array in state.items() if name.startswith("of.")}
        moved = self.of.apply(below, self._ordered(state, data))
        return data.with_features(moved.features, None, sources=self._sources(state, data, moved.n_features))

    def _ordered(self, state: State, data: Dataset) -> Dataset:
        """The training data with statistics of the documents before each in a random order."""
        columns = state["columns"].tolist()
        if not columns:
            return data
        assert data.labels is not None, "checked"
        X = np.asarray(data.dense().features[:])
        order = np.random.default_rng(self.seed).permutation(data.n_documents)
        y = data.labels[order]
        before = np.append(0.0, np.cumsum(y)[:-1]) / np.maximum(np.arange(len(y)), 1)  # mean label of those before
        parts = [np.delete(X, columns, axis=1)]
        for column in columns:
            sums, counts = _earlier(X[order, column], y)
            statistic = np.empty(len(y))
            statistic[order] = (sums + self.a * before) / (counts + self.a)
            parts.append(statistic[:, None])
        return data.with_features(np.hstack(parts).astype(np.float32), None)


def _earlier(codes: Array, y: Array) -> tuple[Array, Array]:
    """Sum of the labels, and number, of the rows before each that have its code; 0 for a missing code."""
    by_code = np.argsort(codes, kind="stable")
    sorted_codes, sorted_y = codes[by_code], y[by_code]
    first = np.append(True, sorted_codes[1:] != sorted_codes[:-1])
    start = np.maximum.accumulate(np.where(first, np.arange(len(y)), 0))
    running = np.append(0.0, np.cumsum(sorted_y))
    sums, counts = np.empty(len(y)), np.empty(len(y))
    sums[by_code] = running[:-1] - running[start]
    counts[by_code] = np.arange(len(y)) - start
    missing = np.isnan(codes)
    sums[missing], counts[missing] = 0.0, 0.0
    return sums, counts
