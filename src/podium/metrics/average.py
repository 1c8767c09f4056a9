"""Averages: a metric's values over queries as one number; queries that are skipped are left out and counted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Average(NamedTuple):
    """A metric's values over all queries as one number."""

    value: float
    """The mean, or what the metric reports in its place; NaN where no query counts."""
    queries: int
    skipped: int


def mean(values: ArrayLike) -> Average:
    """The mean over queries of a metric's values; skipped queries (NaN) are left out and counted.

    NaN where no query counts. `Metric.average` is the same for most metrics, and right for all.
    """
    numbers = np.asarray(values, np.float64)
    counted = numbers[~np.isnan(numbers)]
    value = float(counted.mean()) if len(counted) else float("nan")
    return Average(value, len(counted), len(numbers) - len(counted))
