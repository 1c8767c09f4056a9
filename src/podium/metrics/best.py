"""Best@k: the largest label among the first k documents.

Formula: max_{r ≤ k} y_r; negative labels count 0. Ties: the mean over all orders, exactly: of a tie group of N
documents of which k leaves t, the j-th largest is the largest with probability C(N − j, t − 1)/C(N, t). Cost: O(n),
and sorting of the tie group that k cuts. Use it for: one good document is enough, and how good it is matters. Empty:
no judged label above 0. Reference: RankLib (`BEST@k`).

    >>> from podium.metrics import Metric
    >>> Metric.parse("BEST@2")([3, 2, 2], [1, 2, 0], [0, 3])  # 2 or 1
    array([1.5])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.jit.sorting import sort_descending
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel
from podium.metrics.kernels import cut


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """The expected largest label of the first k."""
    if len(ideal) == 0 or ideal[0] <= 0.0:
        return np.nan
    last, best, start = cut(len(labels), config), 0.0, 0
    while start < last and ends[start] <= last:
        for place in range(start, ends[start]):
            best = max(best, labels[place])
        start = ends[start]
    if start >= last:
        return best
    size, taken = ends[start] - start, last - start
    falling, total, left = np.empty(size), 0.0, 1.0
    sort_descending(labels[start : ends[start]], falling)
    for place in range(size - taken + 1):
        chance = left * (taken / (size - place))  # this one is drawn, and none above it
        total += chance * max(best, falling[place])
        left -= chance
    return total


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """The largest label of the first k, and the second largest."""
    work[0], work[1] = 0.0, 0.0
    for place in range(cut(len(labels), config)):
        if labels[place] > work[0]:
            work[0], work[1] = labels[place], work[0]
        elif labels[place] > work[1]:
            work[1] = labels[place]


@compiled
def swap(labels: Array, config: Array, work: Array, i: int, j: int) -> float:
    """|Δ|: another document at place i, if j is behind the first k."""
    last = cut(len(labels), config)
    if i >= last or j < last:
        return 0.0
    others = work[1] if labels[i] == work[0] else work[0]
    return abs(max(others, labels[j]) - work[0])  # type: ignore[no-any-return]


@register
class Best(Metric):
    """Best@k: the largest label among the first k documents."""

    conventions = Conventions(uses=("short", "ideal"), presets={"ranklib": {"cutoff": 10}})
    kernel = Kernel(measure, swaps=(prepare, swap))
    range = (0.0, float("inf"))
    normalised = False
