"""Positional voting: points for places, such as those of a plurality vote or a song contest."""

from __future__ import annotations

import itertools

import numpy as np

from podium.aggregation.ballots import ballots, place_counts
from podium.aggregation.base import Aggregator
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.errors import ParameterError
from podium.base.registry import register


@register
class Positional(Aggregator):
    """Positional voting: each voter gives points to places.

    Formula: Σ_v w_v s(r_v(j)), s the points of a place: `scores`, and 0 behind them; without scores 1/r (Dowdall).
        [1] is plurality, [1,1,1] approval of the first three, [12,10,8,7,6,5,4,3,2,1] that of a song contest.
    Ties: tied documents share the points of their places; documents that a list leaves out are tied below it.
    Cost: O(V·n log n + n²) per query, in memory of n².
    Use it for: contests with such rules. Points that fall fast let few voters decide: see borda.
    Reference: Young, Social choice scoring functions, 1975; Fraenkel & Grofman, The Borda count and its real-world
        alternatives, 2014.
    """

    scores: tuple[float, ...] = ()
    """The points of the first places, falling; none: 1, 1/2, 1/3 …"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(a < b for a, b in itertools.pairwise(self.scores)) or min(self.scores, default=0.0) < 0.0:
            raise ParameterError(f"positional: points must fall, and not below 0; got {list(self.scores)}.")

    def one(self, query: QueryRankings) -> Array:
        counts = place_counts(*ballots(query))  # (n, n)
        n = len(counts)
        points = np.array(self.scores[:n]) if self.scores else 1.0 / np.arange(1.0, n + 1)
        return np.asarray(counts[:, : len(points)] @ points, np.float64)
