"""BM25F: BM25 of several fields with weights, as the first stage computes it."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.text.context import Context
from podium.text.features.base import Feature
from podium.text.index.index import Index
from podium.text.retrieval.base import MOST
from podium.text.retrieval.bm25 import BM25


@register
class BM25F(Feature):
    """BM25 with c and |d| weighted sums over fields, e.g. bm25f(fields=[title^3,text]); by default the index's weights.

    It equals the score of the retrieval bm25(fields=[title^3,text]).
    """

    name = "bm25f"
    fields: tuple[str, ...] = ()
    """Fields with their weights, as in title^3; those of the index by default."""
    k1: float = param(default=1.2, least=0, most=MOST)
    """Saturation: the larger, the more a further occurrence of a word adds."""
    b: float = param(default=0.75, least=0, most=1)
    """Share by which long fields are discounted: 0 not at all, 1 in full proportion to their length."""

    def check(self, index: Index) -> None:
        self._weights(index)

    def values(self, context: Context) -> Array:
        weights, view, totals = self._weights(context.index), context.words, context.totals
        n, df = totals[-1, 0], view.terms[-1, 0]
        worth = view.times * np.log1p((n - df + 0.5) / (df + 0.5)) * (self.k1 + 1.0)
        counts = np.tensordot(weights, view.counts[:-1], axes=1)  # (documents, terms)
        average = float(weights @ totals[:-1, 1]) / max(n, 1.0)
        norms = self.k1 * (1.0 - self.b + self.b * (weights @ context.sizes[:-1, 0]) / (average or 1.0))
        occurs = counts > 0.0
        below = np.where(occurs, counts + norms[:, None], 1.0)
        return np.asarray((np.where(occurs, counts, 0.0) / below) @ worth)

    def _weights(self, index: Index) -> Array:
        return BM25(k1=self.k1, b=self.b, fields=self.fields).weights(index.fields, index.weights)
