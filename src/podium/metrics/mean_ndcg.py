"""Mean NDCG: NDCG@k averaged over k = 1…n, as the LETOR 4.0 and MSLR scripts report it.

Formula: (1/n) Σ_{k=1..n} NDCG@k, n the length of the list.
Ties: the mean over all orders of tied documents, exactly. Cost: O(n). Use it for: comparison with LETOR tables.
Empty: no judged document with a gain above 0. Reference: Qin and Liu, LETOR 4.0 (2013).

    >>> from podium.metrics import Metric
    >>> Metric.parse("MeanNDCG")([3, 2], [0, 1], [0, 2])  # (0 + 1/log2(3))/2
    array([0.31546488])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import additive_swap, discount, gain, has_gain


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """The mean over ranks of the running DCG over the running ideal DCG."""
    if not has_gain(ideal, config):
        return np.nan
    n, total, reached, largest, start = len(labels), 0.0, 0.0, 0.0, 0
    while start < n:
        end = ends[start]
        worth = 0.0
        for place in range(start, end):
            worth += gain(labels[place], config)
        for place in range(start, end):
            reached += worth / (end - start) * discount(place, config)
            if place < len(ideal):
                largest += gain(ideal[place], config) * discount(place, config)
            total += reached / largest
        start = end
    return total / max(n, 1)


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """Gains, then the weight of each place: D(r)·(1/n) Σ_{k ≥ r} 1/DCG_ideal@k."""
    n, largest = len(labels), 0.0
    defined = has_gain(ideal, config)
    for place in range(n):
        work[place] = gain(labels[place], config)
        if place < len(ideal):
            largest += gain(ideal[place], config) * discount(place, config)
        work[n + place] = 1.0 / (n * largest) if defined else 0.0
    later = 0.0
    for place in range(n - 1, -1, -1):
        later += work[n + place]
        work[n + place] = discount(place, config) * later


@register
class MeanNDCG(Metric):
    """Mean NDCG: NDCG@k averaged over k = 1…n."""

    names = Names(stating("meanndcg"))
    conventions = Conventions(uses=("gain", "discount", "ideal", "floor"), cuts=False)
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
