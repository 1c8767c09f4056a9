"""Documents in order of grade, and other things that kernels begin with.

Loops are written out: numba compiles them several times faster than array expressions and index arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium import ranking
from podium.compiled import compiled


@compiled
def by_grade(labels: Any) -> Any:
    """The documents from the best grade to the worst (n,), and where the block of each place ends (n,), exclusive."""
    order, ends = np.empty(len(labels), np.int64), np.empty(len(labels), np.int64)
    ranking.argsort_descending(labels, order)
    ranking.tie_ends(labels, order, ends)
    return order, ends


@compiled
def by_grade_and_score(scores: Any, labels: Any) -> Any:
    """As `by_grade`, with the documents of a block from the highest score to the lowest."""
    n = len(scores)
    best, order, ends = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    ranking.argsort_descending(scores, best)
    ranking.argsort_descending(take(labels, best), order)
    for p in range(n):
        order[p] = best[order[p]]
    ranking.tie_ends(labels, order, ends)
    return order, ends


@compiled
def count_edges(ends: Any) -> int:
    """The number of pairs of different grades, from the ends of `by_grade`."""
    edges = 0
    for end in ends:
        edges += len(ends) - end
    return edges


@compiled
def take(values: Any, order: Any) -> Any:
    """The values of the documents in this order."""
    taken = np.empty(len(order))
    for p in range(len(order)):
        taken[p] = values[order[p]]
    return taken


@compiled
def turn(values: Any, sign: Any) -> Any:
    """A copy of the values, times 1 or −1."""
    turned = np.empty(len(values))
    for i in range(len(values)):
        turned[i] = sign * values[i]
    return turned


@compiled
def bounds(values: Any) -> Any:
    """The smallest and the largest value; 0 and 0 where there is none."""
    if len(values) == 0:
        return 0.0, 0.0
    low, high = values[0], values[0]
    for v in values:
        low, high = min(low, v), max(high, v)
    return low, high


@compiled
def clear(gradient: Any, curvature: Any) -> None:
    """Set both to 0."""
    for i in range(len(gradient)):
        gradient[i] = 0.0
        curvature[i] = 0.0
