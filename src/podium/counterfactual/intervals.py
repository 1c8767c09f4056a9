"""Confidence intervals of means and ratios over the results pages of a log; pages of one user are not independent.

Propensities may have been estimated, too. Then an estimate moves twice if clicks move: by the pages directly, S, and by
the propensities, T. Both are known for draws of other clicks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from podium.base.arrays import Array, Int32s
from podium.base.errors import DataError, ParameterError


@dataclass(frozen=True, eq=False)
class Units:
    """Pages that count: how often each occurred, its user, and the confidence of intervals."""

    counts: Array  # (P,)
    users: Int32s | None  # (P,) numbered; -1: unknown
    confidence: float

    def __post_init__(self) -> None:
        if not 0.0 < self.confidence < 1.0:
            raise ParameterError(f"confidence must be between 0 and 1; got {self.confidence}.")

    def mean(self, values: Array) -> float:
        """Mean over pages, each as often as it occurred."""
        return float(self.counts @ values) / float(self.counts.sum())


@dataclass(frozen=True, eq=False)
class Estimate:
    """Value with its interval, and the influence of each page."""

    value: float
    standard_error: float
    low: float
    high: float
    p: float  # that the value is 0
    influence: Array  # (P,) sums to 0 with the counts
    moves: Array  # (2, B) S and T of each draw; B = 0 if propensities are taken as known
    units: Units
    bias: float = 0.0  # that shrunk weights seem to cause

    def minus(self, other: Estimate) -> Estimate:
        """Difference of two estimates on the same pages."""
        influence, moves = self.influence - other.influence, self.moves - other.moves
        return with_interval(self.value - other.value, influence, moves, self.units, bias=self.bias - other.bias)


def linear(z: Array, s: Array, fixed: Array, counts: Array) -> tuple[float, Array]:
    """V = Σ n z/Σ n s + Σ n fixed/Σ n over pages that occurred n times, and the influence of each page.

    Formula: e = (z − V s)/s̄ + fixed − its mean.
    """
    n = counts.sum()
    scale, rest = counts @ s / n, counts @ fixed / n
    ratio = float(counts @ z / n / scale) if scale > 0 else 0.0
    influence = (z - ratio * s) / scale + fixed - rest if scale > 0 else np.zeros(len(z))
    return ratio + float(rest), influence


def with_interval(value: float, influence: Array, moves: Array, units: Units, *, bias: float = 0.0) -> Estimate:
    """Student's interval of an estimate, from the influence of its pages and the moves S and T of draws.

    Formula: σ = √(U/(U − 1) · Σ_u (Σ e)²)/N over users u, or over pages if users are not known, is the standard error
        with known propensities. Else it is √((1 + b)² σ² + var(T − b S)), b = cov(S, T)/var(S): T is b times S and
        something of its own. The square of a `bias` is added to that of the error.
    """
    from scipy.special import stdtr, stdtrit

    error, n_units = _standard_error(influence, units)
    if moves.shape[1]:
        s, t = moves
        slope = float(np.cov(s, t)[0, 1] / np.var(s, ddof=1)) if np.var(s) > 0 else 0.0
        error = math.sqrt((1.0 + slope) ** 2 * error**2 + float(np.var(t - slope * s, ddof=1)))
    error = math.hypot(error, bias)
    half = float(stdtrit(n_units - 1, (1.0 + units.confidence) / 2.0)) * error
    p = float(2.0 * stdtr(n_units - 1, -abs(value) / error)) if error > 0 else float(abs(value) < 1e-12)
    return Estimate(value, error, value - half, value + half, p, influence, moves, units, bias)


def _standard_error(influence: Array, units: Units) -> tuple[float, float]:
    """Standard error with known propensities, and the number of units."""
    counts, users = units.counts, units.users
    apart = np.ones(len(counts), np.bool_) if users is None else users < 0
    squares, n_units = float(counts[apart] @ influence[apart] ** 2), float(counts[apart].sum())
    if users is not None and not apart.all():
        sums = np.bincount(users[~apart], (counts * influence)[~apart])
        squares += float(sums @ sums)
        n_units += len(np.unique(users[~apart]))
    if n_units < 2:
        raise DataError("an interval needs at least two pages, or two users if they are known; got one.")
    return math.sqrt(n_units / (n_units - 1) * squares) / float(counts.sum()), n_units
