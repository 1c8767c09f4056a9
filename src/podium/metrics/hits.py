"""Hits@k: the number of relevant documents among the first k; a mean over queries.

Formula: Σ_{r ≤ k} [y_r relevant]. Ties: a tie group cut by k counts its share of relevant documents. Cost: O(n). Use
it for: counts that need no explanation; num-rel-ret is their total over all queries. Empty: no relevant judged
document.

    >>> from podium.metrics import Metric
    >>> Metric.parse("hits@2")([3, 2, 1], [1, 0, 1], [0, 3])
    array([1.])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel
from podium.metrics.kernels import additive_swap, cut, expected_hits, has_relevant, relevance


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Expected hits among the first k."""
    return expected_hits(labels, ends, cut(len(labels), config), config) if has_relevant(ideal, config) else np.nan


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 if relevant, then 1 at the first k places."""
    n = len(labels)
    relevance(labels, config, work)
    for place in range(n):
        work[n + place] = 1.0 if place < cut(n, config) else 0.0


@register
class Hits(Metric):
    """Hits@k: the number of relevant documents among the first k."""

    conventions = Conventions(uses=("relevant", "short", "ideal"))
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    range = (0.0, float("inf"))
    normalised = False
