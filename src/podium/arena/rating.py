"""Rating: strengths of players with their intervals, and the intervals of their ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from podium.arena.duels import Pairs
from podium.arena.judge_effects import JudgeEffects
from podium.arena.pair_laws import PairLaw
from podium.arena.rank_intervals import rank_intervals, standard_errors
from podium.base.arrays import Array, Ints
from podium.base.shown import Shown, ShownTable, Value

Scale = Literal["log", "elo"]
ELO = 400.0 / math.log(10.0)
"""Points of the Elo scale per unit of log-strength."""
AVERAGE = 1000.0
"""The average player on the Elo scale."""


class Misfit(NamedTuple):
    """A pair whose battles went otherwise than the strengths say."""

    a: str
    b: str
    battles: float
    seen: float  # wins of a and half of the ties, as a share
    expected: float
    z: float  # (seen − expected) in standard deviations


@dataclass(frozen=True, eq=False, repr=False)
class Rating(Shown):
    """Players with their strengths: natural log-strengths, whose mean is 0, or on the Elo scale if it is chosen."""

    method: str
    law: PairLaw  # of battles of two
    players: tuple[str, ...]  # (m,) sorted by name
    strengths: Array  # (m,) log-strengths, their mean is 0
    covariance: Array  # (m, m)
    tie: float
    """The law's parameter of ties: log ν of Davidson, log θ of Rao and Kupper."""
    critical: float  # of the largest |t| of all pairs
    pairs: Pairs
    n_battles: int
    battles_each: Array  # (m,) the weight of the battles of each player
    log_likelihood: float
    level: float
    scale: Scale
    notes: tuple[str, ...] = ()
    judges: JudgeEffects | None = None
    fisher: Array | None = None
    """Fisher's covariance, below which no standard error is, if that of the rating is clustered by judge."""
    degrees: float | None = None
    """Degrees of freedom of a clustered covariance: judges less one."""
    groups: dict[str, Rating] = field(default_factory=dict)
    """The rating of each group of battles by itself."""
    source: str | None = None

    @property
    def ties(self) -> float | None:
        """ν of Davidson's law, or θ of Rao and Kupper's; None if the law has no ties."""
        return self.law.tie_value(self.tie) if self.law.has_ties else None

    @property
    def standard_errors(self) -> Array:
        """Of the log-strengths, against the mean of all."""  # (m,)
        variances = np.diag(self.covariance)
        if self.fisher is not None:
            variances = np.maximum(variances, np.diag(self.fisher))
        return np.sqrt(np.maximum(variances, 0.0))

    @cached_property
    def apart(self) -> Array:
        """The standard error of the difference of every two log-strengths."""  # (m, m)
        errors = standard_errors(self.covariance)
        return errors if self.fisher is None else np.maximum(errors, standard_errors(self.fisher))

    def scaled(self, log_strengths: Array) -> Array:
        """Log-strengths on the scale of this rating."""
        return AVERAGE + ELO * log_strengths if self.scale == "elo" else log_strengths

    @property
    def values(self) -> Array:
        """Strengths on the scale of this rating."""  # (m,)
        return self.scaled(self.strengths)

    @cached_property
    def intervals(self) -> tuple[Array, Array]:
        """The confidence interval of each strength by itself, on the scale of this rating."""  # (m,), (m,)
        from scipy.special import ndtri, stdtrit

        at = 0.5 + 0.5 * self.level
        wide = float(ndtri(at) if self.degrees is None else stdtrit(self.degrees, at)) * self.standard_errors
        return self.scaled(self.strengths - wide), self.scaled(self.strengths + wide)

    @cached_property
    def rank_intervals(self) -> tuple[Ints, Ints]:
        """The lowest and highest rank of each player; they hold for all players at once."""  # (m,), (m,)
        return rank_intervals(self.strengths, self.apart, self.critical)

    @property
    def order(self) -> Ints:
        """Players from the strongest; of equals, by name."""  # (m,)
        return np.argsort(-self.strengths, kind="stable")

    def battles_of_players(self) -> tuple[Array, Array]:
        """The weight of the battles of each player, and the share of opponents beaten, ties as half."""  # (m,), (m,)
        c, m = self.pairs.counts, self.pairs.n_players
        total, won = np.zeros(m), np.zeros(m)
        for side, wins in ((self.pairs.first, c.wins), (self.pairs.second, c.losses)):
            total += np.bincount(side, self.pairs.battles, m)
            won += np.bincount(side, wins + 0.5 * c.ties, m)
        return self.battles_each, won / total

    def misfits(self, n: int = 10) -> list[Misfit]:
        """The pairs whose battles fit the strengths worst."""
        c, d = self.pairs.counts, self.pairs.differences(self.strengths)
        win, tie = self.law.probabilities(d, self.tie)
        expected = win + 0.5 * tie
        spread = np.sqrt(np.maximum(win + 0.25 * tie - expected**2, 1e-300) / self.pairs.battles)
        seen = (c.wins + 0.5 * c.ties) / self.pairs.battles
        z = (seen - expected) / spread
        worst = np.argsort(-np.abs(z), kind="stable")[:n]
        columns = (column[worst].tolist() for column in (self.pairs.battles, seen, expected, z))
        first, second = (
            [self.players[i] for i in side[worst].tolist()] for side in (self.pairs.first, self.pairs.second)
        )
        return [Misfit(*row) for row in zip(first, second, *columns, strict=True)]

    def rows(self) -> list[list[Value]]:
        """Rank, player, strength with its interval, the interval of the rank, battles and the share won."""
        (low, high), (best, worst), (battles, won) = self.intervals, self.rank_intervals, self.battles_of_players()
        order = self.order
        return [
            [
                place + 1, self.players[i], float(self.values[i]), float(low[i]), float(high[i]), int(best[i]),
                int(worst[i]), _whole(float(battles[i])), float(won[i]),
            ]
            for place, i in enumerate(order.tolist())
        ]  # fmt: skip

    def _shown(self) -> ShownTable:
        title = f"{self.method}: {self.n_battles} battles of {len(self.players)} players"
        rows = [[row[1], row[0], *row[2:]] for row in self.rows()]
        heads = ["player", "rank", "strength", "from", "to", "best rank", "worst rank", "battles", "won"]
        digits = 0 if self.scale == "elo" else 4
        if digits == 0:
            rows = [[*row[:2], *(round(float(v)) for v in row[2:5]), *row[5:8], f"{row[8]:.4f}"] for row in rows]  # type: ignore[arg-type]
        return ShownTable(title, heads, rows, notes=self.notes, comments=self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        report: dict[str, Any] = {
            "method": self.method,
            "scale": self.scale,
            "battles": self.n_battles,
            "ties": self.ties,
            "level": self.level,
            "critical": self.critical,
            "log_likelihood": self.log_likelihood,
            "players": [dict(zip(_FIELDS, row, strict=True)) for row in self.rows()],
            "misfits": [misfit._asdict() for misfit in self.misfits()],
            "notes": list(self.notes),
        }
        if self.judges is not None:
            report["judges"] = self.judges.to_records()
        if self.groups:
            report["groups"] = {name: rating.to_dict() for name, rating in self.groups.items()}
        return report


def _whole(value: float) -> int | float:
    return int(value) if value.is_integer() else value


_FIELDS = ("rank", "player", "strength", "low", "high", "best_rank", "worst_rank", "battles", "won")
