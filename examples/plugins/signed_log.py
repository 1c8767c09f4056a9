"""Logarithms of features, for counts and lengths that span decades."""

from typing import Any

import numpy as np

from podium.base.arrays import dense
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.transforms.base import State, Transform, refuse_infinite


@register
class SignedLog(Transform):
    """x' = sign(x)·log(1 + |x|); missing values become 0."""

    def fit(self, data: Dataset) -> State:
        return {}

    def features(self, state: State, data: Dataset) -> Any:
        refuse_infinite(data, self.name)
        X = dense(data.features)
        return np.nan_to_num(np.sign(X) * np.log1p(np.abs(X))).astype(np.float32)
