"""Weighted DCG@k: discounted sum of document weights, such as clicks over propensities.

Formula: Σ_{r ≤ k} w_r D(r), with w_r the weight of the document at rank r, read from its label, and D the discount of
the convention. With w = clicks over propensities its mean over queries estimates the DCG of relevance, up to a constant
that is the same for every ranker, without the bias of positions (Joachims, Swaminathan and Schnabel, 2017). It is not
divided by the weight of its own query: a query with one clicked document would count the same whatever the propensity
of the click, and the biased ranker would win.
Ties: each place of a tie group has the mean weight of the group.
Cost: O(n). Use it for: validation data with document weights and no grades. Empty: every weight is 0; such queries add
the same to every ranker. Weights may be negative if clicks were corrected for trust bias, and so may its value.

    >>> from podium.metrics import Metric
    >>> Metric.parse("weighted-dcg@2")([3, 2, 1], [4.0, 0.0, 6.0], [0, 3])  # 4·1 + 0/log2(3)
    array([4.])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel
from podium.metrics.kernels import additive_swap, cut, discount


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Σ_{r ≤ k} w̄_r D(r), with w̄_r the mean weight of the documents tied with rank r."""
    if len(ideal) == 0 or (ideal[0] == 0.0 and ideal[-1] == 0.0):  # from the largest to the smallest
        return np.nan
    last, total, start = cut(len(labels), config), 0.0, 0
    while start < last:
        end, weights, discounts = ends[start], 0.0, 0.0
        for place in range(start, end):
            weights += labels[place]
            discounts += discount(place, config) if place < last else 0.0
        total += weights * discounts / (end - start)
        start = end
    return total


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """Weights, then discounts."""
    n = len(labels)
    for place in range(n):
        work[place] = labels[place]
        work[n + place] = discount(place, config) if place < cut(n, config) else 0.0


@register
class WeightedDCG(Metric):
    """Weighted DCG@k: document weights, discounted by rank."""

    conventions = Conventions(uses=("discount", "short", "ideal"))
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    range = (float("-inf"), float("inf"))
    normalised = False
