"""Order of documents by score with ties in a pseudo-random order, and numbers shared by documents that are equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit import sorting as ranking
from podium.jit.compiled import compiled, outlined
from podium.kernels.blocks import take
from podium.kernels.draws import shuffle_blocks, start


@outlined("UniTuple(int64[::1], 2)(float64[::1], float64[::1])")
def order_of_ties(scores: Array, labels: Array) -> Any:
    """Documents by score, ties in a pseudo-random order; with ties, also the documents by score, then grade.

    The random order depends on which scores and grades are equal, and not on the order of rows. A fixed one, e.g.
    lowest grade first, would bias the gradient of all queries in one direction while scores are tied.
    """
    n = len(scores)
    order = np.empty(n, np.int64)
    ranking.argsort_descending(scores, order)
    for p in range(1, n):
        if scores[order[p]] == scores[order[p - 1]]:
            return _shuffled(scores, labels)
    return order, order[:0]


@compiled
def _shuffled(scores: Array, labels: Array) -> Any:
    n = len(scores)
    by_grade, by_score = np.empty(n, np.int64), np.empty(n, np.int64)
    ranking.argsort_descending(labels, by_grade)
    ranking.argsort_descending(take(scores, by_grade), by_score)
    order = np.empty(n, np.int64)
    for p in range(n):
        by_score[p] = by_grade[by_score[p]]
        order[p] = by_score[p]
    ties, equals = np.empty(n, np.int64), np.empty(n, np.int64)  # ends of equal scores, and of equal score and grade
    for p in range(n - 1, -1, -1):
        last = p == n - 1 or scores[by_score[p]] != scores[by_score[p + 1]]
        ties[p] = p + 1 if last else ties[p + 1]
        equals[p] = p + 1 if last or labels[by_score[p]] != labels[by_score[p + 1]] else equals[p + 1]
    shuffle_blocks(order, ties, start(0, equals))
    return order, by_score


@outlined("void(float64[::1], float64[::1], int64[::1], float64[::1])")
def share(scores: Array, labels: Array, order: Ints, numbers: Array) -> None:
    """Average numbers over documents of equal score and grade, because their ranks are arbitrary."""
    first = 0
    for end in range(1, len(order) + 1):
        i = order[first]
        if end < len(order) and scores[order[end]] == scores[i] and labels[order[end]] == labels[i]:
            continue
        if end > first + 1:
            total = 0.0
            for p in range(first, end):
                total += numbers[order[p]]
            for p in range(first, end):
                numbers[order[p]] = total / (end - first)
        first = end
