"""Verdict of interleaving: which of two rankers users prefer, by how much, with p-value and confidence interval.

    >>> result = verdict([1.0, 1.0, 0.0, -1.0, 2.0, 1.0, 0.0])
    >>> result.wins, result.ties, result.losses, round(result.credit, 3), round(result.p, 3)
    (4, 2, 1, 0.571, 0.172)

An outcome above 0 is a win of the first ranker. Pages without clicks are ties. The verdict is about the mean outcome:
clicks by chance have mean 0 with every method, but wins and losses are equally likely with team draft only. A ranker
may win many pages by a little and lose few by much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import AnyArray, Array
from podium.base.errors import DataError, ParameterError

Interval = tuple[float, float]


@dataclass(frozen=True)
class Verdict:
    """Verdict on two rankers from the outcomes of results pages; units are pages, or users if they are known."""

    pages: int
    units: int
    wins: int
    ties: int
    losses: int
    credit: float  # the mean outcome of a page: above 0 for the first ranker
    interval: Interval | None  # of the credit, by Student's t; None if all units are equal
    p: float  # that the credit is 0, by the same t
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def sentence(self, first: str = "A", second: str = "B") -> str:
        """Describe the verdict in words."""
        if self.p > 1.0 - self.confidence:
            return f"no significant preference between {first} and {second} (p = {self.p:.3g})"
        better, worse = (first, second) if self.credit > 0 else (second, first)
        return f"people prefer {better} to {worse} (p = {self.p:.3g})"


def verdict(outcomes: ArrayLike, *, users: Sequence[Any] | None = None, confidence: float = 0.95) -> Verdict:
    """Compare two rankers by the outcome of each results page, and its user.

    With `users`, pages of one user are not independent. A user then wins, ties or loses by the sum of the outcomes of
    the user's pages, and the mean is a ratio of sums over users.

    Formula: mean ± t·√(U/(U−1) Σ_u (S_u − mean·n_u)²)/n, S_u the sum of the outcomes of unit u and n_u its pages. p is
        at least 2^(1−k) with k units that do not tie: fair coins agree as often.
    """
    values = np.asarray(outcomes, np.float64).ravel()
    if not len(values):
        raise DataError("no pages: a verdict needs at least one.")
    if not np.isfinite(values).all():
        raise DataError(f"outcomes must be finite numbers; got {values[~np.isfinite(values)][0]}.")
    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence must be between 0 and 1; got {confidence}.")
    sums, sizes = _by_unit(values, users)
    rounded = np.round(sums, 12)  # differences by rounding alone are ties
    wins, losses = int((rounded > 0).sum()), int((rounded < 0).sum())
    interval, p = _student(sums, sizes, confidence)
    return Verdict(
        pages=len(values),
        units=len(sums),
        wins=wins,
        ties=len(sums) - wins - losses,
        losses=losses,
        credit=float(sums.sum() / len(values)),
        interval=interval,
        p=max(p, min(1.0, 2.0 ** (1 - wins - losses))),
        confidence=confidence,
    )


def _by_unit(values: Array, users: Sequence[Any] | None) -> tuple[AnyArray, AnyArray]:
    """Sum of the outcomes of each unit, and its number of pages."""
    if users is None:
        return values, np.ones(len(values))
    if len(users) != len(values):
        raise DataError(f"{len(users)} users for {len(values)} outcomes.")
    number: dict[Any, int] = {}
    unit = np.array([number.setdefault(user, len(number)) for user in users])
    return np.bincount(unit, values), np.bincount(unit).astype(np.float64)


def _student(sums: Array, sizes: Array, confidence: float) -> tuple[Interval | None, float]:
    """Student's interval of the mean outcome of a page, and the p-value of a mean of 0."""
    from scipy.stats import t as student

    units, pages = len(sums), sizes.sum()
    if units < 2:
        return None, 1.0
    mean = sums.sum() / pages
    error = math.sqrt(units / (units - 1) * float(((sums - mean * sizes) ** 2).sum())) / pages
    if error <= 1e-12 * abs(mean):
        return None, float(mean == 0.0)
    half = float(student.ppf((1.0 + confidence) / 2.0, units - 1)) * error
    return (float(mean - half), float(mean + half)), float(2.0 * student.sf(abs(mean) / error, units - 1))
