"""Behaviour feature as a column of a model that searches: an index does not have its counts, a service fills it in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.clicks.behaviour.base import BehaviourFeature
from podium.text.features import Feature
from podium.text.features.base import Context
from podium.text.index.index import Index


@dataclass(frozen=True, repr=False)
class CountedFeature(Feature):
    """A behaviour feature, missing until it is filled in."""

    name: ClassVar[str] = "counted"
    feature: BehaviourFeature

    def __repr__(self) -> str:
        return repr(self.feature)

    def values(self, context: Context) -> Array:
        return np.full(len(context), np.nan)

    def lacks(self, record: Mapping[str, Any], index: Index) -> str | None:
        return "what users did, which only a service counts"

    def check(self, index: Index) -> None:
        """Every index is fine."""
