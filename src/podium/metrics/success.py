"""Success@k: 1 if there is a relevant document among the first k, else 0.

Formula: 1[some y_r relevant, r ≤ k]. Success@1 is WTA (winner takes all): whether the first document is relevant.
Ties: in a tie group of N documents with m relevant, of which k cuts off all but t, the first t hold a relevant one
with probability 1 − C(N − m, t)/C(N, t). Cost: O(n). Use it for: navigational queries. Empty: no relevant judged
document.

    >>> from podium.metrics import Metric
    >>> Metric.parse("success@1")([2, 1, 1, 1], [0, 1, 1, 0], [0, 2, 4])
    array([0. , 0.5])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import cut, first_relevant_group, has_relevant, relevance


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """1 − P(no relevant document among the first k)."""
    if not has_relevant(ideal, config):
        return np.nan
    last = cut(len(labels), config)
    start, relevant = first_relevant_group(labels, ends, last, config)
    if relevant == 0:
        return 0.0
    end, none = ends[start], 1.0
    for taken in range(min(end, last) - start):
        none *= max(1.0 - relevant / (end - start - taken), 0.0)
    return 1.0 - none


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 if relevant; then the number of relevant documents among the first k; whether success is defined."""
    n = len(labels)
    relevance(labels, config, work)
    work[n] = 0.0
    for place in range(cut(n, config)):
        work[n] += work[place]
    work[n + 1] = 1.0 if has_relevant(ideal, config) else 0.0


@compiled
def swap(labels: Array, config: Array, work: Array, i: int, j: int) -> float:
    """|ΔSuccess|: 1 if the swap brings in the only relevant document of the first k, or takes it out."""
    n, last = len(labels), cut(len(labels), config)
    if i >= last or j < last or work[i] == work[j]:
        return 0.0
    after = work[n] + work[j] - work[i]
    return abs(min(after, 1.0) - min(work[n], 1.0)) * work[n + 1]  # type: ignore[no-any-return]


@register
class Success(Metric):
    """Success@k: whether there is a relevant document among the first k; success@1 is WTA, winner takes all."""

    names = Names(
        {
            **stating("wta", "winner_takes_all", "winners_take_all", cutoff=1),
            **stating("hit_rate", "hitrate", "hit", "hr"),
        }
    )
    conventions = Conventions(uses=("relevant", "short", "ideal"))
    kernel = Kernel(measure, swaps=(prepare, swap))
