"""Kernel helpers: documents grouped by grade, bounds of values, cleared outputs.

Loops are written out: numba compiles them several times faster than array expressions and index arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit import sorting as ranking
from podium.jit.compiled import compiled, outlined


@outlined("UniTuple(int64[::1], 2)(float64[::1])")
def by_grade(labels: Array) -> Any:
    """Documents from the best grade to the worst (n,), and the end (exclusive) of the block of each index (n,)."""
    n = len(labels)
    rows = np.empty(n, np.int64)
    for i in range(n):
        rows[i] = i
    return _in_order(labels, rows)


@compiled
def by_grade_and_score(scores: Array, labels: Array) -> Any:
    """As `by_grade`, with the documents of a block from the highest score to the lowest."""
    best = np.empty(len(scores), np.int64)
    ranking.argsort_descending(scores, best)
    return _in_order(take(labels, best), best)


@outlined("UniTuple(int64[::1], 2)(float64[::1], int64[::1])")
def _in_order(labels: Array, rows: Ints) -> Any:
    """Rows in descending order of labels, stable, and the ends of blocks."""
    n = len(labels)
    order, ends = np.empty(n, np.int64), np.empty(n, np.int64)
    if not _by_counting(labels, rows, order, ends):
        _by_sorting(labels, rows, order, ends)
    return order, ends


@outlined("void(float64[::1], int64[::1], int64[::1], int64[::1])")
def _by_sorting(labels: Array, rows: Ints, order: Ints, ends: Ints) -> None:
    places = np.empty(len(labels), np.int64)
    ranking.argsort_descending(labels, places)
    ranking.tie_ends(labels, places, ends)
    for p in range(len(labels)):
        order[p] = rows[places[p]]


@compiled
def _by_counting(labels: Array, rows: Ints, order: Ints, ends: Ints) -> bool:
    """Counting sort of grades 0 to 31, twice as fast as sorting; False if there is another grade."""
    counts, at, few = np.empty(32, np.int64), 0, True
    for g in range(32):
        counts[g] = 0
    for y in labels:
        grade = np.uint64(np.int64(y)) & _31
        few &= y == grade
        counts[grade] += 1
    if not few:
        return False
    for g in range(31, -1, -1):
        count, counts[g] = counts[g], at  # from now on the next index of this grade
        for p in range(at, at + count):
            ends[p] = at + count
        at += count
    for p in range(len(labels)):
        grade = np.uint64(np.int64(labels[p])) & _31
        order[np.uint64(counts[grade])] = rows[p]
        counts[grade] += 1
    return True


_31 = np.uint64(31)


@compiled
def count_edges(ends: Ints) -> int:
    """Number of pairs of different grades, from the ends of `by_grade`."""
    edges = 0
    for end in ends:
        edges += len(ends) - end
    return edges


@compiled
def take(values: Array, order: Ints) -> Any:
    """Values of the documents in this order."""
    taken = np.empty(len(order))
    for p in range(len(order)):
        taken[p] = values[order[p]]
    return taken


@compiled
def turn(values: Array, sign: float) -> Any:
    """Copy of the values, times `sign`."""
    turned = np.empty(len(values))
    for i in range(len(values)):
        turned[i] = sign * values[i]
    return turned


@compiled
def bounds(values: Array) -> Any:
    """Smallest and largest value; 0 and 0 if there is none."""
    if len(values) == 0:
        return 0.0, 0.0
    low, high = values[0], values[0]
    for v in values:
        low, high = min(low, v), max(high, v)
    return low, high


@compiled
def filled(n: int, value: float) -> Any:
    """Array of n equal values."""
    values = np.empty(n)
    for i in range(n):
        values[i] = value
    return values


@compiled
def clear(gradient: Array, curvature: Array) -> None:
    """Set both to 0."""
    for i in range(len(gradient)):
        gradient[i] = 0.0
        curvature[i] = 0.0
