"""Minimax: the document whose worst defeat is the smallest (Simpson 1969; Kramer 1977)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.aggregation.ballots import margins, scores_of, whole
from podium.aggregation.base import Aggregator
from podium.aggregation.pairwise_counts import Unranked
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import register


@register
class Minimax(Aggregator):
    """Minimax (Simpson–Kramer): by the worst defeat, then the second worst, and so on.

    Formula: The margins W(j,i) − W(i,j) of j against every other i from the smallest on, W(j,i) the weight of the
        voters who rank j before i; documents are compared by the smallest, equal ones by the next.
    Ties: documents with the same margins are tied. A voter who ties two documents counts for neither.
    Cost: O(entries·n + n² log n) per query, in memory of n².
    Use it for: votes with cycles of majorities; a document that beats every other comes first.
    Reference: Simpson, On defining areas of voter choice, 1969; Kramer, A dynamical model of political equilibrium,
        1977.
    """

    elects_condorcet: ClassVar[bool] = True
    slow_above: ClassVar[int | None] = 3000

    unranked: Unranked = "last"
    """Documents that a list leaves out: tied after its own (`last`), or not compared by it (`skip`)."""

    def one(self, query: QueryRankings) -> Array:
        lead = whole(margins(query, self.unranked), query)
        n = len(lead)
        others = np.sort(lead[~np.eye(n, dtype=np.bool_)].reshape(n, n - 1), axis=1)
        return scores_of(list(map(tuple, others.tolist())))
