"""Laws of a battle of two: the probabilities of a win, a tie and a loss at a difference of log-strengths.

    Bradley–Terry   P(a) = π_a/(π_a + π_b); a tie counts as half a win for each
    Davidson        P(a) = π_a/(π_a + π_b + ν√(π_aπ_b)),   P(tie) = ν√(π_aπ_b)/(…)
    Rao–Kupper      P(a) = π_a/(π_a + θπ_b),   P(tie) = (θ² − 1)π_aπ_b/((π_a + θπ_b)(π_b + θπ_a))

The probabilities of the last two are those of `distributions.Davidson` and `distributions.RaoKupper`. Each is
log-concave in the differences and its parameter of ties, log ν or log θ; here are the derivatives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from podium.base.arrays import Array
from podium.distributions.davidson import davidson_logs
from podium.distributions.rao_kupper import rao_kupper_logs


class Counts(NamedTuple):
    """Weights of the outcomes of each pair: a won, tied, b won."""

    wins: Array  # (P,)
    ties: Array  # (P,)
    losses: Array  # (P,)


class Derivatives(NamedTuple):
    """Log-likelihood of each pair's outcomes, with derivatives by its difference d and the parameter t of ties."""

    value: Array  # (P,)
    d: Array
    t: Array
    dd: Array  # minus the second derivatives
    dt: Array
    tt: Array


@dataclass(frozen=True)
class PairLaw:
    """Law of a battle of two."""

    name: ClassVar[str]
    has_ties: ClassVar[bool] = True
    start: ClassVar[float] = 0.0
    least: ClassVar[float] = -math.inf
    """What the parameter of ties must be above."""

    def probabilities(self, d: Array, t: float | Array) -> tuple[Array, Array]:
        """P(a wins) and P(tie) at the difference d."""
        raise NotImplementedError

    def derivatives(self, d: Array, t: float | Array, counts: Counts) -> Derivatives:
        raise NotImplementedError

    def tie_value(self, t: float) -> float:
        """The parameter of ties as papers write it: ν or θ."""
        return math.exp(t)

    def expected_score(self, d: Array, t: float) -> Array:
        """P(a wins) + ½ P(tie)."""
        win, tie = self.probabilities(d, t)
        return np.asarray(win + 0.5 * tie)

    def information(self, d: Array, t: float) -> Array:
        """What a battle tells of the difference (Fisher): p(1 − p) if there are no ties."""
        win, tie = self.probabilities(d, t)
        return self.derivatives(d, t, Counts(win, tie, 1.0 - win - tie)).dd


class BradleyTerryLaw(PairLaw):
    """Bradley and Terry (1952); a tie counts as half a win for each."""

    name = "bradley-terry"
    has_ties = False

    def probabilities(self, d: Array, t: float | Array) -> tuple[Array, Array]:
        from scipy.special import expit

        return np.asarray(expit(d)), np.zeros(np.shape(d))

    def derivatives(self, d: Array, t: float | Array, counts: Counts) -> Derivatives:
        n, won = counts.wins + counts.ties + counts.losses, counts.wins + 0.5 * counts.ties
        p, none = self.probabilities(d, t)
        value = -won * np.logaddexp(0.0, -d) - (n - won) * np.logaddexp(0.0, d)
        return Derivatives(value, won - n * p, none, n * p * (1.0 - p), none, none)


class DavidsonLaw(PairLaw):
    """Davidson (1970); t = log ν."""

    name = "davidson"

    def probabilities(self, d: Array, t: float | Array) -> tuple[Array, Array]:
        win, tie = davidson_logs(d, t)
        return np.exp(win), np.exp(tie)

    def derivatives(self, d: Array, t: float | Array, counts: Counts) -> Derivatives:
        """With z = log(e^{d/2} + e^{−d/2} + ν): z' = (P_a − P_b)/2 by d, P_tie by t."""
        log_win, log_tie = davidson_logs(d, t)
        n, log_loss = counts.wins + counts.ties + counts.losses, log_win - d
        win, tie, loss = np.exp(log_win), np.exp(log_tie), np.exp(log_loss)
        apart = win - loss
        return Derivatives(
            counts.wins * log_win + counts.ties * log_tie + counts.losses * log_loss,
            0.5 * (counts.wins - counts.losses - n * apart),
            counts.ties - n * tie,
            n * (win * loss + 0.25 * tie * (win + loss)),
            -0.5 * n * tie * apart,
            n * tie * (1.0 - tie),
        )


class RaoKupperLaw(PairLaw):
    """Rao and Kupper (1967); t = log θ, above 0. P(tie) = (θ² − 1)·P(a)·P(b)."""

    name = "rao-kupper"
    start = math.log(2.0)
    least = 0.0

    def probabilities(self, d: Array, t: float | Array) -> tuple[Array, Array]:
        win, tie = rao_kupper_logs(d, np.log(np.expm1(t)))
        return np.exp(win), np.exp(tie)

    def derivatives(self, d: Array, t: float | Array, counts: Counts) -> Derivatives:
        log_win, log_tie = rao_kupper_logs(d, np.log(np.expm1(t)))
        log_loss, _ = rao_kupper_logs(-d, np.log(np.expm1(t)))
        win, loss = np.exp(log_win), np.exp(log_loss)
        up, down = counts.wins + counts.ties, counts.losses + counts.ties
        bend_up, bend_down = up * win * (1.0 - win), down * loss * (1.0 - loss)
        rest = -np.expm1(-2.0 * np.asarray(t))  # 1 − θ^−2
        return Derivatives(
            counts.wins * log_win + counts.ties * log_tie + counts.losses * log_loss,
            up * (1.0 - win) - down * (1.0 - loss),
            2.0 * counts.ties / rest - up * (1.0 - win) - down * (1.0 - loss),
            bend_up + bend_down,
            bend_down - bend_up,
            bend_up + bend_down + 4.0 * counts.ties * (1.0 - rest) / rest**2,
        )


LAWS: dict[str, PairLaw] = {law.name: law for law in (BradleyTerryLaw(), DavidsonLaw(), RaoKupperLaw())}
