"""PMOP: probabilistic model over ordered partitions, for lists in which ties mean equality (Truyen et al. 2011).

    >>> from podium.aggregation.rankings.rankings import Rankings
    >>> votes = Rankings.from_orders([[["A", ("B", "C")], [("A", "B"), "C"], ["B", "A", "C"]]])
    >>> PMOP()(votes).order(0)
    ['A', 'B', 'C']

Blocks of tied documents X_1 ≻ … ≻ X_K are chosen one after another from the remaining, R_k:

    P(X_k | R_k) = Φ(X_k) / Σ_{∅≠S⊆R_k} Φ(S),   Φ(X) = exp(Σ_{i∈X} s_i / |X|)

The sum over all subsets is that of `kernels/subset_sums.py`. Two documents alone make Davidson's model with ν = 1.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.aggregation.pairwise_counts import wins
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.aggregation.worths import Slope, WorthModel
from podium.base.arrays import Array, Flags, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.subset_sums import log_sum


@register
class PMOP(WorthModel):
    """Log-worths of maximum likelihood, with blocks of tied documents as outcomes.

    Formula: max_s Σ_k w_k Σ_b (mean of s over X_b − log Σ_m e_m(e^{s/m})), e_m over the documents of R_b; plus
        `pseudo` wins and losses of each document against a ghost of worth 1.
    Ties: outcomes that have a probability: documents often tied are pulled together. Documents missing from a list are
        tied below it (`last`), or were not there (`skip`). The distribution expects a block of about half of the
        remaining, so a document chosen alone gains more than one in a large block: after [A B C], D, [E F] it puts D
        first, against the list. No other aggregator does that.
    Cost: O(V·n³) or so for a gradient, some hundreds of them; for tens of documents.
    Use it for: many voters whose ties mean equality, such as judges' marks; for strict lists, use plackett-luce.
    Reference: Truyen, Phung & Venkatesh, Probabilistic models over ordered partitions with applications in document
        ranking and collaborative filtering, SDM 2011.
    """

    unanimous: ClassVar[bool] = False
    slow_above: ClassVar[int | None] = 50

    def information(self, query: QueryRankings, log_worths: Array) -> Array:
        second = np.empty((len(log_worths), len(log_worths)))
        for i in range(len(log_worths)):
            step = np.zeros(len(log_worths))
            step[i] = _STEP
            up, down = self.slope(query, log_worths + step), self.slope(query, log_worths - step)
            second[i] = (down.gradient - up.gradient) / (2.0 * _STEP)
        return 0.5 * (second + second.T)

    def holds(self, query: QueryRankings) -> Flags:
        ranks = query.matrix()
        tied: Flags = (ranks[:, :, None] == ranks[:, None, :]).any(axis=0)
        held: Flags = (wins(query) > 0.0) | tied
        return held

    def slope(self, query: QueryRankings, log_worths: Array) -> Slope:
        gradient, curvature = np.zeros(len(log_worths)), np.zeros(len(log_worths))
        value = _likelihood(query.documents, query.ranks, query.offsets, query.weights, log_worths, gradient, curvature)
        return Slope(float(value), gradient, curvature)


_STEP = 1e-4  # of the central difference for second derivatives: accurate to about 1e−9


@compiled
def _likelihood(
    documents: Ints, ranks: Ints, offsets: Ints, weights: Array, s: Array, gradient: Array, curvature: Array
) -> float:
    """Σ over lists and blocks of log P(X | R), with its gradient and minus its second derivatives."""
    value = 0.0
    for v in range(len(offsets) - 1):
        a, b, w = offsets[v], offsets[v + 1], weights[v]
        first = a
        while first < b - 1:
            end = first + 1
            while end < b and ranks[end] == ranks[first]:
                end += 1
            left = np.empty(b - first)
            for p in range(first, b):
                left[p - first] = s[documents[p]]
            for p in range(first, end):
                value += w * s[documents[p]] / (end - first)
                gradient[documents[p]] += w / (end - first)
            mean, square = np.empty(b - first), np.empty(b - first)
            value -= w * log_sum(left, mean, square)
            for p in range(first, b):
                gradient[documents[p]] -= w * mean[p - first]
                curvature[documents[p]] += w * (square[p - first] - mean[p - first] ** 2)
            first = end
    return value
