"""N-grams: the number of documents with each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Flags, Int32s, Ints
from podium.jit.compiled import compiled

if TYPE_CHECKING:
    from podium.text.index.index import Index


def ngram_df(index: Index, grams: Int32s) -> Array:
    """The number of documents with each n-gram, in each field and in the whole document."""  # (F+1, g)
    columns = len(index.fields) + 1
    df = np.zeros((columns, len(grams)))
    for segment in index.segments:
        if grams.shape[1] == 2:
            _look_up(segment.pairs, segment.pair_df, grams, df)
            continue
        for g, gram in enumerate(grams):
            places = segment.places(gram)
            if places.min() >= 0:
                arrays = (segment.tokens, segment.bounds, segment.pointers, segment.rows, segment.dead)
                for column in range(columns):
                    df[column, g] += _scan(gram, places, *arrays, column)
    return df


@compiled
def _look_up(pairs: Ints, df: Int32s, grams: Int32s, out: Array) -> None:
    for g in range(len(grams)):
        key = (np.int64(grams[g, 0]) << 32) | np.int64(grams[g, 1])
        at = np.searchsorted(pairs, key)
        if at < len(pairs) and pairs[at] == key:
            for column in range(df.shape[1]):
                out[column, g] += df[at, column]


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
