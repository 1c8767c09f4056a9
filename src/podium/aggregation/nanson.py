"""Nanson's method: documents below the mean Borda score leave, again and again (Nanson 1882)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.aggregation.ballots import margins, whole
from podium.aggregation.base import Aggregator
from podium.aggregation.elimination import eliminated_by_margins
from podium.aggregation.pairwise_counts import Unranked
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import register


@register
class Nanson(Aggregator):
    """Nanson's method: eliminate what is below the mean Borda score.

    Formula: In each round, the remaining documents j with Σ_i W(j,i) − W(i,j) < 0 over the remaining i leave, W(j,i)
        the weight of the voters who rank j before i; if there are none, all leave. Later leavers rank above, those of
        one round by that sum.
    Ties: documents of one round and of equal sum are tied. A voter who ties two documents counts for neither.
    Cost: O(entries·n + n²) per query, in memory of n².
    Use it for: Borda that elects a document which beats every other by a majority, in few rounds.
    Reference: Nanson, Methods of election, 1882.
    """

    elects_condorcet: ClassVar[bool] = True
    slow_above: ClassVar[int | None] = 3000

    unranked: Unranked = "last"
    """Documents that a list leaves out: tied after its own (`last`), or not compared by it (`skip`)."""

    def one(self, query: QueryRankings) -> Array:
        return eliminated_by_margins(whole(margins(query, self.unranked), query), _leaving)


def _leaving(totals: Array) -> Array:
    """The sums of those below 0, or of all."""
    below = totals < 0.0
    return np.where(below | (not below.any()), totals, np.nan)
