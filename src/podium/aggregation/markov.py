"""Markov chain aggregation, MC1–MC4 (Dwork et al. 2001): a random walk to better documents, and its stationary scores.

    >>> from podium.aggregation.rankings.rankings import Rankings
    >>> votes = Rankings.from_orders([[["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"]]])
    >>> MC4().transitions(votes.query(0)) * 3
    array([[3., 0., 0.],
           [1., 2., 0.],
           [1., 1., 1.]])

The scores are the chain's stationary distribution π = πP. So that there is only one, the walk jumps to any document
with probability `teleport`: P' = (1 − t)·P + t/n. For up to 500 documents it comes from elimination without subtraction
(Grassmann, Taksar & Heyman 1985), exact to rounding for any t above 0, however small. Longer lists are iterated until
the error is below 1e−12, without a matrix P: for MC1 to MC3 a step of the walk is a pass over the lists, and for MC4
documents are visited from the worst to the best, so that one pass is exact if the majorities have no cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from podium.aggregation.base import Aggregator
from podium.aggregation.pairwise_counts import Unranked, beats, lists
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array, Flags, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.kernels.sums import dot


@dataclass(frozen=True, repr=False)
class MarkovChain(Aggregator):
    """Random walk over the documents of a query, scored by its stationary distribution.

    Documents missing from a list come after it, tied (`last`); with `skip`, as in the paper, the list does not compare
    them, and a document at the end of one list may beat one that all others rank high.
    """

    teleport: float = param(0.01, above=0.0, most=1.0)
    """Probability with which the walk jumps to any document."""
    unranked: Unranked = "last"
    """Documents that a list leaves out: tied after its own (`last`), or not compared by it (`skip`)."""

    def transitions(self, query: QueryRankings) -> Array:
        """Transition probabilities, from i to j at [i, j], before teleporting; each row sums to 1."""  # (n, n)
        raise NotImplementedError

    def iterated(self, query: QueryRankings) -> tuple[Array, float]:
        """The stationary distribution without the transition matrix, and a bound on its total error."""
        raise NotImplementedError

    def one(self, query: QueryRankings) -> Array:
        if query.n_documents > _DENSE:
            scores, error = self.iterated(query)
            if error < _ENOUGH:  # else teleport is too small to bound it
                return scores
        walk = self.transitions(query)
        walk *= 1.0 - self.teleport
        walk += self.teleport / query.n_documents
        return stationary(walk)


_DENSE = 500  # documents up to which elimination is as fast as iteration
_CLOSE, _ENOUGH = 1e-12, 1e-10  # the target error of iterations, and the largest that rounding may leave
_MOST_SWEEPS = 20_000


@dataclass(frozen=True, repr=False)
class ListWalk(MarkovChain):
    """Random walk that chooses a list, then a document of it: MC1, MC2 and MC3."""

    chain: ClassVar[int]

    def transitions(self, query: QueryRankings) -> Array:
        seen, n = lists(query, self.unranked), query.n_documents
        steps = _walk(seen.documents, seen.ranks, seen.offsets, seen.weights, self.chain, np.zeros((n, n)))
        steps /= steps.sum(axis=1, keepdims=True)
        return steps

    def iterated(self, query: QueryRankings) -> tuple[Array, float]:
        seen = lists(query, self.unranked)
        return _iterate(
            seen.documents, seen.ranks, seen.offsets, seen.weights, self.chain, query.n_documents, self.teleport
        )


@register
class MC1(ListWalk):
    """MC1: walk to any document that a list ranks as high or higher, in proportion to the number of such lists.

    Formula: p(i,j) = q(i,j) / Σ_j q(i,j), q(i,j) = Σ_k w_k [j ⪰_k i].
    Ties: tied documents lead to each other.
    Cost: O(V·n² + n³) per query of up to 500 documents, beyond O(V·n) per step of the walk.
    Use it for: metasearch over partial lists; MC4 is usually the better of the four.
    Reference: Dwork, Kumar, Naor & Sivakumar, Rank aggregation methods for the web, WWW 2001; Li, Learning to Rank
        for Information Retrieval and NLP, 4.13.
    """

    name: ClassVar[str] = "mc1"
    chain: ClassVar[int] = 1


@register
class MC2(ListWalk):
    """MC2: walk to a list that ranks the document, then to any document that this list ranks as high or higher.

    Formula: p(i,j) = Σ_k w_k p_k(i,j) / Σ_k w_k over the lists that rank i; p_k(i,j) = 1/m for j ⪰_k i,
        m = |{j : j ⪰_k i}|.
    Ties: tied documents lead to each other.
    Cost: O(V·n² + n³) per query of up to 500 documents, beyond O(V·n) per step of the walk.
    Use it for: lists of unequal length, each of which should weigh the same.
    Reference: as for mc1.
    """

    name: ClassVar[str] = "mc2"
    chain: ClassVar[int] = 2


@register
class MC3(ListWalk):
    """MC3: walk to a list that ranks the document and to any of its documents, if that is better; else stay.

    Formula: p(i,j) = Σ_k w_k p_k(i,j) / Σ_k w_k over the lists that rank i; p_k(i,j) = 1/n_k for j ≻_k i and
        p_k(i,i) = (n_k − m)/n_k, m = |{j : j ≻_k i}|, n_k the number of documents in list k.
    Ties: the walk does not move between tied documents.
    Cost: O(V·n² + n³) per query of up to 500 documents, beyond O(V·n) per step of the walk.
    Use it for: a chain close to Borda: the lower a document, the faster the walk leaves it.
    Reference: as for mc1.
    """

    name: ClassVar[str] = "mc3"
    chain: ClassVar[int] = 3


@register
class MC4(MarkovChain):
    """MC4: walk to any document, if a majority of the lists that rank both puts it higher; else stay.

    Formula: p(i,j) = 1/n if W(j,i) > W(i,j), W(j,i) the weight of the voters who rank j before i;
        p(i,i) = (n − m)/n, m the number of such j.
    Ties: a list that ties two documents does not vote between them.
    Cost: O(V·n² + n³) per query of up to 500 documents, beyond O(entries·n) and some passes of n² bits.
    Use it for: robust metasearch: spam high in a few lists does not rise. A document that beats every other
        by a majority always comes first, with any teleport.
    Reference: as for mc1.
    """

    name: ClassVar[str] = "mc4"
    elects_condorcet: ClassVar[bool] = True

    def transitions(self, query: QueryRankings) -> Array:
        walk: Array = beats(query, self.unranked).T / query.n_documents
        np.fill_diagonal(walk, 1.0 - walk.sum(axis=1))
        return walk

    def iterated(self, query: QueryRankings) -> tuple[Array, float]:
        won = beats(query, self.unranked)
        return _sweep_up(won, won.sum(axis=0), np.argsort(won.sum(axis=1), kind="stable"), self.teleport)


def stationary(walk: Array) -> Array:
    """The stationary distribution π = πP of an irreducible chain."""
    return _eliminate(walk.copy())


@compiled
def _eliminate(p: Array) -> Array:
    """Fold states into the remaining ones from the last to the first: p(i,j) += p(i,k)·p(k,j)/Σ_{l<k} p(k,l).

    Nothing is subtracted, so each π(i) is exact to a few roundings, even where it is tiny.
    """
    n = len(p)
    for k in range(n - 1, 0, -1):
        leaves = p[k, :k].sum()
        for i in range(k):
            through = p[i, k] / leaves
            p[i, k] = through
            row, last = p[i, :k], p[k, :k]
            for j in range(k):
                row[j] += through * last[j]
    pi = np.empty(n)
    pi[0] = 1.0
    for k in range(1, n):
        total = 0.0
        for i in range(k):
            total += pi[i] * p[i, k]
        pi[k] = total
    pi /= pi.sum()
    return pi


@compiled
def _sweep_up(won: Flags, losses: Ints, worst_first: Ints, teleport: float) -> tuple[Array, float]:
    """MC4 by Gauss and Seidel: x_j = (t/n + (1 − t)/n · Σ_{i beaten by j} x_i) / (t + (1 − t)·losses_j/n).

    From x = 0 every x_j grows towards its limit, and the limits sum to 1: 1 − Σ x is the error.
    """
    n = len(won)
    x, lacks = np.zeros(n), 1.0
    move = (1.0 - teleport) / n
    for _ in range(_MOST_SWEEPS):
        before = lacks
        for j in worst_first:
            reached = dot(won[j], x)
            x[j] = (teleport / n + move * reached) / (teleport + move * losses[j])
        lacks = 1.0 - x.sum()
        if lacks < _CLOSE or lacks >= before:
            break
    return x / x.sum(), abs(lacks)


@compiled
def _iterate(
    documents: Ints, ranks: Ints, offsets: Ints, weights: Array, chain: int, n: int, teleport: float
) -> tuple[Array, float]:
    """Power iteration from the uniform distribution: the change in a step, times (1 − t)/t, bounds the error."""
    total, error = np.zeros(n), 1.0  # the divisor of each row of steps
    for v in range(len(offsets) - 1):
        a, b = offsets[v], offsets[v + 1]
        end = a
        for e in range(a, b):
            while end < b and ranks[end] <= ranks[e]:
                end += 1
            total[documents[e]] += weights[v] * (end - a if chain == 1 else 1.0)
    x, moved = np.full(n, 1.0 / n), np.empty(n)
    for _ in range(_MOST_SWEEPS):
        moved[:] = 0.0
        for v in range(len(offsets) - 1):
            _pass(documents, ranks, offsets[v], offsets[v + 1], weights[v], chain, total, x, moved)
        change = 0.0
        for i in range(n):
            moved[i] = (1.0 - teleport) * moved[i] + teleport / n
            change += abs(moved[i] - x[i])
        x, moved = moved, x
        before, error = error, change * (1.0 - teleport) / teleport
        if error < _CLOSE or (error >= before and error < _ENOUGH):  # there, or as near as rounding allows
            break
    return x / x.sum(), error


@compiled
def _pass(
    documents: Ints, ranks: Ints, a: int, b: int, w: float, chain: int, total: Array, x: Array, moved: Array
) -> None:
    """Add the steps of the walk by one list: from each tie group, worst first, to itself and those above it."""
    end, below = b, 0.0
    while end > a:
        first = end - 1
        while first > a and ranks[first - 1] == ranks[end - 1]:
            first -= 1
        inside = 0.0
        for e in range(first, end):
            i = documents[e]
            share = w * x[i] / total[i]
            if chain == 2:
                share /= end - a
            elif chain == 3:
                share /= b - a
                moved[i] += share * (b - first)
            inside += share
        if chain != 3:
            below += inside
        for e in range(first, end):
            moved[documents[e]] += below
        if chain == 3:
            below += inside
        end = first


@compiled
def _walk(documents: Ints, ranks: Ints, offsets: Ints, weights: Array, chain: int, steps: Array) -> Array:
    """Add w·q_k(i,j) (chain 1) or w·p_k(i,j) (chains 2 and 3) of every list k."""
    for v in range(len(offsets) - 1):
        a, b = offsets[v], offsets[v + 1]
        end = a  # where the tie group of entry e ends
        first = a  # where it begins
        for e in range(a, b):
            if e == end:
                first = e
                while end < b and ranks[end] == ranks[e]:
                    end += 1
            row = steps[documents[e]]
            share = weights[v]
            if chain == 2:
                share /= end - a
            elif chain == 3:
                share /= b - a
            for j in documents[a : first if chain == 3 else end]:
                row[j] += share
            if chain == 3:
                row[documents[e]] += share * (b - first)
    return steps
