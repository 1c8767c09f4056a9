"""Number of relevant documents retrieved.

Formula: The number of relevant documents in the list; reported as the total over queries. Ties: they do not matter.
Cost: O(n). Use it for: checking a run against its judgments. Empty: never.
Reference: trec_eval.

    >>> from podium.metrics import Metric
    >>> Metric.parse("num_rel_ret")([3, 2, 1], [1, 0, 1], [0, 1, 3])
    array([1., 1.])
"""

from __future__ import annotations

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.count import Count, counting
from podium.metrics.declaration import Kernel, Names, stating
from podium.metrics.kernels import relevant_within


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """The number of relevant documents in the list."""
    return float(relevant_within(labels, 0, len(labels), config))


@register
class NumRelRet(Count):
    """Number of relevant documents retrieved."""

    names = Names(stating("numrelret"))
    conventions = counting("relevant")
    kernel = Kernel(measure, order_matters=False)
