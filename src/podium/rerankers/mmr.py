"""MMR: maximal marginal relevance, relevant and unlike what stands above (Carbonell and Goldstein, 1998)."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.rerankers.base import QueryView, Reranker, greedy


@register
class MMR(Reranker):
    """Maximal marginal relevance: each rank takes a relevant document that is unlike those above it.

    Formula: argmax_d λ·rel(d) − (1 − λ)·max_{s above} sim(d, s), the maximum over nothing being 0. rel is the score
        from 0 to 1 within the query; sim is in `<data>.relations`, or the cosine of z-scored features, at least 0.
    Ties: the more relevant document, then the first.
    Cost: O(depth · n) per query, and O(n²) similarities.
    Use it for: near copies in a list, if no topics are known. On judged topics it gains little (about 0.005 α-nDCG):
        similar features need not mean the same topic.
    Reference: Carbonell & Goldstein, The use of MMR, diversity-based reranking for reordering documents and producing
        summaries, SIGIR 1998.
    """

    trade: float = param(default=0.7, least=0, most=1)
    """λ, the share of relevance: 1 keeps the order of the scores."""
    name = "mmr"

    def choose(self, relevance: Array, query: QueryView, count: int) -> Ints:
        nearest = np.zeros(len(relevance))  # the largest similarity to a document above

        def worth(left: Ints) -> Array:
            return self.trade * relevance[left] - (1.0 - self.trade) * nearest[left]

        def take(document: int) -> None:
            np.maximum(nearest, query.similarity[document], out=nearest)

        return greedy(count, relevance, worth, take)
