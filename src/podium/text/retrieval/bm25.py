"""BM25, over one or more weighted fields (BM25F)."""

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
class BM25(WordRetrieval):
    """Okapi BM25 with the idf of Lucene, which is never negative.

    Σ_t ln(1 + (N − df + ½)/(df + ½)) · c (k1 + 1) / (c + k1 (1 − b + b |d|/avg)), repeated query terms counted each
    time. With weights of fields, c and |d| are weighted sums over fields before BM25 is computed (BM25F with one b).
    """

    name = "bm25"
    k1: float = param(default=1.2, least=0, most=MOST)
    b: float = param(default=0.75, least=0, most=1)
    fields: tuple[str, ...] = ()

    def scores(self, sums: Sums, query: Query, statistics: Statistics, totals: Totals) -> int:
        n, df = statistics.documents, statistics.df[:, -1]
        worth = query.times * np.log1p((n - df + 0.5) / (df + 0.5)) * (self.k1 + 1.0)
        average = totals.terms / max(n, 1)
        norms = sums.kept(
            (self.k1, self.b, average),
            lambda: self.k1 * (1.0 - self.b + self.b * sums.lengths / (average or 1.0)),
        )
        return int(_bm25(sums.places, worth, *sums.postings, sums.dead, norms, *sums.scratch))


@compiled
def _bm25(
    places: Ints, worth: Array, pointers: Ints, rows: Int32s, counts: AnyArray, dead: Flags, norms: Array,
    scores: Array, seen: Flags, touched: Int32s,
) -> int:  # fmt: skip
    n = 0
    for m in range(len(places)):
        if places[m] < 0:
            continue
        for p in range(pointers[places[m]], pointers[places[m] + 1]):
            d, c = rows[p], np.float64(counts[p])
            if c == 0.0 or dead[d]:
                continue
            if not seen[d]:  # the score of a document may stay 0
                seen[d] = True
                touched[n] = d
                n += 1
            scores[d] += worth[m] * c / (c + norms[d])
    return n
