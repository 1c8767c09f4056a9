"""Flags of missing values: a linear model or a network may learn what it means that a feature is missing.

>>> import numpy as np
>>> from podium.data.dataset import Dataset
>>> data = Dataset.from_arrays([[1.0, np.nan], [3.0, 8.0]], group=[2])
>>> MissingFlags().apply(MissingFlags().fit(data), data).features.tolist()
[[-1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Flags, Ints, is_sparse
from podium.base.matrix_on_disk import in_blocks
from podium.base.registry import register
from podium.transforms.base import Affine, State
from podium.transforms.composed import Composed
from podium.transforms.stacked import Stacked

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@register
class MissingFlags(Stacked):
    """x of `of`, followed by 1 if x is missing and else 0, for each feature that is missing in the training data.

    Use it for: linear models and networks; trees have a side for missing values at each split.
    """

    name = "missing-flags"
    mixes = Composed.mixes

    def fit(self, data: Dataset) -> State:
        return self.fit_below(data) | {"flagged": np.flatnonzero(_columns_with_gaps(data))}

    def features(self, state: State, data: Dataset) -> Any:
        gaps = np.isnan(np.asarray(data.dense().features)[:, state["flagged"]])
        return np.hstack([self.below(state, data), gaps.astype(np.float32)])

    def sources(self, state: State, n_features: int) -> Ints:
        return np.append(self.of.sources(self.state_below(state), n_features), state["flagged"])

    def affine(self, state: State, data: Dataset) -> Affine | None:
        below, none = self.of.affine(self.state_below(state), data), np.zeros(len(state["flagged"]))
        if below is None:
            return None
        return Affine(*(np.append(part, end) for part, end in zip(below, (none, none, none + 1.0), strict=True)))


def _columns_with_gaps(data: Dataset) -> Flags:
    """Whether each feature is missing in a document."""  # (d,)
    gaps, X = np.zeros(data.n_features, bool), data.features
    if is_sparse(X):
        gaps[X.indices[np.isnan(X.data)]] = True
        return gaps
    for block in in_blocks(X):
        gaps |= np.isnan(block).any(axis=0)
    return gaps
