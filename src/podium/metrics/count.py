"""Counting metrics: reported as a total over queries, without an upper bound."""

from __future__ import annotations

from dataclasses import dataclass

from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions


@dataclass(frozen=True, repr=False)
class Count(Metric):
    """A count in each query, such as its relevant documents."""

    range = (0.0, float("inf"))
    normalised = False
    digits = 0

    @classmethod
    def reported(cls, mean: float, queries: int) -> float:
        return float(round(mean * queries)) if queries else mean


def counting(*uses: str) -> Conventions:
    """The conventions of a count: over the whole list, defined for every query."""
    return Conventions(uses, cuts=False, can_be_empty=False)
