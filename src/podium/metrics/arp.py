"""ARP: average relevance position, the mean rank of the documents weighted by their labels; less is better.

Formula: Σ_i y_i r_i/Σ_i y_i, over the documents of the list. Negative labels count 0.
Ties: each document of a tie group has the group's mean rank. Cost: O(n). Use it for: lists that users read to the end,
such as reviews or candidates; the metric that `lambda-loss(scheme=arp2)` bounds. Empty: no label above 0. Only
documents in the list count, never others that were judged. Reference: Zhu (2004); Wang et al. (2018).

    >>> from podium.metrics import Metric
    >>> Metric.parse("arp")([4, 3, 2, 1], [1, 2, 0, 0], [0, 4])  # (1·1 + 2·2)/3
    array([1.66666667])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import additive_swap


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Σ y r̄/Σ y, with r̄ the mean rank of the documents tied with rank r."""
    total, weights = 0.0, 0.0
    start = 0
    while start < len(labels):
        end = ends[start]
        for place in range(start, end):
            total += max(labels[place], 0.0) * (start + end + 1.0) / 2.0
            weights += max(labels[place], 0.0)
        start = end
    return total / weights if weights > 0.0 else np.nan


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """y/Σ y, then ranks."""
    n, weights = len(labels), 0.0
    for place in range(n):
        weights += max(labels[place], 0.0)
    for place in range(n):
        work[place] = max(labels[place], 0.0) / weights if weights > 0.0 else 0.0
        work[n + place] = place + 1.0


@register
class ARP(Metric):
    """ARP: the mean rank of the documents weighted by their labels; less is better."""

    names = Names(stating("average_relevance_position"))
    conventions = Conventions(cuts=False)
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    range = (0.0, float("inf"))
    normalised = False
    higher_is_better = False
