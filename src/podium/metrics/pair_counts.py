"""Counts of concordant and discordant pairs of documents in O(n log n), for pairwise metrics."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled
from podium.jit.sorting import sort_descending


@compiled
def count_pairs(labels: Array, ends: Ints) -> tuple[float, float, float, float]:
    """Numbers of pairs of a list: concordant, discordant, tied only in score, tied only in label.

    Knight (1966): sort each tie group by label; then the discordant pairs are the rises that a merge sort undoes.
    """
    n = len(labels)
    ordered, listed = np.empty(n), np.empty(n)
    same_score, same_both, start = 0.0, 0.0, 0
    while start < n:
        end = ends[start]
        sort_descending(labels[start:end], ordered[start:end])
        same_score += (end - start) * (end - start - 1.0) / 2.0
        same_both += _equal_pairs(ordered[start:end])
        start = end
    discordant = _count_rises(ordered, listed)
    same_label = _equal_pairs(ordered)
    concordant = n * (n - 1.0) / 2.0 - same_score - same_label + same_both - discordant
    return concordant, discordant, same_score - same_both, same_label - same_both


@compiled
def _equal_pairs(descending: Array) -> float:
    total, run = 0.0, 0
    for p in range(1, len(descending)):
        run = run + 1 if descending[p] == descending[p - 1] else 0
        total += run
    return total


@compiled
def _count_rises(values: Array, spare: Array) -> float:
    """Sort into descending order by merging; the number of pairs p < q with values[p] < values[q] before."""
    n, width, rises = len(values), 1, 0.0
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            left, right = start, middle
            for at in range(start, end):
                if right < end and (left >= middle or values[right] > values[left]):
                    spare[at] = values[right]
                    rises += middle - left
                    right += 1
                else:
                    spare[at] = values[left]
                    left += 1
        values[:] = spare
        width *= 2
    return rises
