"""Intervals of means and ratios over the pages of a log, where pages of one person are not independent."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.errors import DataError, ParameterError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimate:
    """A value with its interval, and how far each page pulls it."""

    value: float
    standard_error: float
    low: float
    high: float
    p: float  # that the value is 0
    influence: Array  # (P,) sums to 0 with the counts
    counts: Array  # (P,)
    users: NDArray[np.int32] | None
    confidence: float

    def minus(self, other: Estimate) -> Estimate:
        """The difference of two estimates on the same pages."""
        influence = self.influence - other.influence
        return _with_interval(self.value - other.value, influence, self.counts, self.users, self.confidence)


def estimate(
    z: Array, s: Array, fixed: Array, *, counts: Array, users: NDArray[np.int32] | None, confidence: float
) -> Estimate:
    """Σ n z/Σ n s + Σ n fixed/Σ n over pages that occurred n times, with its interval by the delta method.

    Formula: the influence of a page is e = (z − V s)/s̄ + fixed − its mean; the standard error is
        √(U/(U − 1) · Σ_u (Σ e)²)/N, over users u, or over pages where users are not known; the interval is Student's.
    """
    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence must be between 0 and 1; got {confidence}.")
    n = counts.sum()
    scale, rest = counts @ s / n, counts @ fixed / n
    ratio = float(counts @ z / n / scale) if scale > 0 else 0.0
    influence = (z - ratio * s) / scale + fixed - rest if scale > 0 else np.zeros(len(z))
    return _with_interval(ratio + float(rest), influence, counts, users, confidence)


def _with_interval(
    value: float, influence: Array, counts: Array, users: NDArray[np.int32] | None, confidence: float
) -> Estimate:
    from scipy.special import stdtr, stdtrit

    apart = np.ones(len(counts), np.bool_) if users is None else users < 0
    squares, units = float(counts[apart] @ influence[apart] ** 2), float(counts[apart].sum())
    if users is not None and not apart.all():
        sums = np.bincount(users[~apart], (counts * influence)[~apart])
        squares += float(sums @ sums)
        units += len(np.unique(users[~apart]))
    if units < 2:
        raise DataError("an interval needs at least two pages, or two users where they are known; got one.")
    error = math.sqrt(units / (units - 1) * squares) / float(counts.sum())
    half = float(stdtrit(units - 1, (1.0 + confidence) / 2.0)) * error
    p = float(2.0 * stdtr(units - 1, -abs(value) / error)) if error > 0 else float(abs(value) < 1e-12)
    return Estimate(value, error, value - half, value + half, p, influence, counts, users, confidence)
