"""Always-valid inference for wins and losses: a p-value and an interval that may be looked at after every page.

    >>> found = confidence_sequence([1.0, 1.0, 0.0, 1.0, -1.0] * 20)
    >>> found.wins, found.losses, round(found.p, 4), [round(end, 2) for end in found.interval]
    (60, 20, 0.0012, [0.55, 0.9])

The sign test of `podium.evaluation.verdict` holds its level for one look, planned before. Looking after every page and
stopping at the first p below 0.05 finds a difference between equal rankers in far more than 5 % of experiments. With
this p it is at most 5 %.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.errors import DataError, ParameterError
from podium.evaluation.verdict import Interval

_PRIOR = 20.0
"""a of the mixture, for shares around ½ ± 0.08. Of 1, 5, 20 and 60, it needed the fewest pages in simulations
at a share of 0.56, and nearly the fewest at 0.53 and 0.6; a = 1 is faster only for shares of 0.7 and above."""
_STEPS = 52
"""Halvings of an interval: beyond them a float does not change."""


@dataclass(frozen=True)
class ConfidenceSequence:
    """What wins and losses say so far, at whatever moment."""

    wins: int
    losses: int
    p: float  # that wins and losses are equally likely
    interval: Interval | None  # of the probability of a win; None where no value agrees with all looks so far
    confidence: float


def confidence_sequence(outcomes: ArrayLike, *, confidence: float = 0.95) -> ConfidenceSequence:
    """The always-valid p and interval of the probability θ of a win, from outcomes in the order in which they came.

    Outcomes above 0 are wins, below 0 losses; ties are left out, as in the sign test.

    Formula: M_t(θ) = B(a + w_t, a + l_t)/B(a, a) · θ^−w_t (1−θ)^−l_t with w_t wins and l_t losses after t of them:
        the likelihood ratio of a Beta(a, a) mixture against θ, a martingale of mean 1 if θ is the probability of a win,
        whatever happened before. By Ville's inequality, P(M_t(θ) ≥ 1/α for some t) ≤ α. So
        p = min(1, 1/max_t M_t(½)), and the interval holds all θ with M_t(θ) < 1/α for every t so far; a = 20.
    Reference: Robbins, Statistical methods related to the law of the iterated logarithm, Annals of Mathematical
        Statistics 41, 1970; Howard, Ramdas, McAuliffe and Sekhon, Time-uniform, nonparametric, nonasymptotic confidence
        sequences, Annals of Statistics 49, 2021.
    """
    values = np.asarray(outcomes, np.float64).ravel()
    if not np.isfinite(values).all():
        raise DataError(f"outcomes must be finite numbers; got {values[~np.isfinite(values)][0]}.")
    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence must be between 0 and 1; got {confidence}.")
    signs = np.sign(np.round(values, 12))  # what only rounding separates is a tie
    signs = signs[signs != 0]
    if not len(signs):
        return ConfidenceSequence(0, 0, 1.0, (0.0, 1.0), confidence)
    wins, losses = np.cumsum(signs > 0), np.cumsum(signs < 0)
    mixture = _log_mixture(wins, losses)
    largest = float((mixture + (wins + losses) * np.log(2.0)).max())
    low, high = _limits(wins, losses, mixture + np.log1p(-confidence))
    interval = (low, high) if low <= high else None
    return ConfidenceSequence(int(wins[-1]), int(losses[-1]), float(np.exp(min(0.0, -largest))), interval, confidence)


def _log_mixture(wins: NDArray[np.int64], losses: NDArray[np.int64]) -> NDArray[np.float64]:
    """log B(a + w, a + l)/B(a, a), the probability of the wins and losses in their order under the mixture."""
    from scipy.special import betaln

    return np.asarray(betaln(_PRIOR + wins, _PRIOR + losses) - betaln(_PRIOR, _PRIOR))


def _limits(wins: NDArray[np.int64], losses: NDArray[np.int64], least: NDArray[np.float64]) -> Interval:
    """The θ whose log likelihood w log θ + l log(1−θ) is above `least` for every t: the largest low, the smallest high.

    The likelihood is highest at the share of wins, and falls on both sides of it.
    """
    from scipy.special import xlog1py, xlogy

    share = wins / (wins + losses)
    ends = []
    for end in (0.0, 1.0):
        outside, inside = np.full(len(share), end), share.copy()
        for _ in range(_STEPS):
            middle = 0.5 * (outside + inside)
            holds = xlogy(wins, middle) + xlog1py(losses, -middle) > least
            inside, outside = np.where(holds, middle, inside), np.where(holds, outside, middle)
        ends.append(outside)
    return float(ends[0].max()), float(ends[1].min())
