"""Rank centrality: the share of time of a walk that moves to better documents (Negahban, Oh & Shah 2017)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.aggregation.base import Aggregator
from podium.aggregation.pairwise_counts import Unranked, lists, wins
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import param, register


@register
class RankCentrality(Aggregator):
    """Rank centrality: the stationary distribution of a walk from losers of pairs to winners.

    Formula: From i the walk goes to j with probability p(j,i)/(n − 1), p(j,i) = (W(j,i) + a)/(W(j,i) + W(i,j) + 2a),
        W(j,i) the weight of the voters who rank j before i and a the `prior`; else it stays. The score is the share of
        time in j.
    Ties: a voter who ties two documents counts for neither; documents that nobody separates are tied.
    Cost: O(n³) per query, in memory of n².
    Use it for: many comparisons of pairs that err at random: it estimates the worths of a Bradley–Terry model.
    Reference: Negahban, Oh & Shah, Rank centrality: ranking from pairwise comparisons, Operations Research 2017.
    """

    slow_above: ClassVar[int | None] = 2000

    prior: float = param(1.0, above=0.0)
    """Wins of each document against each other that are added, so that every document can be reached."""
    unranked: Unranked = "last"
    """Documents that a list leaves out: tied after its own (`last`), or not compared by it (`skip`)."""

    def one(self, query: QueryRankings) -> Array:
        before = wins(lists(query, self.unranked)) + self.prior
        n = len(before)
        if n == 1:
            return np.ones(1)
        moves = (before / (before + before.T)).T / (n - 1)  # from row to column
        np.fill_diagonal(moves, 0.0)
        walk = moves.T - np.diag(moves.sum(axis=1))
        walk[-1] = 1.0  # the shares add up to 1
        return np.asarray(np.linalg.solve(walk, np.eye(n)[-1]), np.float64)
