"""Bucklin voting: the depth at which a majority of voters has a document (Bucklin 1909)."""

from __future__ import annotations

import numpy as np

from podium.aggregation.ballots import ballots, place_counts, scores_of, whole
from podium.aggregation.base import Aggregator
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import register


@register
class Bucklin(Aggregator):
    """Bucklin voting: how deep a majority must look to have a document.

    Formula: d(j) is the smallest depth at which voters of more than half of the weight have j among their first d;
        smaller is better, then more weight at that depth.
    Ties: tied documents share their places; documents that a list leaves out are tied below it.
    Cost: O(V·n log n + n²) per query, in memory of n².
    Use it for: a median rank that counts how many voters are behind it.
    Reference: Hoag & Hallett, Proportional representation, 1926.
    """

    def one(self, query: QueryRankings) -> Array:
        ranks, weights = ballots(query)
        support = whole(np.cumsum(place_counts(ranks, weights), axis=1), query)  # (n, n)
        depth = (2.0 * support > whole(weights.sum(), query)).argmax(axis=1)
        behind = support[np.arange(len(support)), depth]
        return scores_of(list(zip((-depth).tolist(), behind.tolist(), strict=True)))
