"""Number of judged documents retrieved that are not relevant.

Formula: The number of documents in the list with a judgment that is below `relevant`; reported as the total over
queries. Negative labels mean pooled but not judged. Ties: they do not matter. Cost: O(n). Use it for: checking a run
against its judgments. Empty: never. Reference: trec_eval.

    >>> from podium.metrics import Metric
    >>> Metric.parse("num_nonrel_judged_ret")([3, 2, 1], [1, 0, 1], [0, 1, 3])
    array([0., 1.])
"""

from __future__ import annotations

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.count import Count, counting
from podium.metrics.declaration import Kernel
from podium.metrics.kernels import RELEVANT


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """The number of judged documents of the list that are not relevant."""
    count = 0.0
    for place in range(len(labels)):
        count += 0.0 <= labels[place] < config[RELEVANT]
    return count


@register
class NumNonrelJudgedRet(Count):
    """Number of judged documents retrieved that are not relevant."""

    conventions = counting("relevant")
    kernel = Kernel(measure, order_matters=False, sees_unjudged=True)
    higher_is_better = False
