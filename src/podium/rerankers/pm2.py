"""PM-2: proportional diversification, ranks given to topics as seats to parties (Dang and Croft, 2012)."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.rerankers.base import QueryView, Reranker, greedy


@register
class PM2(Reranker):
    """Proportional diversification: each rank goes to the topic with the fewest ranks for its weight.

    Formula: q_t = v_t/(2σ_t + 1), the Sainte-Laguë quotient of a topic with weight v_t = 1/T and σ_t ranks so far;
        t* = argmax q; argmax_d λ·q_{t*} P(d|t*) + (1 − λ)·Σ_{t≠t*} q_t P(d|t); then σ_t += P(d|t)/Σ_u P(d|u). P(d|t) as
        in xquad. A document of no topic leaves σ as it is; if none of those left has a topic, the rest follows by
        relevance. At λ = ½, t* does not matter.
    Ties: the more relevant document, then the first; of topics the first.
    Cost: O(depth · n · topics) per query.
    Use it for: topics that should all be present in proportion. It looks at scores only to break ties, so documents
        should be relevant by themselves.
    Reference: Dang & Croft, Diversity by proportionality: an election-based approach to search result diversification,
        SIGIR 2012.
    """

    trade: float = param(default=0.5, least=0, most=1)
    """λ, the share of the topic whose turn it is."""
    name = "pm2"
    needs_topics = True

    def choose(self, relevance: Array, query: QueryView, count: int) -> Ints:
        assert query.topics is not None, "checked before"
        P, seats = query.topics, np.zeros(query.topics.shape[1])

        def worth(left: Ints) -> Array:
            if not P.shape[1]:
                return np.zeros(len(left))
            quotient = 1.0 / P.shape[1] / (2.0 * seats + 1.0)
            turn = int(np.argmax(quotient))
            share = np.full(len(quotient), 1.0 - self.trade)
            share[turn] = self.trade
            return np.asarray(P[left] @ (share * quotient))

        def take(document: int) -> None:
            if P[document].sum() > 0:
                seats[:] += P[document] / P[document].sum()

        return greedy(count, relevance, worth, take)
