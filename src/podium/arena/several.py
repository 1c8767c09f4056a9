"""Battles of more than two players: Plackett–Luce with ties, as the aggregator `plackett-luce` fits it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from podium.aggregation.davidson_luce import MOST_TIED, profile, tie_sizes
from podium.aggregation.plackett_luce_mle import PlackettLuceMLE
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.arena.battles import Battles
from podium.arena.pair_laws import LAWS, PairLaw
from podium.arena.strengths import Strengths, centred
from podium.base.arrays import Array
from podium.parsing.ids import Ids


def fit_several(battles: Battles, prior: float) -> tuple[PairLaw, Strengths]:
    """The strengths, and the law of battles of two that they have: Davidson's if two may tie."""
    lists = _lists(battles)
    worths = PlackettLuceMLE(pseudo=prior, unranked="skip", ties="shared").fit(lists)
    sizes = tie_sizes(lists)
    law, t = LAWS["bradley-terry"], 0.0
    if 2 in sizes and sizes[-1] <= MOST_TIED:
        law, t = LAWS["davidson"], float(profile(lists, worths.log_worths, last=False).log_delta[sizes == 2][0])
    return law, Strengths(worths.log_worths, t, worths.covariance, worths.log_likelihood, 0.0)


def clustered_several(battles: Battles, fitted: Strengths) -> Array:
    """The sandwich covariance of the log-strengths: battles of one judge may depend on each other.

    The score of a judge is the derivative of the gradient by the weight of the judge's battles, in which the parameters
    of ties have moved along.
    """  # (m, m)
    assert battles.judges is not None, "of battles with judges"
    model = PlackettLuceMLE(pseudo=0.0, unranked="skip", ties="shared")
    lists, judge = model.seen(_lists(battles)), battles.judges.of
    scores = np.empty((len(battles.judges.names), len(fitted.s)))
    for j in range(len(scores)):
        more, less = (
            model.slope(replace(lists, weights=np.where(judge == j, 1.0 + step, 1.0) * lists.weights), fitted.s)
            for step in (_STEP, -_STEP)
        )
        scores[j] = (more.gradient - less.gradient) / (2.0 * _STEP)
    middle = scores.T @ scores * (len(scores) / (len(scores) - 1.0))
    return centred(fitted.covariance @ middle @ fitted.covariance)


def _lists(battles: Battles) -> QueryRankings:
    return QueryRankings(
        "battles", Ids.of(battles.players), battles.entries, battles.ranks, np.full(len(battles.entries), np.nan),
        battles.offsets, battles.weights,
    )  # fmt: skip


_STEP = 1e-3  # of the weight of a judge's battles
