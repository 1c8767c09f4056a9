"""Number of relevant judged documents.

Formula: R, the number of relevant judged documents; reported as the total over queries. Ties: they do not matter.
Cost: O(n). Use it for: checking a run against its judgments. Empty: never.
Reference: trec_eval.

    >>> from podium.metrics import Metric
    >>> Metric.parse("num_rel")([3, 2, 1], [1, 0, 1], [0, 1, 3])
    array([1., 1.])
"""

from __future__ import annotations

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.count import Count, counting
from podium.metrics.declaration import Kernel, Names, stating
from podium.metrics.kernels import count_relevant


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """The number of relevant judged documents."""
    return float(count_relevant(ideal, config))


@register
class NumRel(Count):
    """Number of relevant judged documents."""

    names = Names(stating("numrel"))
    conventions = counting("relevant", "ideal")
    kernel = Kernel(measure, order_matters=False)
