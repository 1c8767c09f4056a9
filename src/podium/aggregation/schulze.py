"""Schulze's method: majorities along chains of documents (Schulze 2011)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.aggregation.ballots import whole
from podium.aggregation.base import Aggregator
from podium.aggregation.pairwise_counts import Unranked, lists, wins
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import register


@register
class Schulze(Aggregator):
    """Schulze's method (beatpath): compare documents by the strongest chain of majorities from one to the other.

    Formula: P(i,j) is the largest over chains from i to j of the smallest W(k,l) on it, over steps with W(k,l) >
        W(l,k), W(k,l) the weight of the voters who rank k before l. i is above j if P(i,j) > P(j,i), which is
        transitive; the score is the number of documents below less those above.
    Ties: documents of equal chains are tied. A voter who ties two documents counts for neither.
    Cost: O(n³) per query, in memory of n².
    Use it for: votes with cycles of majorities; a document that beats every other comes first, clones change nothing.
    Reference: Schulze, A new monotonic, clone-independent, reversal symmetric, and Condorcet-consistent single-winner
        election method, Social Choice and Welfare 2011.
    """

    elects_condorcet: ClassVar[bool] = True
    slow_above: ClassVar[int | None] = 1000

    unranked: Unranked = "last"
    """Documents that a list leaves out: tied after its own (`last`), or not compared by it (`skip`)."""

    def one(self, query: QueryRankings) -> Array:
        before = whole(wins(lists(query, self.unranked)), query)
        paths = np.where(before > before.T, before, 0.0)
        for k in range(len(paths)):
            np.maximum(paths, np.minimum(paths[:, k, None], paths[k]), out=paths)
        above = paths > paths.T
        return np.asarray(above.sum(axis=1) - above.sum(axis=0), np.float64)
