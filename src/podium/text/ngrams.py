"""Runs of adjacent words: the number of documents with each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.jit.compiled import compiled
from podium.text.index.index import Index
from podium.text.index.segment import find_terms


def ngram_df(index: Index, grams: NDArray[np.int32]) -> NDArray[np.float64]:
    """The number of documents with each run of words, in each field and in the whole."""  # (F+1, g)
    columns = len(index.fields) + 1
    found = np.zeros((columns, len(grams)))
    for segment in index.segments:
        if grams.shape[1] == 2:
            _look_up(segment.pairs, segment.pair_df, grams, found)
            continue
        for g, gram in enumerate(grams):
            places = find_terms(segment.terms, gram)
            if places.min() >= 0:
                arrays = (segment.tokens, segment.bounds, segment.pointers, segment.rows, segment.dead)
                for column in range(columns):
                    found[column, g] += _scan(gram, places, *arrays, column)
    return found


@compiled
def _look_up(pairs: Any, df: Any, grams: Any, found: Any) -> None:
    for g in range(len(grams)):
        key = (np.int64(grams[g, 0]) << 32) | np.int64(grams[g, 1])
        at = np.searchsorted(pairs, key)
        if at < len(pairs) and pairs[at] == key:
            for column in range(df.shape[1]):
                found[column, g] += df[at, column]


@compiled
def _scan(gram: Any, places: Any, tokens: Any, bounds: Any, pointers: Any, rows: Any, dead: Any, column: int) -> int:
    """Look for a run in all documents with its rarest word."""
    n, F, found, rare = len(gram), bounds.shape[1] - 1, 0, places[0]
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
                found += not dead[d]
                break
    return found
