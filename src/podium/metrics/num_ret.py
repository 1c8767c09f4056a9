"""Number of retrieved documents.

Formula: The length of the list; reported as the total over queries. Ties: they do not matter. Cost: O(n).
Use it for: checking a run against its judgments. Empty: never. Reference: trec_eval.

    >>> from podium.metrics import Metric
    >>> Metric.parse("num_ret")([3, 2, 1], [1, 0, 1], [0, 1, 3])
    array([1., 2.])
"""

from __future__ import annotations

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.count import Count, counting
from podium.metrics.declaration import Kernel, Names, stating


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """The length of the list."""
    return float(len(labels))


@register
class NumRet(Count):
    """Number of retrieved documents."""

    names = Names(stating("numret"))
    conventions = counting()
    kernel = Kernel(measure, order_matters=False)
