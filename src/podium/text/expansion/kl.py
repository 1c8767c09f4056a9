"""KL: expansion by the divergence of the first documents from the collection."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.text.expansion.expansion import Expansion, FirstDocuments
from podium.text.retrieval.base import Statistics, WordRetrieval
from podium.text.retrieval.bm25 import BM25


@register
class KL(Expansion):
    """Words with the largest part in the divergence of the first documents from the collection.

    Formula: w = p log₂(p/(cf/|C|)), p = tf_x/l_x, where tf_x is the number of occurrences in the first `documents` and
    l_x their length together. The weight of a word is its occurrences in the query over the highest such number, plus w
    over the highest w.
    Ties: of equal weights, the term that was indexed first is chosen.
    Cost: two searches, and a pass over the first documents.
    Use it for: recall, as bo1; it prefers frequent words more.
    Reference: Carpineto et al., An information-theoretic approach to automatic query expansion, 2001.
    """

    name = "kl"
    of: WordRetrieval = BM25()
    """Retrieval that finds the first documents, and searches again."""
    documents: int = param(default=3, least=1, most=1000)
    """First documents that are taken for relevant."""
    terms: int = param(default=10, least=1, most=1000)
    """Words of the highest weights, which are taken."""

    def weights(self, first: FirstDocuments, statistics: Statistics) -> Array:
        p = first.counts.sum(axis=0) / first.counts.sum()
        return np.asarray(p * np.log2(p * statistics.totals[-1] / statistics.cf[:, -1]))
