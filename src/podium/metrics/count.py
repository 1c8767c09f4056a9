"""What the metrics that count have in common: they are reported as a total over queries, and have no upper bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from podium.metrics.base import Metric


@dataclass(frozen=True, repr=False)
class Count(Metric):
    """A number of something in each query."""

    cuts: ClassVar[bool] = False
    digits: ClassVar[int] = 0
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    normalised: ClassVar[bool] = False
    order_matters: ClassVar[bool] = False
    can_be_empty: ClassVar[bool] = False

    @classmethod
    def reported(cls, mean: float, queries: int) -> float:
        return float(round(mean * queries)) if queries else mean
