"""Documents in order of grade: what kernels that compare grades begin with."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium import ranking
from podium.losses.base import kernel


@kernel
def by_grade(labels: Any) -> Any:
    """The documents from the best grade to the worst (n,), and where the block of each place ends (n,), exclusive."""
    order, ends = np.empty(len(labels), np.int64), np.empty(len(labels), np.int64)
    ranking.argsort_descending(labels, order)
    ranking.tie_ends(labels, order, ends)
    return order, ends


@kernel
def by_grade_and_score(scores: Any, labels: Any) -> Any:
    """As `by_grade`, with the documents of a block from the highest score to the lowest."""
    n = len(scores)
    best, order, ends, graded = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    ranking.argsort_descending(scores, best)
    for p in range(n):
        graded[p] = labels[best[p]]
    ranking.argsort_descending(graded, order)
    for p in range(n):
        order[p] = best[order[p]]
    ranking.tie_ends(labels, order, ends)
    return order, ends


@kernel
def count_edges(ends: Any) -> int:
    """The number of pairs of different grades, from the ends of `by_grade`."""
    edges = 0
    for end in ends:
        edges += len(ends) - end
    return edges


@kernel
def spread(scores: Any) -> Any:
    """The largest score minus the smallest; 0 for no documents."""
    if len(scores) == 0:
        return 0.0
    return np.max(scores) - np.min(scores)
