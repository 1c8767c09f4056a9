"""BM25, over one or more weighted fields (BM25F)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import AnyArray, Array, Flags, Int32s, Ints
from podium.base.errors import ParameterError
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.text.retrieval.base import MOST, Statistics, Sums, Totals, WordRetrieval
from podium.text.retrieval.bm25_variants import DELTA, IDF, Variant, variant_scores

if TYPE_CHECKING:
    from podium.text.query import Query


@register
class BM25(WordRetrieval):
    """Okapi BM25 with the idf of Lucene, which is never negative.

    Σ_t ln(1 + (N − df + ½)/(df + ½)) · c (k1 + 1) / (c + k1 (1 − b + b |d|/avg)), repeated query terms counted each
    time. With weights of fields, c and |d| are weighted sums over fields before BM25 is computed (BM25F with one b).
    `variant` chooses another formula, and `delta` its lower bound: see `bm25_variants.py`.
    """

    name = "bm25"
    k1: float = param(default=1.2, least=0, most=MOST)
    """Saturation: the larger, the more a further occurrence of a word adds."""
    b: float = param(default=0.75, least=0, most=1)
    """Share by which long fields are discounted: 0 not at all, 1 in full proportion to their length."""
    fields: tuple[str, ...] = ()
    """Fields with their weights, as in title^3; those of the index by default."""
    variant: Variant = "lucene"
    """Formula: `lucene`, `robertson`, `atire`, `l` (BM25L) or `plus` (BM25+)."""
    delta: float | None = param(default=None, least=0, most=MOST)
    """Lower bound of a word's part; by default ½ for `l`, 1 for `plus`, and 0 for the others."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta is not None and self.variant not in DELTA:
            raise ParameterError(f"bm25: delta is for variant=l and variant=plus; variant is {self.variant}.")

    def scores(self, sums: Sums, query: Query, statistics: Statistics, totals: Totals) -> int:
        n, df = statistics.documents, statistics.df[:, -1]
        worth, average = query.times * IDF[self.variant](n, df), totals.terms / max(n, 1)
        if self.variant != "lucene":
            return variant_scores(sums, worth, average, variant=self.variant, k1=self.k1, b=self.b, delta=self.delta)
        worth, average = worth * (self.k1 + 1.0), average or 1.0
        order = np.argsort(-worth, kind="stable")  # the same in all segments, so that sums have the same bits
        norms = sums.kept(
            (self.k1, self.b, average), lambda: self.k1 * (1.0 - self.b + self.b * sums.lengths / average)
        )
        places, worth = sums.places[order], worth[order]
        ceilings = np.full(len(places), np.inf)
        if sums.limits is not None and len(sums.limits[0]):
            most, least = (limits[places] for limits in sums.limits)
            above = np.maximum(most, 1e-300)  # a term may be in fields without weight alone
            ceilings = worth * most / (above + self.k1 * (1.0 - self.b + self.b * least / average))
        return int(
            _bm25(places, worth, ceilings, *sums.postings, sums.dead, norms, sums.allowed, sums.k, *sums.scratch)
        )


@compiled
def _bm25(
    places: Ints, worth: Array, ceilings: Array, pointers: Ints, rows: Int32s, counts: AnyArray, dead: Flags,
    norms: Array, allowed: Flags, k: int, scores: Array, seen: Flags, touched: Int32s,
) -> int:  # fmt: skip
    """Add up the scores term by term, and return the number of documents touched.

    As soon as k documents have more than all terms that are left could give, no other document can be among the best:
    from then on only the touched ones are scored (MaxScore: Turtle & Flood, 1995).
    """
    rest = 0.0
    for m in range(len(places)):
        if places[m] >= 0:
            rest += ceilings[m]
    n, is_closed = 0, False
    for m in range(len(places)):
        if places[m] < 0:
            continue
        first, last = pointers[places[m]], pointers[places[m] + 1]
        if not is_closed and n >= k and last - first >= k:
            is_closed = _kth_best(scores, touched, n, allowed, k) > rest * (1.0 + 1e-9)  # beyond rounding
        rest -= ceilings[m]
        for p in range(first, last):
            d, c = rows[p], np.float64(counts[p])
            if c == 0.0:  # in fields without weight alone; 0/0 if the norm is 0
                continue
            if not seen[d]:
                if is_closed or dead[d]:
                    continue
                seen[d] = True  # the score of a document may stay 0
                touched[n] = d
                n += 1
            scores[d] += worth[m] * c / (c + norms[d])
    return n


@compiled
def _kth_best(scores: Array, touched: Int32s, n: int, allowed: Flags, k: int) -> float:
    """The k-th best score of the touched documents that are allowed; −∞ if there are fewer."""
    heap, size = np.empty(k), 0  # the worst at the top
    for at in range(n):
        d = touched[at]
        s = scores[d]
        if len(allowed) and not allowed[d]:
            continue
        if size < k:
            i = size
            size += 1
            while i > 0 and s < heap[(i - 1) // 2]:
                heap[i] = heap[(i - 1) // 2]
                i = (i - 1) // 2
            heap[i] = s
        elif s > heap[0]:
            i = 0
            while 2 * i + 1 < k:
                child = 2 * i + 1
                if child + 1 < k and heap[child + 1] < heap[child]:
                    child += 1
                if heap[child] >= s:
                    break
                heap[i] = heap[child]
                i = child
            heap[i] = s
    return heap[0] if size == k else -np.inf
