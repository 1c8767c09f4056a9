"""Kernels of `Rankings`: number the documents of each query, and sort each voter's list."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Bytes, Ints
from podium.jit.compiled import compiled
from podium.jit.sorting import argsort_descending
from podium.parsing.ids import number_bytes, rank_bytes


@compiled
def assemble(
    text: Bytes, starts: Ints, ends: Ints, values: Array, entry_offsets: Ints, n_voters: int,
    documents: Ints, ranks: Ints, order: Ints, firsts: Ints, offsets: Ints,
) -> None:  # fmt: skip
    """Number each query's documents in the order of their ids, and sort each list from its largest value down.

    Row r has a document id, text[starts[r]:ends[r]], and a value; rows of one list are consecutive, by `entry_offsets`.
    Entry k of the sorted lists is row order[k], with its document's number and dense rank; equal values are in the
    order of the ids. Document j of query q has the id of row firsts[offsets[q] + j].
    """
    for q in range(len(offsets) - 1):
        a, b = entry_offsets[q * n_voters], entry_offsets[(q + 1) * n_voters]
        codes, rows = np.empty(b - a, np.int64), np.empty(b - a, np.int64)
        n = number_bytes(text, starts[a:b], ends[a:b], codes, rows)
        places = np.empty(n, np.int64)
        rank_bytes(text, starts[a:b][rows[:n]], ends[a:b][rows[:n]], places)
        offsets[q + 1] = offsets[q] + n
        for code in range(n):
            firsts[offsets[q] + places[code]] = a + rows[code]
        numbers = places[codes]
        for v in range(n_voters):
            first, last = entry_offsets[q * n_voters + v], entry_offsets[q * n_voters + v + 1]
            part = slice(first, last)
            _sort_list(numbers[first - a : last - a], values[part], documents[part], ranks[part], order[part])
            order[part] += first


@compiled
def _sort_list(numbers: Ints, values: Array, documents: Ints, ranks: Ints, order: Ints) -> None:
    """Sort one list by value, equal ones by number."""
    argsort_descending(values, order)
    first, rank, n = 0, 1, len(order)
    while first < n:
        end = first + 1
        while end < n and values[order[end]] == values[order[first]]:
            end += 1
        if end - first > 1:
            tied, within = order[first:end].copy(), np.empty(end - first, np.int64)
            argsort_descending(-numbers[tied].astype(np.float64), within)
            order[first:end] = tied[within]
        ranks[first:end] = rank
        rank += 1
        first = end
    for k in range(n):
        documents[k] = numbers[order[k]]
