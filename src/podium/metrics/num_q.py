"""Number of queries.

Formula: 1 for each query; reported as the total over queries. Ties: they do not matter. Cost: O(n).
Use it for: checking a run against its judgments. Empty: never. Reference: trec_eval.

    >>> from podium.metrics import Metric
    >>> Metric.parse("num_q")([3, 2, 1], [1, 0, 1], [0, 1, 3])
    array([1., 1.])
"""

from __future__ import annotations

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.count import Count, counting
from podium.metrics.declaration import Kernel, Names, stating


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """1 for each query."""
    return 1.0


@register
class NumQ(Count):
    """Number of queries."""

    names = Names(stating("numq"))
    conventions = counting()
    kernel = Kernel(measure, order_matters=False)
