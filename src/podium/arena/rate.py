"""Rate players from battles.

>>> from podium.arena.battles import Battles
>>> battles = Battles.from_pairs(["ann"] * 6, ["bob"] * 6, ["a", "a", "a", "b", "tie", "tie"])
>>> rating = rate(battles, prior=0.0)
>>> round(float(np.exp(rating.strengths[0] - rating.strengths[1])), 6), round(rating.ties, 6)
(3.0, 1.154701)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from podium.aggregation.determined import components, separated
from podium.arena.battles import Battles, as_battles
from podium.arena.duels import Pairs, pairs_of
from podium.arena.judge_effects import JudgeEffects, fit_with_judges, judge_effects
from podium.arena.pair_laws import LAWS, PairLaw
from podium.arena.rank_intervals import critical_value
from podium.arena.rating import Rating, Scale
from podium.arena.strengths import JudgeTerms, Strengths, clustered, fit
from podium.base.arrays import Array, Flags
from podium.base.errors import DataError, ParameterError, UnknownNameError, counted
from podium.base.shown import some_names

Law = Literal["bradley-terry", "davidson", "rao-kupper", "plackett-luce"]
MANY_JUDGES = 30
"""The fewest judges of whom a sandwich covariance is taken; with fewer it is too small."""
MOST_PLAYERS = 10_000


def rate(
    battles: Any,
    law: Law | None = None,
    *,
    prior: float = 0.5,
    scale: Scale = "log",
    level: float = 0.95,
    different_judges: bool = False,
    seed: int = 0,
    **columns: str | None,
) -> Rating:
    """Rate players from battles: a file, a data frame, a list of dictionaries, or `Battles`.

    `battles`: who fought whom, and who won; columns a, b and winner, or battle, player and rank.
    `law`: `bradley-terry`, `davidson` or `rao-kupper` for battles of two, `plackett-luce` for more, with ties as
        Davidson's law has them. By default plackett-luce if any battle has more than two players, davidson if there
        are ties, and bradley-terry otherwise.
    `prior`: battles that each player also wins and loses against an average player, so that every strength is finite.
        0 is maximum likelihood alone, and refuses battles that do not determine the strengths.
    `scale`: log, the natural logarithm, or elo: 400 points for odds of ten, the average player at 1000.
    `level`: confidence level of the intervals of each strength, and of all ranks at once (`rank_intervals.py`). If
        battles name 30 judges or more, battles of one judge may depend on each other (sandwich, not below Fisher's).
    `different_judges`: judges may differ in noise and in how often they call a tie (`judge_effects.py`), and noisy ones
        count less.
    `seed`: of the bootstrap of rank intervals.
    `columns`: names of the columns a, b, winner, battle, player, rank, judge, group and weight, if they are unusual.
    """
    _check(law, prior, scale, level)
    fought = as_battles(battles, **columns)
    how: dict[str, Any] = {"prior": prior, "scale": scale, "level": level, "seed": seed}
    rating = _rated(fought, law, different_judges=different_judges, **how)
    if fought.groups is None:
        return rating
    groups = {
        name: _rated(fought.group(g), law, different_judges=different_judges, **how)
        for g, name in enumerate(fought.groups.names)
    }
    return replace(rating, groups=groups)


def _check(law: str | None, prior: float, scale: str, level: float) -> None:
    if law is not None and law not in get_args(Law):
        raise UnknownNameError("law of battles", law, get_args(Law))
    if scale not in get_args(Scale):
        raise UnknownNameError("scale", scale, get_args(Scale))
    if not 0.0 <= prior < np.inf:
        raise ParameterError(f"prior must be a number of at least 0; got {prior}.")
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level must be between 0 and 1; got {level}.")


def _rated(
    battles: Battles, law: Law | None, *, different_judges: bool, prior: float, scale: Scale, level: float, seed: int
) -> Rating:
    if len(battles.players) > MOST_PLAYERS:
        raise DataError(
            f"{len(battles.players)} players; intervals need the covariance of every two, which is kept for up to "
            f"{MOST_PLAYERS}. Rate those with most battles.",
            where=battles.source,
        )
    chosen, notes = _law(battles, law)
    pairs = pairs_of(battles)
    notes += _determined(pairs, battles, prior)
    if different_judges and (battles.judges is None or chosen == "plackett-luce"):
        why = "the battles name no judges" if battles.judges is None else "plackett-luce takes all judges alike"
        raise ParameterError(f"judges cannot differ: {why}. Leave it out, or give a column of judges and a pair law.")
    if chosen == "plackett-luce":
        from podium.arena.several import clustered_several, fit_several

        pair_law, fitted = fit_several(battles, prior)
        n_judges, judges = 0 if battles.judges is None else len(battles.judges.names), None
        covariance = fitted.covariance if n_judges < MANY_JUDGES else clustered_several(battles, fitted)
        notes.append(_covariance_words(n_judges))
    else:
        pair_law = LAWS[chosen]
        fitted, covariance, judges, words = _fitted(battles, pairs, pair_law, prior, different_judges)
        notes.append(words)
    critical, fisher, degrees = critical_value(fitted.covariance, level=level, seed=seed), None, None
    if battles.judges is not None and len(battles.judges.names) >= MANY_JUDGES:
        fisher, degrees = fitted.covariance, float(len(battles.judges.names) - 1)
        critical = max(critical, critical_value(covariance, level=level, seed=seed, degrees=degrees))
    return Rating(
        chosen, pair_law, battles.players, fitted.s, covariance, fitted.t, critical, pairs, battles.n_battles,
        battles.battles_each(), fitted.log_likelihood, level, scale, (*_meanings(level, prior), *notes), judges, fisher,
        degrees, source=battles.source,
    )  # fmt: skip


def _meanings(level: float, prior: float) -> list[str]:
    words = [
        f"from, to: the {100 * level:g} % interval of a strength by itself; best and worst rank: intervals that hold "
        f"for all players at once in {100 * level:g} %"
    ]
    if prior > 0.0:
        battles = "half a battle" if prior == 0.5 else f"{prior:g} battles"
        words.append(f"prior: each player also wins and loses {battles} against an average player")
    return words


def _law(battles: Battles, law: Law | None) -> tuple[Law, list[str]]:
    """The law to fit, and what to say about it."""
    ties = int(battles.tied.sum())
    if not battles.in_pairs:
        if law not in (None, "plackett-luce"):
            large = counted(int((battles.sizes > 2).sum()), "battle has", "battles have")
            raise DataError(
                f"{law} is for battles of two, and {large} more players. Use plackett-luce.",
                where=battles.source,
            )
        return "plackett-luce", []
    if ties == battles.n_battles:
        raise DataError("every battle is a tie: nothing tells the players apart.", where=battles.source)
    if law is None:
        return ("davidson" if ties else "bradley-terry"), []
    if law in ("davidson", "rao-kupper") and not ties:
        return "bradley-terry", [f"no battle is a tie, and {law} without ties is bradley-terry"]
    if law == "bradley-terry" and ties:
        return law, [f"{counted(ties, 'tie counts', 'ties count')} as half a win for each; davidson models them"]
    return law, []


def _determined(pairs: Pairs, battles: Battles, prior: float) -> list[str]:
    """What the battles leave open; an error if there is no prior to decide it."""
    m = pairs.n_players
    holds = np.zeros((m, m), np.bool_)
    wins, ties, losses = (part > 0.0 for part in pairs.counts)
    holds[pairs.first, pairs.second], holds[pairs.second, pairs.first] = wins | ties, losses | ties
    parts, notes = components(holds), []
    if len(parts) > 1:
        sets = "; ".join(_names(battles, part) for part in parts[:_FEW])
        notes.append(
            f"not connected: no battle joins these {len(parts)} components, so only the prior compares them: {sets}"
            f"{'; …' if len(parts) > _FEW else ''}"
        )
    else:
        above, below = separated(holds)
        for chosen, words in (
            (above, "never lost or tied against the others"),
            (below, "never won or tied against the others"),
        ):
            if chosen.any():
                notes.append(
                    f"separated: {_names(battles, chosen)} {words}, so only the prior keeps the strength finite"
                )
    if notes and prior == 0.0:
        raise DataError(
            f"the battles do not determine the strengths: {notes[0].replace('so only the prior', 'and no prior')}. "
            "Use a prior above 0, or rate each component by itself.",
            where=battles.source,
        )
    return notes


def _names(battles: Battles, chosen: Flags) -> str:
    return some_names([battles.players[k] for k in np.flatnonzero(chosen).tolist()])


def _fitted(
    battles: Battles, pairs: Pairs, law: PairLaw, prior: float, different: bool
) -> tuple[Strengths, Array, JudgeEffects | None, str]:
    """Strengths, their covariance, the effects of judges, and how the covariance was computed."""
    if battles.judges is None:
        fitted = fit(pairs, law, prior=prior)
        return fitted, fitted.covariance, None, _covariance_words(0)
    names, by_judge = battles.judges.names, pairs_of(battles, by_judge=True)
    terms: JudgeTerms | None = None
    if different:
        fitted, effects, terms = fit_with_judges(names, by_judge, law, prior=prior)
    else:
        fitted = fit(pairs, law, prior=prior)
        effects = judge_effects(names, fitted, by_judge, law)
    covariance = fitted.covariance if len(names) < MANY_JUDGES else clustered(fitted, by_judge, law, terms)
    return fitted, covariance, effects, _covariance_words(len(names))


def _covariance_words(judges: int) -> str:
    """How the covariance of this many judges is computed; 0 if they are not known."""
    if judges >= MANY_JUDGES:
        return f"intervals: sandwich covariance, clustered by {judges} judges"
    few = f" ({counted(judges, 'judge')}, too few for a sandwich covariance)" if judges else ""
    return f"intervals: Fisher's information{few}"


_FEW = 5
