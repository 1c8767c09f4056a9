"""Query profile: what a query is like, seen from its documents.

transform=query-profile(by=bm25)                                  features, and the profile of their query
nearest(of=listnet,queries=[query-profile(by=bm25,top=20)])       neighbours are queries with a similar profile
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, dense
from podium.base.errors import IncompatibleError, ModelFileError
from podium.base.registry import param, register
from podium.transforms.base import State
from podium.transforms.query_columns import moments
from podium.transforms.stacked import Stacked

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@register
class QueryProfile(Stacked):
    """Appends to `of` the mean and the deviation of each feature over the query's documents, and log n, as z-scores.

    With `by`, they are of the `top` documents of the query by this feature. Reference: Geng et al., Query dependent
    ranking using k-nearest neighbor, SIGIR 2008.
    """

    name = "query-profile"
    per_query = True
    top: int = param(default=50, least=1)
    """With `by`: how many documents of the query are described."""
    by: str = ""
    """Feature, by its name or its number from 1, whose largest values are at the top; if none, all are described."""

    def check(self, data: Dataset) -> None:
        super().check(data)
        self._feature(data)

    def fit(self, data: Dataset) -> State:
        return self.fit_below(data) | self.fit_profile(data)

    def fit_profile(self, data: Dataset) -> State:
        """Fit the profile alone, without `of`."""
        feature = self._feature(data)
        mean, scale = moments(self._raw(data, feature))
        return {"feature": np.array([feature]), "mean": mean, "scale": scale}

    def features(self, state: State, data: Dataset) -> Any:
        X = dense(self.of.features(self.state_below(state), data))
        return np.hstack([X, self.profile(state, data)[data.query_index].astype(np.float32)])

    def profile(self, state: State, data: Dataset) -> Array:
        """The profile of each query, as z-scores."""  # (Q, 2d + 1)
        width = 2 * data.n_features + 1
        if {state["mean"].shape, state["scale"].shape} != {(width,)} or state["feature"].shape != (1,):
            raise ModelFileError("The model's query profile does not fit its features. Train it again.")
        raw = self._raw(data, int(state["feature"][0]))
        return np.nan_to_num((raw - state["mean"]) * state["scale"], nan=0.0, posinf=0.0, neginf=0.0)

    def _feature(self, data: Dataset) -> int:
        """The number of the feature `by`, from 0; −1 if there is none."""
        if not self.by:
            return -1
        if data.feature_names is not None and self.by in data.feature_names:
            return data.feature_names.index(self.by)
        if self.by.isdecimal() and 1 <= int(self.by) <= data.n_features:
            return int(self.by) - 1
        raise IncompatibleError(
            f"query-profile: by={self.by} is neither a feature's name nor a number from 1 to {data.n_features}."
        )

    def _raw(self, data: Dataset, feature: int) -> Array:
        parts = [
            _described(dense(data.features[a:b]).astype(np.float64), feature, self.top)
            for a, b in itertools.pairwise(data.offsets.tolist())
        ]
        return np.array(parts).reshape(-1, 2 * data.n_features + 1)


def _described(x: Array, feature: int, top: int) -> Array:
    """Means and deviations of the features of a query's documents, NaN if all values are missing, and log n."""
    n = len(x)
    if 0 <= feature < x.shape[1] and n > top:
        by = np.where(np.isnan(x[:, feature]), -np.inf, x[:, feature])
        x = x[np.argsort(-by, kind="stable")[:top]]
    there = ~np.isnan(x)
    counts = there.sum(axis=0)
    mean = np.where(there, x, 0.0).sum(axis=0) / np.maximum(counts, 1)
    deviation = np.sqrt((np.where(there, x - mean, 0.0) ** 2).sum(axis=0) / np.maximum(counts, 1))
    return np.concatenate([np.where(counts, [mean, deviation], np.nan).ravel(), [np.log(max(n, 1))]])
