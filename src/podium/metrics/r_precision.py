"""R-precision: precision at R, the number of relevant documents.

Formula: (relevant documents at ranks ≤ R)/R, R the number of relevant judged documents.
Ties: a tie group cut by R counts its share of relevant documents. Cost: O(n). Use it for: queries with very different
numbers of relevant documents. Empty: R = 0. Reference: Buckley and Voorhees (2005).

    >>> from podium.metrics import Metric
    >>> Metric.parse("Rprec")([3, 2, 1], [1, 0, 1], [0, 3])
    array([0.5])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import additive_swap, count_relevant, expected_hits, relevance


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Expected hits among the first R, over R."""
    n_relevant = count_relevant(ideal, config)
    return expected_hits(labels, ends, min(n_relevant, len(labels)), config) / n_relevant if n_relevant > 0 else np.nan


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 if relevant, then 1/R at the first R places."""
    n, n_relevant = len(labels), count_relevant(ideal, config)
    relevance(labels, config, work)
    for place in range(n):
        work[n + place] = 1.0 / n_relevant if place < n_relevant else 0.0


@register
class RPrecision(Metric):
    """R-precision: precision at R, the number of relevant documents."""

    names = Names(stating("rprec", "r_prec", "rprecision"))
    conventions = Conventions(uses=("relevant", "ideal"), cuts=False)
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
