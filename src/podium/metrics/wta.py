"""WTA: winner takes all, 1 if the first document is relevant, else 0.

Formula: 1[y_1 relevant]; with grades, relevant means a label of at least `relevant`. trec_eval calls it success_1.
Ties: the share of relevant documents among those tied for the first place. Cost: O(1) without ties.
Use it for: navigational queries. Empty: no relevant judged document.

    >>> from podium.metrics import Metric
    >>> Metric.parse("wta")([2, 1, 1, 1], [0, 1, 1, 0], [0, 2, 4])
    array([0. , 0.5])
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from podium.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.kernels import Array, Places, additive_swap, has_relevant, relevance, relevant_within
from podium.registry import register


@compiled
def measure(labels: Array, ends: Places, ideal: Array, config: Array) -> float:
    """The share of relevant documents at the top."""
    if not has_relevant(ideal, config):
        return np.nan
    return relevant_within(labels, 0, ends[0], config) / ends[0] if len(labels) > 0 else 0.0


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 where relevant, then 1 at the first place."""
    n = len(labels)
    relevance(labels, config, work)
    for place in range(n):
        work[n + place] = 1.0 if place == 0 else 0.0


@register
class WTA(Metric):
    """WTA: whether the first document is relevant."""

    uses: ClassVar[tuple[str, ...]] = ("relevant", "ideal")
    cuts: ClassVar[bool] = False
    measure: ClassVar[Any] = staticmethod(measure)
    swaps: ClassVar[tuple[Any, Any] | None] = (prepare, additive_swap)
