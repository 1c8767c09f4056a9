"""No transform: features as they are, missing values included (trees take those)."""

from __future__ import annotations

from typing import Any

from podium.data.dataset import Dataset
from podium.features.base import State, Transform
from podium.registry import register


@register
class None_(Transform):  # noqa: N801  (None is taken)
    """Features as they are."""

    name = "none"

    def fit(self, data: Dataset) -> State:
        return {}

    def features(self, state: State, data: Dataset) -> Any:
        return data.features
