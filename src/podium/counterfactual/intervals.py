"""Intervals of means and ratios over the pages of a log, where pages of one person are not independent.

What is estimated may also depend on propensities, which were estimated themselves. Then an estimate moves twice if
clicks move: by the pages directly, S, and by the propensities, T. Both are known for draws of other clicks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array
from podium.base.errors import DataError, ParameterError


@dataclass(frozen=True, eq=False)
class Units:
    """The pages that count: how often each occurred, who saw it, and how sure an interval is to be."""

    counts: Array  # (P,)
    users: NDArray[np.int32] | None  # (P,) numbered; -1: unknown
    confidence: float

    def __post_init__(self) -> None:
        if not 0.0 < self.confidence < 1.0:
            raise ParameterError(f"confidence must be between 0 and 1; got {self.confidence}.")


@dataclass(frozen=True, eq=False)
class Estimate:
    """A value with its interval, and how far each page pulls it."""

    value: float
    standard_error: float
    low: float
    high: float
    p: float  # that the value is 0
    influence: Array  # (P,) sums to 0 with the counts
    moves: Array  # (2, B) S and T of each draw; B = 0 where propensities are taken as known
    units: Units

    def minus(self, other: Estimate) -> Estimate:
        """The difference of two estimates on the same pages."""
        influence, moves = self.influence - other.influence, self.moves - other.moves
        return with_interval(self.value - other.value, influence, moves, self.units)


def linear(z: Array, s: Array, fixed: Array, counts: Array) -> tuple[float, Array]:
    """V = Σ n z/Σ n s + Σ n fixed/Σ n over pages that occurred n times, and the influence of each page.

    Formula: e = (z − V s)/s̄ + fixed − its mean.
    """
    n = counts.sum()
    scale, rest = counts @ s / n, counts @ fixed / n
    ratio = float(counts @ z / n / scale) if scale > 0 else 0.0
    influence = (z - ratio * s) / scale + fixed - rest if scale > 0 else np.zeros(len(z))
    return ratio + float(rest), influence


def with_interval(value: float, influence: Array, moves: Array, units: Units) -> Estimate:
    """An estimate with Student's interval, from the influence of its pages and the moves S and T of draws.

    Formula: σ = √(U/(U − 1) · Σ_u (Σ e)²)/N over users u, or over pages if users are not known, is the standard error
        with known propensities. Else it is √((1 + b)² σ² + var(T − b S)), b = cov(S, T)/var(S): T is b times S and
        something of its own.
    """
    from scipy.special import stdtr, stdtrit

    error, n_units = _standard_error(influence, units)
    if moves.shape[1]:
        s, t = moves
        slope = float(np.cov(s, t)[0, 1] / np.var(s, ddof=1)) if np.var(s) > 0 else 0.0
        error = math.sqrt((1.0 + slope) ** 2 * error**2 + float(np.var(t - slope * s, ddof=1)))
    half = float(stdtrit(n_units - 1, (1.0 + units.confidence) / 2.0)) * error
    p = float(2.0 * stdtr(n_units - 1, -abs(value) / error)) if error > 0 else float(abs(value) < 1e-12)
    return Estimate(value, error, value - half, value + half, p, influence, moves, units)


def _standard_error(influence: Array, units: Units) -> tuple[float, float]:
    """The standard error if propensities are known, and how many units there are."""
    counts, users = units.counts, units.users
    apart = np.ones(len(counts), np.bool_) if users is None else users < 0
    squares, n_units = float(counts[apart] @ influence[apart] ** 2), float(counts[apart].sum())
    if users is not None and not apart.all():
        sums = np.bincount(users[~apart], (counts * influence)[~apart])
        squares += float(sums @ sums)
        n_units += len(np.unique(users[~apart]))
    if n_units < 2:
        raise DataError("an interval needs at least two pages, or two users where they are known; got one.")
    return math.sqrt(n_units / (n_units - 1) * squares) / float(counts.sum()), n_units
