"""Set MAP: the precision of the whole list times its recall, whatever its order.

Formula: P·R, with P and R the precision and recall of the list. Ties: they do not matter. Cost: O(n).
Use it for: unranked results. Empty: no relevant judged document. Reference: trec_eval.

    >>> from podium.metrics import Metric
    >>> Metric.parse("set_map")([2, 1], [1, 0], [0, 2], judged=[1, 1, 0], judged_offsets=[0, 3])
    array([0.25])
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
    """Hits² over n R."""
    n_relevant, n = count_relevant(ideal, config), len(labels)
    if n_relevant == 0:
        return np.nan
    hits = float(relevant_within(labels, 0, n, config))
    return hits * hits / (max(n, 1) * n_relevant)


@register
class SetMAP(Metric):
    """Set MAP: the precision of the whole list times its recall."""

    names = Names(stating("setap"))
    conventions = Conventions(uses=("relevant", "ideal"), cuts=False)
    kernel = Kernel(measure, order_matters=False)
    normalised = False
