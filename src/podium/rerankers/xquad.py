"""xQuAD: explicit query aspect diversification (Santos, Macdonald and Ounis, 2010)."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.rerankers.base import QueryView, Reranker, greedy


@register
class XQuAD(Reranker):
    """Explicit diversification: each rank takes a document for topics that those above do not cover yet.

    Formula: argmax_d (1 − λ)·rel(d) + λ·Σ_t p_t P(d|t) Π_{s above} (1 − P(s|t)). rel is the score from 0 to 1 within
        the query, p_t = 1/T, and P(d|t) = grade/(largest grade + 1), or the number in `<data>.topics` itself if these
        are probabilities. With λ = 1 it is IA-Select.
    Ties: the more relevant document, then the first.
    Cost: O(depth · n · topics) per query.
    Use it for: queries with several meanings or needs whose topics are known or predicted.
    Reference: Santos, Macdonald & Ounis, Exploiting query reformulations for web search result diversification, WWW
        2010; Agrawal, Gollapudi, Halverson & Ieong, Diversifying search results, WSDM 2009.
    """

    trade: float = param(default=0.8, least=0, most=1)
    """λ, the share of diversity: 0 keeps the order of the scores."""
    name = "xquad"
    needs_topics = True

    def choose(self, relevance: Array, query: QueryView, count: int) -> Ints:
        assert query.topics is not None, "checked before"
        P = query.topics
        open_share = np.full(P.shape[1], 1.0 / max(P.shape[1], 1))  # p_t times what is not covered yet

        def worth(left: Ints) -> Array:
            return np.asarray((1.0 - self.trade) * relevance[left] + self.trade * (P[left] @ open_share))

        def take(document: int) -> None:
            nonlocal open_share
            open_share = open_share * (1.0 - P[document])

        return greedy(count, relevance, worth, take)
