"""Instant-runoff voting: the document with the fewest first places leaves, again and again (Ware 1871)."""

from __future__ import annotations

from typing import ClassVar

from podium.aggregation.ballots import lowest
from podium.aggregation.base import Aggregator
from podium.aggregation.elimination import eliminated_by_places
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import register


@register
class IRV(Aggregator):
    """Instant-runoff voting (alternative vote, Hare): eliminate the document that fewest voters have first.

    Formula: In each round, the remaining document with the least weight of first places among the remaining ones
        leaves; of several, that with the least weight of second places, and so on. Later leavers rank above.
    Ties: tied documents share their places; documents that differ in no count of places leave together, and are tied.
        Documents that a list leaves out are tied below it.
    Cost: O(V·n² log n) per query, in memory of n².
    Use it for: elections with that rule. A document that beats every other by a majority may leave early.
    Reference: Tideman, Collective decisions and voting, 2006.
    """

    slow_above: ClassVar[int | None] = 300

    def one(self, query: QueryRankings) -> Array:
        return eliminated_by_places(query, lowest)
