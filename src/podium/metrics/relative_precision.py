"""Relative precision@k: the relevant documents among the first k, over the largest number that there could be.

Formula: (relevant documents at ranks ≤ k)/min(k, R), R the number of relevant judged documents; without k, n in place
of k, as in trec_eval's `set_relative_P`. Ties: a tie group cut by k counts its share of relevant documents. Cost:
O(n). Use it for: P@k over queries with few relevant documents. Empty: R = 0. Reference: trec_eval.

    >>> from podium.metrics import Metric
    >>> Metric.parse("relative_P_3")([3, 2, 1], [1, 0, 0], [0, 3])
    array([1.])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import (
    CUTOFF,
    NO_CUTOFF,
    additive_swap,
    count_relevant,
    cut,
    expected_hits,
    relevance,
)


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Expected hits over min(k, R)."""
    most = _most(len(labels), ideal, config)
    return expected_hits(labels, ends, cut(len(labels), config), config) / most if most > 0.0 else np.nan


@compiled
def _most(n: int, ideal: Array, config: Array) -> float:
    """min(k, R); 0 if R is."""
    depth = config[CUTOFF] if config[CUTOFF] < NO_CUTOFF else max(n, 1)
    return min(depth, count_relevant(ideal, config))


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 if relevant, then 1/min(k, R) at the first k places."""
    n, most = len(labels), _most(len(labels), ideal, config)
    relevance(labels, config, work)
    for place in range(n):
        work[n + place] = 1.0 / most if place < cut(n, config) and most > 0.0 else 0.0


@register
class RelativePrecision(Metric):
    """Relative precision@k: the relevant documents among the first k, over the largest number that there could be."""

    names = Names(stating("relative_p", "set_relative_p", "set_relative_precision"))
    conventions = Conventions(uses=("relevant", "short", "ideal"))
    kernel = Kernel(measure, swaps=(prepare, additive_swap))

    @property
    def order_matters(self) -> bool:
        return self.cutoff is not None
