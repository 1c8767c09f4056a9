"""No transform: features as they are, missing values included (trees take those)."""

from __future__ import annotations

from typing import Any

from podium.data.dataset import Dataset
from podium.registry import register
from podium.transforms.base import State, Transform


@register
class Identity(Transform):
    """Features as they are."""

    def fit(self, data: Dataset) -> State:
        return {}

    def features(self, state: State, data: Dataset) -> Any:
        return data.features
