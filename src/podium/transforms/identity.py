"""No transform: features unchanged, including missing values (for trees)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.registry import register
from podium.transforms.base import Affine, State, Transform

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@register
class Identity(Transform):
    """Features unchanged."""

    categories = "kept"

    def fit(self, data: Dataset) -> State:
        return {}

    def affine(self, state: State, data: Dataset) -> Affine:
        d = data.n_features
        return Affine(np.zeros(d), np.ones(d), np.full(d, np.nan))

    def features(self, state: State, data: Dataset) -> Any:
        return data.features
