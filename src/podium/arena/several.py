"""Battles of more than two players: Plackett–Luce with ties, as the aggregator `plackett-luce` fits it."""

from __future__ import annotations

import numpy as np

from podium.aggregation.davidson_luce import MOST_TIED, profile, tie_sizes
from podium.aggregation.plackett_luce_mle import PlackettLuceMLE
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.arena.battles import Battles
from podium.arena.pair_laws import LAWS, PairLaw
from podium.arena.strengths import Strengths
from podium.parsing.ids import Ids


def fit_several(battles: Battles, prior: float) -> tuple[PairLaw, Strengths]:
    """The strengths, and the law of battles of two that they have: Davidson's if two may tie."""
    lists = QueryRankings(
        "battles", Ids.of(battles.players), battles.entries, battles.ranks, np.full(len(battles.entries), np.nan),
        battles.offsets, battles.weights,
    )  # fmt: skip
    worths = PlackettLuceMLE(pseudo=prior, unranked="skip", ties="shared").fit(lists)
    sizes = tie_sizes(lists)
    law, t = LAWS["bradley-terry"], 0.0
    if 2 in sizes and sizes[-1] <= MOST_TIED:
        law, t = LAWS["davidson"], float(profile(lists, worths.log_worths, last=False).log_delta[sizes == 2][0])
    return law, Strengths(worths.log_worths, t, worths.covariance, worths.log_likelihood, 0.0)
