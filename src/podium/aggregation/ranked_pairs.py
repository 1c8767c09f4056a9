"""Ranked pairs: majorities are locked in, the largest first, unless they make a cycle (Tideman 1987)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.aggregation.ballots import margins, whole
from podium.aggregation.base import Aggregator
from podium.aggregation.pairwise_counts import Unranked
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array, Flags
from podium.base.registry import register


@register
class RankedPairs(Aggregator):
    """Ranked pairs (Tideman): lock in majorities from the largest margin on, unless they close a cycle.

    Formula: Pairs (i,j) with W(i,j) > W(j,i) in the order of W(i,j) − W(j,i), W(i,j) the weight of the voters who rank
        i before j; a pair is kept if it closes no cycle with larger ones that were kept, and with those of its own
        margin. The score is the number of documents below in the kept order less those above.
    Ties: pairs of equal margin are taken together, so that names do not matter; a voter who ties two documents counts
        for neither.
    Cost: O(margins · n³ log n) per query, in memory of n².
    Use it for: votes with cycles of majorities; a document that beats every other comes first.
    Reference: Tideman, Independence of clones as a criterion for voting rules, Social Choice and Welfare 1987.
    """

    elects_condorcet: ClassVar[bool] = True
    slow_above: ClassVar[int | None] = 150

    unranked: Unranked = "last"
    """Documents that a list leaves out: tied after its own (`last`), or not compared by it (`skip`)."""

    def one(self, query: QueryRankings) -> Array:
        lead = whole(margins(query, self.unranked), query)
        below = np.zeros(lead.shape, np.bool_)  # the kept order, with all that follows from it
        for step in np.unique(lead[lead > 0.0])[::-1]:
            pairs = lead == step
            pairs &= ~_closure(below | pairs).T
            below = _closure(below | pairs)
        return np.asarray(below.sum(axis=1) - below.sum(axis=0), np.float64)


def _closure(relation: Flags) -> Flags:
    """What follows from a relation by any number of steps."""
    while True:
        numbers = relation.astype(np.float32)
        longer = relation | (numbers @ numbers > 0.0)
        if (longer == relation).all():
            return relation
        relation = longer
