"""Clipping: values beyond quantiles of the training data become those quantiles (winsorising).

>>> from podium.data.dataset import Dataset
>>> from podium.transforms import Identity
>>> data = Dataset.from_arrays([[1.0], [2.0], [3.0], [4.0], [1e30]], group=[5])
>>> transform = Clip(low=0.25, high=0.75, of=Identity())
>>> transform.features(transform.fit(data), data).ravel().tolist()
[2.0, 2.0, 3.0, 4.0, 4.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Singles
from podium.base.errors import IncompatibleError, ParameterError
from podium.base.float32 import LARGEST
from podium.base.registry import param, register
from podium.transforms.base import State, sampled_rows
from podium.transforms.mapped import Mapped

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@register
class Clip(Mapped):
    """min(max(x, a), b), then `of`: a and b are the quantiles `low` and `high` of the training data.

    Of more than 100,000 documents, that many evenly spaced ones give the quantiles. A feature that is the same in all
    but 0.5 % of the documents becomes constant; `high=1` keeps the upper end.
    Use it for: linear models and networks on features with outliers.
    """

    name = "clip"
    low: float = param(default=0.005, least=0, most=1)
    """Quantile of the training data below which values are raised to it."""
    high: float = param(default=0.995, least=0, most=1)
    """Quantile of the training data above which values are lowered to it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low >= self.high:
            raise ParameterError(f"clip: low must be less than high; got {self.low} and {self.high}.")

    def bounds(self, data: Dataset) -> State:
        X, ends = sampled_rows(data), np.tile([[-LARGEST], [LARGEST]], data.n_features)
        for l in range(data.n_features):
            values = X[:, l][~np.isnan(X[:, l])].astype(np.float64)
            if len(values):
                ends[:, l] = np.quantile(values, [self.low, self.high])
        return {"low": ends[0].astype(np.float32), "high": ends[1].astype(np.float32)}

    def image(self, state: State, X: Singles) -> Singles:
        low, high = state["low"], state["high"]
        if {low.shape, high.shape} != {(X.shape[1],)}:
            raise IncompatibleError(f"clip was fitted on {len(low)} features; the data has {X.shape[1]}.")
        return np.asarray(np.clip(X, low, high), np.float32)
