"""Markov chains MC1–MC4 (Dwork et al. 2001): walk from each document to better ones; where the walk stays, is the top.

    >>> from podium.data.rankings import Rankings
    >>> votes = Rankings.from_orders([[["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"]]])
    >>> MC4().transitions(votes.query(0)) * 3
    array([[3., 0., 0.],
           [1., 2., 0.],
           [1., 1., 1.]])

The scores are the chain's stationary law π = πP. So that it is the only one, the walk jumps to any document with
probability `teleport`: P' = (1 − t)·P + t/n. The law comes from elimination without subtraction (Grassmann, Taksar &
Heyman 1985), exact to rounding for any t above 0, however small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from podium.aggregation.base import Aggregator, Array
from podium.aggregation.pairwise import Unranked, lists, margins
from podium.compiled import compiled
from podium.data.query_rankings import QueryRankings
from podium.registry import param, register


@dataclass(frozen=True, repr=False)
class MarkovChain(Aggregator):
    """A walk over the documents of a query, scored by its stationary law.

    By default a list says nothing of the documents it leaves out, as in the paper.
    """

    teleport: float = param(0.01, above=0.0, most=1.0)
    unranked: Unranked = "skip"

    def transitions(self, query: QueryRankings) -> Array:
        """P(the next is j, now at i) at [i, j], before teleporting; each row sums to 1."""  # (n, n)
        raise NotImplementedError

    def one(self, query: QueryRankings) -> Array:
        walk = (1.0 - self.teleport) * self.transitions(query) + self.teleport / query.n_documents
        law: Array = stationary(walk)
        return law


@register
class MC1(MarkovChain):
    """To any document that some list ranks as high or higher, each as often as there are such lists.

    Formula: p(i,j) = q(i,j) / Σ_j q(i,j), q(i,j) = Σ_k w_k [j ⪰_k i].
    Ties: tied documents lead to each other.
    Cost: O(V·n² + n³) per query.
    Use it for: metasearch over partial lists; MC4 is usually the better of the four.
    Reference: Dwork, Kumar, Naor & Sivakumar, Rank aggregation methods for the web, WWW 2001; Li, Learning to Rank
        for Information Retrieval and NLP, 4.13.
    """

    name: ClassVar[str] = "mc1"

    def transitions(self, query: QueryRankings) -> Array:
        return _row_shares(_steps(lists(query, self.unranked), 1))


@register
class MC2(MarkovChain):
    """To a list that ranks the document, then to any document that this list ranks as high or higher.

    Formula: p(i,j) = Σ_k w_k p_k(i,j) / Σ_k w_k over the lists that rank i; p_k(i,j) = 1/m for j ⪰_k i,
        m = |{j : j ⪰_k i}|.
    Ties: tied documents lead to each other.
    Cost: O(V·n² + n³) per query.
    Use it for: lists of unequal length, each of which should weigh the same.
    Reference: as for mc1.
    """

    name: ClassVar[str] = "mc2"

    def transitions(self, query: QueryRankings) -> Array:
        return _row_shares(_steps(lists(query, self.unranked), 2))


@register
class MC3(MarkovChain):
    """To a list that ranks the document and to any of its documents, if that is better; else stay.

    Formula: p(i,j) = Σ_k w_k p_k(i,j) / Σ_k w_k over the lists that rank i; p_k(i,j) = 1/n_k for j ≻_k i and
        p_k(i,i) = (n_k − m)/n_k, m = |{j : j ≻_k i}|, n_k the number of documents in list k.
    Ties: the walk does not move between tied documents.
    Cost: O(V·n² + n³) per query.
    Use it for: a chain close to Borda: the walk leaves a document the faster, the lower it stands.
    Reference: as for mc1.
    """

    name: ClassVar[str] = "mc3"

    def transitions(self, query: QueryRankings) -> Array:
        return _row_shares(_steps(lists(query, self.unranked), 3))


@register
class MC4(MarkovChain):
    """To any document, if a majority of the lists that rank both puts it higher; else stay.

    Formula: p(i,j) = 1/n where W(j,i) > W(i,j), W(j,i) the weight of the voters who rank j before i;
        p(i,i) = (n − m)/n, m the number of such j.
    Ties: a list that ties two documents does not vote between them.
    Cost: O(V·n² + n³) per query.
    Use it for: robust metasearch: spam high in a few lists does not rise. A document that beats every other
        by a majority always comes first, with any teleport.
    Reference: as for mc1.
    """

    name: ClassVar[str] = "mc4"
    elects_condorcet: ClassVar[bool] = True

    def transitions(self, query: QueryRankings) -> Array:
        walk: Array = (margins(lists(query, self.unranked)) < 0.0) / query.n_documents
        np.fill_diagonal(walk, 1.0 - walk.sum(axis=1))
        return walk


@compiled
def stationary(walk: Any) -> Any:
    """The law π with π = πP of a chain that leads from everywhere to everywhere.

    States are folded into the remaining ones from the last to the first: p(i,j) += p(i,k)·p(k,j)/Σ_{l<k} p(k,l).
    Nothing is subtracted, so each π(i) is exact to a few roundings, even where it is tiny.
    """
    n = len(walk)
    p = walk.copy()
    for k in range(n - 1, 0, -1):
        leaves = p[k, :k].sum()
        for i in range(k):
            through = p[i, k] / leaves
            p[i, k] = through
            row, last = p[i, :k], p[k, :k]
            for j in range(k):
                row[j] += through * last[j]
    law = np.empty(n)
    law[0] = 1.0
    for k in range(1, n):
        total = 0.0
        for i in range(k):
            total += law[i] * p[i, k]
        law[k] = total
    return law / law.sum()


def _row_shares(steps: Array) -> Array:
    shares: Array = steps / steps.sum(axis=1, keepdims=True)
    return shares


def _steps(query: QueryRankings, chain: int) -> Array:
    """The transitions of chain 1, 2 or 3, before each row is divided by its sum."""  # (n, n)
    n = query.n_documents
    steps: Array = _walk(query.documents, query.ranks, query.offsets, query.weights, chain, np.zeros((n, n)))
    return steps


@compiled
def _walk(documents: Any, ranks: Any, offsets: Any, weights: Any, chain: Any, steps: Any) -> Any:
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
