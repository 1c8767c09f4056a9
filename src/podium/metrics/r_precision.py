"""R-precision: precision at R, the number of relevant documents.

Formula: (relevant documents at ranks ≤ R)/R, R the number of relevant judged documents.
Ties: a tie group cut by R counts its share of relevant documents. Cost: O(n). Use it for: queries with very different
numbers of relevant documents. Empty: R = 0. Reference: Buckley and Voorhees (2005).

    >>> from podium.metrics import Metric
    >>> Metric.parse("Rprec")([3, 2, 1], [1, 0, 1], [0, 3])
    array([0.5])
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from podium.compiled import compiled
from podium.metrics.base import Metric, Stated, stating
from podium.metrics.kernels import Array, Places, additive_swap, count_relevant, relevance, relevant_within
from podium.registry import register


@compiled
def measure(labels: Array, ends: Places, ideal: Array, config: Array) -> float:
    """Expected hits among the first R, over R."""
    found = count_relevant(ideal, config)
    if found == 0:
        return np.nan
    last, hits, start = min(found, len(labels)), 0.0, 0
    while start < last:
        end = ends[start]
        hits += relevant_within(labels, start, end, config) * ((min(end, last) - start) / (end - start))
        start = end
    return hits / found


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 where relevant, then 1/R at the first R places."""
    n, found = len(labels), count_relevant(ideal, config)
    relevance(labels, config, work)
    for place in range(n):
        work[n + place] = 1.0 / found if place < found else 0.0


@register
class RPrecision(Metric):
    """R-precision: precision at R, the number of relevant documents."""

    uses: ClassVar[tuple[str, ...]] = ("relevant", "ideal")
    spellings: ClassVar[Stated] = stating("rprec", "r_prec", "rprecision")
    cuts: ClassVar[bool] = False
    measure: ClassVar[Any] = staticmethod(measure)
    swaps: ClassVar[tuple[Any, Any] | None] = (prepare, additive_swap)
