"""Kemeny's consensus (Kemeny–Young): the order that contradicts the voters on the fewest pairs (Kemeny 1959).

    >>> from podium.aggregation.rankings.rankings import Rankings
    >>> votes = Rankings.from_orders([[["A", "B", "C"], ["B", "C", "A"], ["C", "A", "B"], ["A", "B", "C"]]])
    >>> consensus = Kemeny()(votes)
    >>> consensus.order(0), consensus.costs.tolist(), consensus.gaps.tolist()
    (['A', 'B', 'C'], [4.0], [0.0])

The majority relation is split into strongly connected components (its cycles) first: between them the majority decides,
so each is solved alone. Those of up to 16 documents by dynamic programming over subsets, larger ones up to `exact`
documents by an integer program, the rest by local search, moving one document at a time. The lower bound then limits
the distance from the optimum.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.aggregation.base import Aggregator, Solved
from podium.aggregation.linear_ordering import least_order, order_cost
from podium.aggregation.pairwise_counts import Unranked, lists, wins
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.jit.sorting import order


@register
class Kemeny(Aggregator):
    """Kemeny's order: the fewest contradicted pairwise preferences.

    Formula: min over orders π of Σ_k w_k #{(i,j) : i ≻_k j, π puts j before i}, the sum of the Kendall distances.
    Ties: a voter who ties two documents is contradicted by neither order. The consensus is strict; of the orders that
        cost the same, one that leans to Borda's.
    Cost: NP-hard. Without long majority cycles O(V·n²); see above. `gaps` of the consensus are 0 if it is proven
        optimal.
    Use it for: the median ranking, if the order itself matters and there are tens of documents, not thousands.
    Reference: Kemeny, Mathematics without numbers, 1959; Young & Levenglick, A consistent extension of Condorcet's
        election principle, 1978; Grötschel, Jünger & Reinelt, A cutting plane algorithm for the linear ordering
        problem, 1984.
    """

    minimises: ClassVar[bool] = True
    elects_condorcet: ClassVar[bool] = True

    exact: int = param(40, least=1)
    """Most documents of a cycle of majorities that is solved exactly."""
    unranked: Unranked = "last"
    """Documents that a list leaves out: tied after its own (`last`), or not compared by it (`skip`)."""

    def solve(self, query: QueryRankings) -> Solved:
        before = wins(lists(query, self.unranked))  # (n, n)
        n = len(before)
        start = order((before - before.T).sum(axis=1))  # Borda's order, up to ties
        before = np.ascontiguousarray(before[start][:, start])
        arranged: list[int] = []
        saved = 0.0  # by how much the bound exceeds the cheaper side of every pair
        for part in _components(before):
            inner = np.ascontiguousarray(before[np.ix_(part, part)])
            best, bound = self._arrange(inner)
            arranged += part[best].tolist()
            saved += bound - cheapest_sides(inner)
        cost = order_cost(before, np.array(arranged))
        bound = min(cheapest_sides(before) + saved, cost)
        scores = np.empty(n)
        scores[start[arranged]] = np.arange(n - 1.0, -1.0, -1.0)
        return Solved(scores, cost, cost if cost - bound <= 1e-9 * cost else bound)

    def _arrange(self, before: Array) -> tuple[Ints, float]:
        """An order of one component with a lower bound on the cost of any."""
        if len(before) <= _TABLE:
            best = _by_subsets(before)
            return best, order_cost(before, best)
        near = improve(before, np.arange(len(before)))
        if len(before) > self.exact:
            return near, cheapest_sides(before)
        return least_order(before, near)


_TABLE = 16  # documents that the table over subsets takes: 2^16 numbers


def cheapest_sides(before: Array) -> float:
    """The cost of the cheaper side of every pair: no order costs less."""
    return float(np.triu(np.minimum(before, before.T), 1).sum())


@compiled
def improve(before: Array, start: Ints) -> Ints:
    """Local search: move each document in turn to its best place until no move gains."""
    best = start.copy()
    n = len(best)
    small = 1e-12 * before.sum()
    moved = True
    while moved:
        moved = False
        for document in start:
            at = 0
            while best[at] != document:
                at += 1
            gain, most, to = 0.0, small, at
            for p in range(at - 1, -1, -1):  # up: putting j before i costs before[i, j]
                gain += before[document, best[p]] - before[best[p], document]
                if gain > most:
                    most, to = gain, p
            gain = 0.0
            for p in range(at + 1, n):
                gain += before[best[p], document] - before[document, best[p]]
                if gain > most:
                    most, to = gain, p
            step = 1 if to > at else -1
            while at != to:
                best[at] = best[at + step]
                at += step
                moved = True
            best[at] = document
    return best


def _components(before: Array) -> list[Ints]:
    """The strong components of the majority relation, winners first: no later one beats an earlier one."""
    from scipy.sparse.csgraph import connected_components

    beats = before - before.T > 1e-12 * before.sum()
    count, label = connected_components(beats, directed=True, connection="strong")
    above = np.zeros((count, count), bool)
    winner, loser = np.nonzero(beats)
    above[label[winner], label[loser]] = True
    np.fill_diagonal(above, False)
    waiting = above.sum(axis=0)  # components that must come first
    first = np.full(count, len(label))
    np.minimum.at(first, label, np.arange(len(label)))
    parts = []
    for _ in range(count):
        free = np.flatnonzero(waiting == 0)
        part = free[first[free].argmin()]  # of those that are free, the one Borda puts first
        parts.append(np.flatnonzero(label == part))
        waiting = waiting - above[part]
        waiting[part] = -1
    return parts


@compiled
def _by_subsets(before: Array) -> Ints:
    """The cheapest order: f(S + j) = min_j f(S) + Σ_{i in S} before[j, i], S the set that comes first."""
    n = len(before)
    least = np.full(1 << n, np.inf)
    last = np.zeros(1 << n, np.int64)
    least[0] = 0.0
    for subset in range(1 << n):
        for j in range(n):
            if subset >> j & 1:
                continue
            cost = least[subset]
            for i in range(n):
                if subset >> i & 1:
                    cost += before[j, i]
            if cost <= least[subset | 1 << j]:
                least[subset | 1 << j] = cost
                last[subset | 1 << j] = j
    best = np.empty(n, np.int64)
    subset = (1 << n) - 1
    for p in range(n - 1, -1, -1):
        best[p] = last[subset]
        subset ^= 1 << last[subset]
    return best
