"""Baldwin's method: the document with the smallest Borda score leaves, again and again (Baldwin 1926)."""

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
class Baldwin(Aggregator):
    """Baldwin's method: eliminate the smallest Borda score.

    Formula: In each round, the remaining document j with the smallest Σ_i W(j,i) − W(i,j) over the remaining i leaves,
        W(j,i) the weight of the voters who rank j before i. Later leavers rank above.
    Ties: documents of equal score leave together, and are tied. A voter who ties two documents counts for neither.
    Cost: O(entries·n + n²) per query, in memory of n².
    Use it for: Borda that elects a document which beats every other by a majority.
    Reference: Baldwin, The technique of the Nanson preferential majority system of election, 1926.
    """

    elects_condorcet: ClassVar[bool] = True
    slow_above: ClassVar[int | None] = 3000

    unranked: Unranked = "last"
    """Documents that a list leaves out: tied after its own (`last`), or not compared by it (`skip`)."""

    def one(self, query: QueryRankings) -> Array:
        lead = whole(margins(query, self.unranked), query)
        return eliminated_by_margins(lead, lambda totals: np.where(totals == totals.min(), 0.0, np.nan))
