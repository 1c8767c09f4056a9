"""Recall@k: the fraction of the relevant documents that are among the first k.

Formula: (relevant documents at ranks ≤ k)/R, R the number of relevant judged documents; without k, as in trec_eval's
`set_recall`. Ties: a tie group cut by k counts its share of relevant documents. Cost: O(n). Use it for: first stages
that others re-rank. Empty: R = 0.

    >>> from podium.metrics import Metric
    >>> Metric.parse("recall_2")([3, 2, 1], [1, 0, 1], [0, 3])
    array([0.5])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import additive_swap, count_relevant, cut, expected_hits, relevance


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Hits over R."""
    n_relevant = count_relevant(ideal, config)
    return expected_hits(labels, ends, cut(len(labels), config), config) / n_relevant if n_relevant > 0 else np.nan


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 if relevant, then 1/R at the first k places."""
    n, n_relevant = len(labels), count_relevant(ideal, config)
    relevance(labels, config, work)
    for place in range(n):
        work[n + place] = 1.0 / n_relevant if place < cut(n, config) and n_relevant > 0 else 0.0


@register
class Recall(Metric):
    """Recall@k: the fraction of the relevant documents that are among the first k."""

    names = Names(stating("r", "recallat", "set_recall", "setr"))
    conventions = Conventions(uses=("relevant", "short", "ideal"), presets={"catboost": {"empty": "one"}})
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    normalised = False
