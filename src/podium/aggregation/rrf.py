"""Reciprocal rank fusion (RRF): the sum of 1/(k + rank) over the lists (Cormack, Clarke & Büttcher 2009).

>>> from podium.aggregation.rankings.rankings import Rankings
>>> votes = Rankings.from_orders([[["A", "B"], ["A", "C"]]])
>>> RRF()(votes).scores.tolist() == [2 / 61, 1 / 62, 1 / 62]
True
"""

from __future__ import annotations

import numpy as np

from podium.aggregation.base import Aggregator
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled


@register
class RRF(Aggregator):
    """Reciprocal rank fusion: the sum of reciprocal ranks, damped by k.

    Formula: Σ_l w_l / (k + r_l(j)) over the lists l that rank j; a list without j adds nothing.
    Ties: tied documents have the mean over their places.
    Cost: O(entries).
    Use it for: hybrid retrieval and metasearch with scores that cannot be compared; hard to beat without labels.
    Reference: Cormack, Clarke & Büttcher, Reciprocal rank fusion outperforms Condorcet and individual rank learning
        methods, SIGIR 2009.
    """

    k: float = param(60.0, least=0.0)
    """Damping: the larger, the less the first ranks stand out."""

    def one(self, query: QueryRankings) -> Array:
        scores = np.zeros(query.n_documents)
        return _fuse(query.documents, query.ranks, query.offsets, query.weights, self.k, scores)


@compiled
def _fuse(documents: Ints, ranks: Ints, offsets: Ints, weights: Array, k: float, scores: Array) -> Array:
    """Add w/(k + place) to each document, its mean over the places of a tie group."""
    for v in range(len(offsets) - 1):
        first, end = offsets[v], offsets[v]
        while first < offsets[v + 1]:
            share = 0.0
            while end < offsets[v + 1] and ranks[end] == ranks[first]:
                end += 1
                share += 1.0 / (k + end - offsets[v])
            for document in documents[first:end]:
                scores[document] += weights[v] * share / (end - first)
            first = end
    return scores
