"""Optimal footrule aggregation: the order nearest to the voters' in Spearman's footrule (Dwork et al. 2001).

>>> from podium.aggregation.rankings.rankings import Rankings
>>> votes = Rankings.from_orders([[["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"]]])
>>> consensus = Footrule()(votes)
>>> consensus.order(0), consensus.costs.tolist()  # B and C are one place off in the second list, A and B in the third
(['A', 'B', 'C'], [4.0])
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from podium.aggregation.base import Aggregator, Solved
from podium.aggregation.borda import mean_places
from podium.aggregation.pairwise_counts import Unranked, lists
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled


@register
class Footrule(Aggregator):
    """The order of least total displacement, found as an assignment of documents to places.

    Formula: min over orders π of Σ_k w_k Σ_j |σ_k(j) − π(j)|; the documents that a list leaves out share the places
        below it (`last`). With `skip` they cost nothing, and a list of n_k documents is stretched over the n places:
        Σ_{j in k} |σ_k(j)·n/n_k − π(j)| (scaled footrule). Then a document at the top of one list and in no other
        comes before one that all lists rank second: use it only if missing documents were not considered.
    Ties: tied documents have the mean of their places. The consensus is strict; of the orders that cost the same, the
        one of the least Σ w (σ − π)².
    Cost: O(E·n + n³) per query; always optimal.
    Use it for: a consensus within twice the cost of Kemeny's, in polynomial time.
    Reference: Diaconis & Graham, Spearman's footrule as a measure of disarray, 1977; Dwork, Kumar, Naor & Sivakumar,
        Rank aggregation methods for the web, WWW 2001.
    """

    minimises: ClassVar[bool] = True
    slow_above: ClassVar[int | None] = 4000

    unranked: Unranked = "last"
    """Documents that a list leaves out: tied after its own (`last`), or not compared by it (`skip`)."""

    def solve(self, query: QueryRankings) -> Solved:
        from scipy.optimize import linear_sum_assignment

        seen, n = lists(query, self.unranked), query.n_documents
        sizes = np.diff(seen.offsets)
        places = mean_places(seen.ranks, seen.offsets) * np.repeat(n / np.maximum(sizes, 1), sizes)
        weights = np.repeat(query.weights, sizes)
        cost = _displacements(seen.documents, places, weights, n, _slight(n, len(sizes)))
        _, at = linear_sum_assignment(cost)
        total = float(weights @ np.abs(places - (at[seen.documents] + 1)))
        return Solved(np.asarray(n - 1 - at, np.float64), total, total)


def _slight(n: int, voters: int) -> float:
    """The weight of squares, so small that all together are less than half a place: they only break ties in cost.

    A power of two: with whole weights, sums are then exact and the order of the voters does not matter.
    """
    return 2.0 ** -math.ceil(math.log2(4 * max(voters, 1) * max(n, 1) ** 3))


@compiled
def _displacements(documents: Ints, places: Array, weights: Array, n: int, slight: float) -> Array:
    """Σ w (|σ − r| + slight·(σ − r)²) of document i at place r = p + 1, at [i, p]."""
    cost = np.zeros((n, n))
    for e in range(len(documents)):
        row = cost[documents[e]]
        for p in range(n):
            off = places[e] - (p + 1)
            row[p] += weights[e] * (abs(off) + slight * off * off)
    return cost
