"""Copeland: the number of documents that a document beats by a majority (Copeland 1951; Montague & Aslam 2002).

>>> from podium.aggregation.rankings.rankings import Rankings
>>> votes = Rankings.from_orders([[["A", "B", "C"], ["B", "A", "C"]]])
>>> Copeland()(votes).scores.tolist()
[1.5, 1.5, 0.0]
"""

from __future__ import annotations

from typing import ClassVar

from podium.aggregation.base import Aggregator
from podium.aggregation.pairwise_counts import Unranked, duels_won
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import register


@register
class Copeland(Aggregator):
    """Copeland's method: pairwise majority duels won, a drawn one counting ½.

    Formula: #{i : W(j,i) > W(i,j)} + ½ #{i ≠ j : W(j,i) = W(i,j)}, W(j,i) the weight of the voters who rank j before i.
    Ties: a voter who ties two documents does not vote in their duel; a duel without votes is drawn.
    Cost: O(entries·n) per query, in memory of one row of n.
    Use it for: majority rule with many voters; a document that beats every other always comes first. Scores are
        coarse, so ties are common with few voters.
    Reference: Copeland, A reasonable social welfare function, 1951; Montague & Aslam, Condorcet fusion for improved
        retrieval, CIKM 2002.
    """

    elects_condorcet: ClassVar[bool] = True

    unranked: Unranked = "last"
    """Documents that a list leaves out: tied after its own (`last`), or not compared by it (`skip`)."""

    def one(self, query: QueryRankings) -> Array:
        return 0.5 * (duels_won(query, self.unranked) + query.n_documents - 1)
