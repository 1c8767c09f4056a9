"""Averages of a metric over queries; skipped queries are left out and counted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Average(NamedTuple):
    """A metric's values over all queries as one number."""

    value: float
    """The mean, or the number that the metric reports instead; NaN if no query counts."""
    queries: int
    skipped: int

    def __float__(self) -> float:
        return self.value

    def __format__(self, form: str) -> str:
        """`f"{average:.3f}"` formats the value."""
        return format(self.value, form) if form else str(self)


def mean(values: ArrayLike) -> Average:
    """The mean over queries of a metric's values; skipped queries (NaN) are left out and counted.

    NaN if no query counts. `Metric.average` is the same for most metrics, and right for all.
    """
    numbers = np.asarray(values, np.float64)
    counted = numbers[~np.isnan(numbers)]
    value = float(counted.mean()) if len(counted) else float("nan")
    return Average(value, len(counted), len(numbers) - len(counted))
