"""Query likelihood: language models of documents with Dirichlet smoothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import AnyArray, Array, Flags, Int32s, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.text.retrieval.base import MOST, Statistics, Sums, Totals, WordRetrieval

if TYPE_CHECKING:
    from podium.text.query import Query


@register
class QueryLikelihood(WordRetrieval):
    """Query likelihood with Dirichlet smoothing: Σ_t ln((c + μ p_t)/(|d| + μ)), p_t = cf/|C|, less a constant.

    Scores are relative to a document of length 0 without any query term, so only documents in the postings are
    scored. With weights of fields, c, |d|, cf and |C| are weighted sums over fields.
    Reference: Zhai and Lafferty, A study of smoothing methods for language models, 2001.
    """

    name = "ql"
    mu: float = param(default=2000.0, least=1 / MOST, most=1e9)
    """Pseudo-count of words that the collection adds to each document; the larger, the smoother."""
    fields: tuple[str, ...] = ()
    """Fields with their weights, as in title^3; those of the index by default."""

    def scores(self, sums: Sums, query: Query, statistics: Statistics, totals: Totals) -> int:
        share = totals.cf / max(totals.terms, 1.0) * self.mu
        norms = sums.kept((self.mu,), lambda: np.log1p(sums.lengths / self.mu))
        times, length = query.times, float(query.times[share > 0].sum())
        arrays = (times, share, *sums.postings, sums.dead, norms, length, *sums.scratch)
        return int(_query_likelihood(sums.places, *arrays))

    def without_words(self, lengths: Array, query: Query, totals: Totals) -> Array:
        return np.asarray(-query.times[totals.cf > 0].sum() * np.log1p(lengths / self.mu))


@compiled
def _query_likelihood(
    places: Ints, times: Array, share: Array, pointers: Ints, rows: Int32s, counts: AnyArray, dead: Flags, norms: Array,
    length: float, scores: Array, seen: Flags, touched: Int32s,
) -> int:  # fmt: skip
    n = 0
    for m in range(len(places)):
        if places[m] < 0 or share[m] <= 0.0:
            continue
        for p in range(pointers[places[m]], pointers[places[m] + 1]):
            d, c = rows[p], np.float64(counts[p])
            if c == 0.0 or dead[d]:
                continue
            if not seen[d]:  # the score of a document may stay 0
                seen[d] = True
                touched[n] = d
                n += 1
            scores[d] += times[m] * np.log1p(c / share[m])
    for k in range(n):
        scores[touched[k]] -= length * norms[touched[k]]
    return n
