"""Variants of BM25: other idf, and other saturation of the term frequency.

With B = 1 − b + b |d|/avg, sums over the terms of the query that a document has:

    robertson    ln((N − df + ½)/(df + ½)), at least 0      c/(c + k1 B)
    atire        ln(N/df)                                   c (k1 + 1)/(c + k1 B)
    l            ln((N + 1)/(df + ½))                       (k1 + 1)(c/B + δ)/(k1 + c/B + δ), δ = ½
    plus         ln((N + 1)/df)                             c (k1 + 1)/(c + k1 B) + δ, δ = 1

References: Robertson et al., Okapi at TREC-3, 1994; Trotman, Jia and Crane, Towards an efficient and effective search
engine, 2012; Lv and Zhai, When documents are very long, BM25 fails!, 2011; Lv and Zhai, Lower-bounding term frequency
normalization, 2011. bm25s and rank_bm25 also count δ for terms that a document lacks, which undoes its purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from podium.base.arrays import AnyArray, Array, Flags, Int32s, Ints
from podium.jit.compiled import compiled
from podium.text.retrieval.base import Sums

Variant = Literal["lucene", "robertson", "atire", "l", "plus"]
IDF: dict[str, Callable[[int, Array], Array]] = {
    "lucene": lambda n, df: np.log1p((n - df + 0.5) / (df + 0.5)),
    "robertson": lambda n, df: np.log(np.maximum((n - df + 0.5) / (df + 0.5), 1.0)),
    "atire": lambda n, df: np.log(max(n, 1) / np.maximum(df, 1.0)),
    "l": lambda n, df: np.log((n + 1.0) / (df + 0.5)),
    "plus": lambda n, df: np.log((n + 1.0) / np.maximum(df, 1.0)),
}
DELTA = {"l": 0.5, "plus": 1.0}


def variant_scores(
    sums: Sums, worth: Array, average: float, *, variant: str, k1: float, b: float, delta: float | None
) -> int:
    """Add to the scores of documents; `worth` is the idf of each term, times its occurrences in the query."""
    norms = sums.kept((b, average), lambda: 1.0 - b + b * sums.lengths / (average or 1.0))
    scale = 1.0 if variant == "robertson" else k1 + 1.0
    floor = DELTA.get(variant, 0.0) if delta is None else delta
    shift, lift = (floor, 0.0) if variant == "l" else (0.0, floor / scale)
    arrays = (sums.places, worth * scale, *sums.postings, sums.dead, norms, k1, shift, lift, *sums.scratch)
    return int(_scores(*arrays))


@compiled
def _scores(
    places: Ints, worth: Array, pointers: Ints, rows: Int32s, counts: AnyArray, dead: Flags, norms: Array, k1: float,
    shift: float, lift: float, scores: Array, seen: Flags, touched: Int32s,
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
            c += shift * norms[d]
            scores[d] += worth[m] * (c / (c + k1 * norms[d]) + lift)
    return n
