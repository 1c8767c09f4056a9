"""Elimination: documents leave in rounds, and those that stay longer rank above."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from podium.aggregation.ballots import ballots, place_counts
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array, Flags


def eliminated_by_places(query: QueryRankings, leaving: Callable[[Array], Flags]) -> Array:
    """Scores by the round of leaving; `leaving` sees the weights of places of the remaining documents."""  # (n,)
    ranks, weights = ballots(query)
    scores, left, level = np.zeros(query.n_documents), np.arange(query.n_documents), 0.0
    while len(left):
        leave = leaving(place_counts(ranks[:, left], weights))
        scores[left[leave]] = level
        left, level = left[~leave], level + 1.0
    return scores


def eliminated_by_margins(margins: Array, leaving: Callable[[Array], Array]) -> Array:
    """Scores by the round of leaving; `leaving` sees sums of margins, and gives keys of those that leave, else NaN.

    Among those of one round, larger keys rank above.
    """
    n = len(margins)
    scores, left, level = np.zeros(n), np.arange(n), 0.0
    totals = margins.sum(axis=1)
    while len(left):
        keys = leaving(totals[left])
        leave = ~np.isnan(keys)
        _, ranks = np.unique(keys[leave], return_inverse=True)
        scores[left[leave]] = level + ranks
        level += float(ranks.max()) + 1.0
        totals = totals - margins[:, left[leave]].sum(axis=1)
        left = left[~leave]
    return scores
