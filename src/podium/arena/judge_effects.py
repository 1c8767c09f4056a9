"""Judges of battles: how noisy each is, and how often each calls a tie.

A judge's battles follow the law at γ_j·d and t + b_j: with γ_j = 1 the judge tells players apart as all judges together
do, with 0 by chance, below 0 the wrong way round. γ_j ~ N(1, ω²) and b_j ~ N(0, κ²) are random effects: judges of few
battles are drawn towards the others. Modes by Newton's method, ω and κ by EM with Laplace's approximation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.arena.duels import Pairs
from podium.arena.pair_laws import PairLaw
from podium.arena.strengths import JudgeTerms, Strengths, fit
from podium.base.arrays import Array
from podium.base.shown import Shown, ShownTable


@dataclass(frozen=True, eq=False, repr=False)
class JudgeEffects(Shown):
    """What is special about each judge."""

    judges: tuple[str, ...]  # (J,)
    battles: Array  # (J,)
    ties: Array  # (J,) share of the battles
    slope: Array  # (J,) γ: 1 as all judges together, 0 by chance
    slope_error: Array  # (J,)
    shift: Array  # (J,) b: above 0 if the judge calls more ties
    shift_error: Array  # (J,)

    @property
    def by_chance(self) -> list[str]:
        """Judges whose answers may be chance: the 95 % interval of their γ holds 0 or less, and does not hold 1."""
        low, high = self.slope - 1.96 * self.slope_error, self.slope + 1.96 * self.slope_error
        return [self.judges[j] for j in np.flatnonzero((low <= 0.0) & (high < 1.0)).tolist()]

    def to_records(self) -> list[dict[str, Any]]:
        """Everything as plain values for JSON."""
        columns = self.battles, self.ties, self.slope, self.slope_error, self.shift, self.shift_error
        fields = ("battles", "ties", "slope", "slope_error", "shift", "shift_error")
        return [
            {"judge": judge, **dict(zip(fields, map(float, row), strict=True))}
            for judge, *row in zip(self.judges, *columns, strict=True)
        ]

    def _shown(self) -> ShownTable:
        columns = self.battles, self.ties, self.slope, self.slope_error, self.shift
        rows = [[name, *map(float, row)] for name, *row in zip(self.judges, *columns, strict=True)]
        notes = ["slope: 1 as all judges together, 0 by chance; tie shift: above 0 calls more ties"]
        return ShownTable("Judges", ["judge", "battles", "ties", "slope", "±", "tie shift"], rows, notes=notes)


def judge_effects(judges: tuple[str, ...], fitted: Strengths, pairs: Pairs, law: PairLaw) -> JudgeEffects:
    """The effects of each judge at fitted strengths, from pairs by judge."""
    assert pairs.judge is not None, "of pairs by judge"
    of, n = pairs.judge, len(judges)
    d, slope, shift = pairs.differences(fitted.s), np.ones(n), np.zeros(n)
    variances = np.array([0.25, 0.25])
    floor = law.least + 1e-9

    def total(values: Array) -> Array:
        return np.asarray(np.bincount(of, values, n), float)

    for _ in range(_ROUNDS):
        for _ in range(_STEPS):
            r = law.derivatives(slope[of] * d, np.maximum(fitted.t + shift[of], floor), pairs.counts)
            gradient = total(d * r.d) - (slope - 1.0) / variances[0], total(r.t) - shift / variances[1]
            a, b, c = total(d * d * r.dd) + 1.0 / variances[0], total(d * r.dt), total(r.tt) + 1.0 / variances[1]
            if not law.has_ties:
                b = np.zeros(n)
            size = a * c - b * b
            step = (c * gradient[0] - b * gradient[1]) / size, (a * gradient[1] - b * gradient[0]) / size
            slope = slope + np.clip(step[0], -1.0, 1.0)
            shift = shift + (np.clip(step[1], -1.0, 1.0) if law.has_ties else 0.0)
        moments = np.array([np.mean((slope - 1.0) ** 2 + c / size), np.mean(shift**2 + a / size)])
        done = np.abs(moments - variances).max() < 1e-4
        variances = np.clip(moments, _LEAST, _MOST)
        if done:
            break
    battles = total(pairs.battles)
    errors = np.sqrt(c / size), np.sqrt(a / size) if law.has_ties else np.zeros(n)
    return JudgeEffects(judges, battles, total(pairs.counts.ties) / battles, slope, errors[0], shift, errors[1])


def fit_with_judges(
    judges: tuple[str, ...], pairs: Pairs, law: PairLaw, *, prior: float
) -> tuple[Strengths, JudgeEffects, JudgeTerms]:
    """Strengths and judges' effects together: each in turn, until neither moves."""
    assert pairs.judge is not None, "of pairs by judge"
    fitted = fit(pairs, law, prior=prior)
    for _ in range(_TURNS):
        effects = judge_effects(judges, fitted, pairs, law)
        terms = JudgeTerms(effects.slope[pairs.judge], effects.shift[pairs.judge])
        before, fitted = fitted.s, fit(pairs, law, prior=prior, terms=terms)
        if np.abs(fitted.s - before).max() < 1e-4:
            break
    return fitted, effects, terms


_ROUNDS, _STEPS, _TURNS = 60, 3, 40
_LEAST, _MOST = 1e-3, 4.0
