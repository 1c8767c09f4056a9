"""Vectors of words: tf-idf weights of terms and norms of documents, cached until the index changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Int32s, Ints
from podium.jit.compiled import compiled

if TYPE_CHECKING:
    from podium.text.index.index import Index


def term_weights(index: Index, column: int) -> Array:
    """ln(N/df) of each term; 0 for flagged terms and those that no document has."""  # (V,)

    def make() -> Array:
        df = np.zeros(len(index.flags))
        for segment in index.segments:
            df[segment.terms] += segment.df[:, column]
        counted = (df > 0) & ~index.flags
        return np.where(counted, np.log(max(len(index), 1) / np.maximum(df, 1.0)), 0.0)

    return index.kept(("term_weights", column), make)


def norms(index: Index, column: int) -> Array:
    """The norm of each document's vector, segment after segment."""  # (D,)

    def make() -> Array:
        weights, parts = term_weights(index, column), []
        for segment in index.segments:
            squares = np.zeros(len(segment))
            _add_squares(segment.pointers, segment.rows, segment.frequencies, column, weights[segment.terms], squares)
            parts.append(np.sqrt(squares))
        return np.concatenate(parts) if parts else np.empty(0)

    return index.kept(("norms", column), make)


@compiled
def _add_squares(
    pointers: Ints, rows: Int32s, frequencies: Int32s, column: int, weights: Array, squares: Array
) -> None:
    F = frequencies.shape[1]
    for k in range(len(weights)):
        for p in range(pointers[k], pointers[k + 1]):
            c = 0.0
            for f in range(F):
                if column in (F, f):
                    c += frequencies[p, f]
            squares[rows[p]] += (np.log1p(c) * weights[k]) ** 2


@compiled
def add_squares(ends: Ints, terms: Int32s, counts: Ints, weights: Array, squares: Array) -> None:
    """Add the squared weights of the terms of texts; text k has terms[ends[k]:ends[k + 1]]."""
    for k in range(len(squares)):
        for p in range(ends[k], ends[k + 1]):
            squares[k] += (np.log1p(np.float64(counts[p])) * weights[terms[p]]) ** 2
