"""N-grams: the number of documents with each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Flags, Int32s, Ints
from podium.jit.compiled import compiled
from podium.text.index.segment import find_terms

if TYPE_CHECKING:
    from podium.text.index.index import Index


def ngram_df(index: Index, grams: Int32s) -> Array:
    """The number of documents with each n-gram, in each field and in the whole document."""  # (F+1, g)
    columns = len(index.fields) + 1
    df = np.zeros((columns, len(grams)))
    for segment in index.segments:
        arrays = (segment.tokens, segment.bounds, segment.pointers, segment.rows, segment.dead)
        if grams.shape[1] == 2:
            _count_pairs(segment.pairs, segment.pair_df, segment.terms, *arrays, grams, df)
            continue
        for g, gram in enumerate(grams):
            places = segment.places(gram)
            if places.min() >= 0:
                for column in range(columns):
                    df[column, g] += _scan(gram, places, *arrays, column)
    return df


@compiled
def _count_pairs(
    pairs: Ints, df: Int32s, terms: Int32s, tokens: Int32s, bounds: Ints, pointers: Ints, rows: Int32s, dead: Flags,
    grams: Int32s, out: Array,
) -> None:  # fmt: skip
    """Look pairs up in the table of those that several documents had; of the others, find the only document."""
    for g in range(len(grams)):
        key = (np.int64(grams[g, 0]) << 32) | np.int64(grams[g, 1])
        at = np.searchsorted(pairs, key)
        if at < len(pairs) and pairs[at] == key:
            for column in range(df.shape[1]):
                out[column, g] += df[at, column]
            continue
        places = find_terms(terms, grams[g])
        if places[0] < 0 or places[1] < 0:
            continue
        j, end = pointers[places[1]], pointers[places[1] + 1]
        for p in range(pointers[places[0]], pointers[places[0] + 1]):
            d = rows[p]
            while j < end and rows[j] < d:
                j += 1
            if j == end:
                break
            if rows[j] == d and _has_pair(tokens, bounds[d], grams[g, 0], grams[g, 1], out[:, g], dead[d]):
                break


@compiled
def _has_pair(tokens: Int32s, bounds: Ints, first: int, second: int, out: Array, dead: bool) -> bool:
    """Whether a document has a pair; adds 1 to each field with it, unless the document is deleted."""
    F, has, last = len(bounds) - 1, False, -1
    f = 0
    for p in range(bounds[0], bounds[F] - 1):
        while p >= bounds[f + 1]:
            f += 1
        if tokens[p] == first and tokens[p + 1] == second:
            if not dead and not has:
                out[F] += 1.0
            if not dead and last != f and p + 1 < bounds[f + 1]:
                out[f] += 1.0
                last = f
            has = True
    return has


@compiled
def _scan(
    gram: Int32s, places: Ints, tokens: Int32s, bounds: Ints, pointers: Ints, rows: Int32s, dead: Flags, column: int
) -> int:
    """The number of documents with an n-gram; scans the documents with its rarest word."""
    n, F, documents, rare = len(gram), bounds.shape[1] - 1, 0, places[0]
    for k in places:
        if pointers[k + 1] - pointers[k] < pointers[rare + 1] - pointers[rare]:
            rare = k
    for p in range(pointers[rare], pointers[rare + 1]):
        d = rows[p]
        first, end = (bounds[d, 0], bounds[d, F]) if column == F else (bounds[d, column], bounds[d, column + 1])
        for at in range(first, end - n + 1):
            same = 0
            while same < n and tokens[at + same] == gram[same]:
                same += 1
            if same == n:
                documents += not dead[d]
                break
    return documents
