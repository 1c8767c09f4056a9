"""CG@k: cumulative gain, the sum of the gains of the first k documents, whatever their order.

Formula: Σ_{r ≤ k} G(y_r), with G the gain of the convention: y itself with gain=linear.
Ties: a tie group cut by k counts its share of the group's gain. Cost: O(n). Use it for: what the first results page
holds; for its order, DCG. Empty: no judged document with a gain above 0. Reference: Järvelin and Kekäläinen (2002).

    >>> from podium.metrics import Metric
    >>> Metric.parse("cg@2[gain=linear]")([4, 3, 2, 1], [1, 2, 0, 0], [0, 4])
    array([3.])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import additive_swap, cut, gain, has_gain


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """The expected gain of the first k."""
    if not has_gain(ideal, config):
        return np.nan
    last, total, start = cut(len(labels), config), 0.0, 0
    while start < last:
        end, gains = ends[start], 0.0
        for place in range(start, end):
            gains += gain(labels[place], config)
        total += gains * ((min(end, last) - start) / (end - start))
        start = end
    return total


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """Gains, then 1 at the first k places."""
    n = len(labels)
    for place in range(n):
        work[place] = gain(labels[place], config)
        work[n + place] = 1.0 if place < cut(n, config) else 0.0


@register
class CG(Metric):
    """CG@k: the sum of the gains of the first k documents."""

    names = Names(stating("cumulative_gain"))
    conventions = Conventions(uses=("gain", "short", "ideal", "floor"))
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    range = (0.0, float("inf"))
    normalised = False
