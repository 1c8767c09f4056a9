"""KwikSort: quicksort by majorities, from random pivots (Ailon, Charikar & Newman 2008).

>>> from podium.aggregation.rankings.rankings import Rankings
>>> votes = Rankings.from_orders([[["A", "B", "C"], ["B", "A", "C"], ["A", "C", "B"]]])
>>> Kwiksort()(votes).order(0)
['A', 'B', 'C']
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.aggregation.ballots import EVEN
from podium.aggregation.base import Aggregator, Solved
from podium.aggregation.kemeny import cheapest_sides
from podium.aggregation.linear_ordering import order_cost
from podium.aggregation.pairwise_counts import Unranked, lists, wins
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array, Ints
from podium.base.registry import param, register


@register
class Kwiksort(Aggregator):
    """KwikSort: documents that beat a random pivot by a majority go before it, the others after it, and so on.

    Formula: of `restarts` such orders, the one of the smallest Kemeny cost Σ_k w_k #{(i,j) : i ≻_k j, j before i}; its
        lower bound is Σ_{i<j} min(W(i,j), W(j,i)). The expected cost of a single order is at most 11/7 of the least
        one, if all lists are complete. With restarts=1 it is Condorcet-fuse.
    Ties: a draw is decided by the sums of a document's leads over all others, then by chance. The order is strict.
    Cost: O((V + restarts)·n²) per query, in memory of n².
    Use it for: an order near Kemeny's of thousands of documents; a document that beats every other comes first.
    Reference: Ailon, Charikar & Newman, Aggregating inconsistent information, JACM 2008; Montague & Aslam, Condorcet
        fusion for improved retrieval, CIKM 2002.
    """

    minimises: ClassVar[bool] = True
    elects_condorcet: ClassVar[bool] = True

    restarts: int = param(100, least=1)
    """Orders that are made, of which the best is kept."""
    seed: int = param(0, least=0)
    """Seed of the pivots."""
    unranked: Unranked = "last"
    """Documents that a list leaves out: tied after its own (`last`), or not compared by it (`skip`)."""

    def solve(self, query: QueryRankings) -> Solved:
        before = wins(lists(query, self.unranked))  # (n, n)
        lead, rng, n = before - before.T, np.random.default_rng(self.seed), len(before)
        balance = lead.sum(axis=1)
        lead[np.abs(lead) <= EVEN * query.weights.sum()] = 0.0
        best, cost = np.arange(n), np.inf
        for _ in range(self.restarts):
            order = _sorted(lead, balance, rng)
            now = order_cost(before, order)
            if now < cost:
                best, cost = order, now
        bound = min(cheapest_sides(before), cost)
        scores = np.empty(n)
        scores[best] = np.arange(n - 1.0, -1.0, -1.0)
        return Solved(scores, cost, cost if cost - bound <= 1e-9 * cost else bound)


def _sorted(lead: Array, balance: Array, rng: np.random.Generator) -> Ints:
    """The documents, from the best; parts that wait to be sorted are on a stack, the best on top."""
    waiting, order = [rng.permutation(len(lead))], list[int]()  # in random order, so that the first is a random pivot
    while waiting:
        part = waiting.pop()
        if len(part) < 2:
            order += part.tolist()
            continue
        pivot, others = part[0], part[1:]
        ahead = np.sign(lead[others, pivot])
        ahead = np.where(ahead == 0.0, np.sign(balance[others] - balance[pivot]), ahead)
        first = (ahead > 0.0) | ((ahead == 0.0) & (rng.random(len(others)) < 0.5))
        waiting += [others[~first], np.array([pivot]), others[first]]
    return np.array(order, np.int64)
