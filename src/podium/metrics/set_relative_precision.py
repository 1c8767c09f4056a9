"""Set relative precision: the relevant documents of the whole list, over the largest number it could hold.

Formula: hits/min(n, R), with n documents in the list and R relevant judged ones. Ties: they do not matter. Cost: O(n).
Use it for: unranked results of different sizes. Empty: no relevant judged document. Reference: trec_eval.

    >>> from podium.metrics import Metric
    >>> Metric.parse("set_relative_P")([2, 1], [1, 0], [0, 2])
    array([1.])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import count_relevant, relevant_within


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Hits over min(n, R)."""
    n_relevant, n = count_relevant(ideal, config), len(labels)
    if n_relevant == 0:
        return np.nan
    return relevant_within(labels, 0, n, config) / max(min(n, n_relevant), 1)


@register
class SetRelativePrecision(Metric):
    """Set relative precision: the relevant documents of the whole list, over the largest number it could hold."""

    names = Names(stating("set_relative_p"))
    conventions = Conventions(uses=("relevant", "ideal"), cuts=False)
    kernel = Kernel(measure, order_matters=False)
