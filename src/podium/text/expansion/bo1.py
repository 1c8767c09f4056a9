"""Bo1: expansion by Bose–Einstein weights, from divergence from randomness."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.text.expansion.expansion import Expansion, FirstDocuments
from podium.text.retrieval.base import Statistics, WordRetrieval
from podium.text.retrieval.bm25 import BM25


@register
class Bo1(Expansion):
    """Words that are more frequent in the first documents than chance would have them.

    Formula: w = tf_x log₂((1 + P)/P) + log₂(1 + P), where tf_x is the number of occurrences in the first `documents`,
    and P = cf/N. The weight of a word is its occurrences in the query over the highest such number, plus w over the
    highest w.
    Ties: of equal weights, the term that was indexed first is chosen.
    Cost: two searches, and a pass over the first documents.
    Use it for: recall, without a parameter to mix by.
    Reference: Amati, Probability models for information retrieval based on divergence from randomness, 2003.
    """

    name = "bo1"
    of: WordRetrieval = BM25()
    """Retrieval that finds the first documents, and searches again."""
    documents: int = param(default=3, least=1, most=1000)
    """First documents that are taken for relevant."""
    terms: int = param(default=10, least=1, most=1000)
    """Words of the highest weights, which are taken."""

    def weights(self, first: FirstDocuments, statistics: Statistics) -> Array:
        P = statistics.cf[:, -1] / statistics.documents
        return np.asarray(first.counts.sum(axis=0) * np.log2((1.0 + P) / P) + np.log2(1.0 + P))
