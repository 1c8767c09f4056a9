"""RM3: relevance model of the first documents, mixed with the query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from podium.base.arrays import Array, Int32s
from podium.base.registry import param, register
from podium.text.expansion.expansion import Expansion, FirstDocuments, added
from podium.text.retrieval.base import Statistics, WordRetrieval
from podium.text.retrieval.bm25 import BM25

if TYPE_CHECKING:
    from podium.text.query import Query


@register
class RM3(Expansion):
    """Relevance model RM1 of the first documents, mixed with the query.

    Formula: P(w|R) = Σ_d P(d|q) c(w,d)/|d| over the first `documents` of `of`. P(d|q) is the score's share of the sum
    of scores (`by=share`, a score below 0 counts 0), or of the sum of e^score (`by=exp`). The `terms` with the highest
    P(w|R) are kept and made to sum to 1; then P(w) = query · P(w|q) + (1 − query) · P(w|R). Weights sum to the length
    of the query, so that query = 1 gives the scores of `of`.
    Ties: of equal weights, the term that was indexed first is kept.
    Cost: two searches, and a pass over the first documents.
    Use it for: recall; queries of few words. It hurts where the first documents are wrong.
    Reference: Lavrenko and Croft, Relevance-based language models, 2001; Abdul-Jaleel et al., UMass at TREC 2004.
    """

    name = "rm3"
    of: WordRetrieval = BM25()
    """Retrieval that finds the first documents, and searches again."""
    documents: int = param(default=10, least=1, most=1000)
    """First documents that are taken for relevant."""
    terms: int = param(default=10, least=1, most=1000)
    """Words of the relevance model that are kept."""
    query: float = param(default=0.5, least=0, most=1)
    """Share of the query itself in the expanded one."""
    by: Literal["share", "exp"] = "share"
    """Weights of the first documents: their share of the scores, or of e^score."""

    def weights(self, first: FirstDocuments, statistics: Statistics) -> Array:
        return relevance_model(first, by=self.by)

    def joined(self, query: Query, terms: Int32s, weights: Array) -> Query:
        if not len(terms):
            return query
        length = query.length or 1.0
        return added(query, self.query * query.times, terms, (1.0 - self.query) * length * weights / weights.sum())


def relevance_model(first: FirstDocuments, *, by: str) -> Array:
    """P(w|R) of each term of the first documents."""  # (V,)
    chances = np.exp(first.scores - first.scores.max()) if by == "exp" else np.maximum(first.scores, 0.0)
    chances = chances / chances.sum() if chances.sum() > 0 else np.full(len(chances), 1.0 / len(chances))
    return np.asarray((chances / np.maximum(first.lengths, 1.0)) @ first.counts)
