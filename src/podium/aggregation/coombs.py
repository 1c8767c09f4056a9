"""Coombs' method: the document that most voters have last leaves, again and again (Coombs 1964)."""

from __future__ import annotations

from typing import ClassVar

from podium.aggregation.ballots import lowest
from podium.aggregation.base import Aggregator
from podium.aggregation.elimination import eliminated_by_places
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import register


@register
class Coombs(Aggregator):
    """Coombs' method: eliminate the document that most voters have last.

    Formula: In each round, the remaining document with the most weight of last places among the remaining ones
        leaves; of several, that with the most weight of last but one places, and so on. Later leavers rank above.
    Ties: tied documents share their places; documents that differ in no count of places leave together, and are tied.
        Documents that a list leaves out are tied below it, and share its last places.
    Cost: O(V·n² log n) per query, in memory of n².
    Use it for: full rankings, to avoid what many dislike.
    Reference: Coombs, A theory of data, 1964.
    """

    slow_above: ClassVar[int | None] = 300

    def one(self, query: QueryRankings) -> Array:
        return eliminated_by_places(query, lambda counts: lowest(-counts[:, ::-1]))
