"""Errors of weighted means by how queries were drawn: with what weights, and with what chances.

A query that is drawn for sure is no matter of chance. With weights w, chances π (0 if they are not known, as if drawn
with replacement) and values v, the weighted mean θ has the deviations and the variance

    z = w(v − θ)/Σw − B,   B = Σ(1 − π)w(v − θ)/Σ(1 − π)Σw,   n/(n − 1) Σ(1 − π)z²

n counts queries with π < 1. Its estimate varies itself, the more so if few weights dominate: Student's t has
(Σa)²/Σa² − 1 degrees of freedom, a = (1 − π)w² (Satterthwaite), n − 1 with equal weights.
Reference: Hájek, Asymptotic theory of rejective sampling, 1964; Särndal, Swensson & Wretman, Model assisted survey
sampling, 1992.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from podium.base.arrays import Array
from podium.evaluation.paired import Interval

FEW = 5
"""Equal weights below which an interval is that of a handful of queries."""


class Deviations(NamedTuple):
    """Weighted mean with the deviation of each query, and how far each was a matter of chance."""

    mean: float
    each: Array  # (n,)
    random: Array  # (n,) 1 − π

    @property
    def variance(self) -> float:
        """Variance of the mean; NaN if a single query was a matter of chance."""
        n = int((self.random > 0.0).sum())
        if n < 2:
            return 0.0 if n == 0 else math.nan
        return n / (n - 1) * float(self.random @ self.each**2)


def deviations(values: Array, weights: Array, random: Array) -> Deviations:
    """The weighted mean and the deviations from it."""
    total = float(weights.sum())
    middle = float(weights @ values) / total
    each = weights * (values - middle) / total
    by_chance = float(random.sum())
    return Deviations(middle, each - float(random @ each) / by_chance if by_chance > 0.0 else each, random)


def equal_weights(weights: Array, random: Array) -> float:
    """How many queries of equal weight tell the variance as well; infinite if no query is a matter of chance."""
    shares = random * (weights / weights.max()) ** 2
    total = float(shares.sum())
    return total**2 / float(shares @ shares) if total > 0.0 else math.inf


def equal_weights_of_sum(own: tuple[float, float], other: tuple[float, float]) -> float:
    """The number of equal weights for a sum of two estimates, at most the first's; each has a number and a variance.

    Satterthwaite's degrees of freedom: (V₁ + V₂)²/(V₁²/df₁ + V₂²/df₂).
    """
    squares = sum(variance**2 / max(equal - 1.0, 1e-9) for equal, variance in (own, other))
    both = (own[1] + other[1]) ** 2 / squares + 1.0 if squares > 0.0 else math.inf
    return min(own[0], both)


def interval(mean: float, variance: float, equal: float, level: float) -> Interval:
    """Student's interval of a mean; NaN if its variance is not known."""
    from scipy.special import stdtrit

    if variance == 0.0:
        return Interval(mean, mean)
    wide = float(stdtrit(max(equal - 1.0, 1.0), 0.5 + 0.5 * level)) * math.sqrt(variance)
    return Interval(mean - wide, mean + wide)


def unequal_words(drawn: int, equal: float) -> str | None:
    """What to say of an interval from few weights of the queries drawn by chance; None if they are equal enough."""
    if equal > min(FEW, drawn) - 1e-6:
        return None
    return (
        f"the weights are so unequal that {drawn} queries count as {equal:.1f}. Intervals are wide, and do not see "
        "what still heavier queries would change. Draw queries by podium judges queries --how frequency, and those for "
        "human judges by --human."
    )
