"""Mean label@k: the mean of the labels of the first k documents.

Formula: Σ_{r ≤ k} y_r/min(k, n). Ties: a tie group cut by k counts its mean label. Cost: O(n). Use it for: labels that
are amounts, such as prices or ratings. They may be negative. Empty: no documents. Reference: CatBoost
(`QueryAverage`).

    >>> from podium.metrics import Metric
    >>> Metric.parse("QueryAverage:top=2")([4, 3, 2, 1], [1, 2, 0, 0], [0, 4])
    array([1.5])
"""

from __future__ import annotations

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import additive_swap, cut


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """The expected mean of the first labels."""
    last, total, start = cut(len(labels), config), 0.0, 0
    while start < last:
        end, within = ends[start], 0.0
        for place in range(start, end):
            within += labels[place]
        total += within * ((min(end, last) - start) / (end - start))
        start = end
    return total / max(last, 1)


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """Labels, then 1/min(k, n) at the first k places."""
    n, last = len(labels), cut(len(labels), config)
    for place in range(n):
        work[place] = labels[place]
        work[n + place] = 1.0 / last if place < last else 0.0


@register
class MeanLabel(Metric):
    """Mean label@k: the mean of the labels of the first k documents."""

    names = Names(stating("queryaverage"))
    conventions = Conventions(uses=("short",), can_be_empty=False)
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    range = (float("-inf"), float("inf"))
    normalised = False
