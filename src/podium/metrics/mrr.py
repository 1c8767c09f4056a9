"""MRR: mean reciprocal rank of the first relevant document.

Formula: RR@k = 1/r for the first relevant document, at rank r; 0 if r > k or there is none in the list.
Ties: in the first tie group with a relevant document, m among N, the first one takes its t-th place with probability
C(N − t, m − 1)/C(N, m). Cost: O(n). Use it for: queries with one answer. Empty: no relevant judged document.
Reference: Voorhees (1999); ties: McSherry and Najork (2008).

    >>> from podium.metrics import Metric
    >>> Metric.parse("recip_rank")([3, 2, 1], [0, 1, 1], [0, 3])
    array([0.5])
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
    """Σ_t P(the first relevant document is at the t-th place of its tie group)/r."""
    if not has_relevant(ideal, config):
        return np.nan
    last = cut(len(labels), config)
    start, relevant = first_relevant_group(labels, ends, last, config)
    if relevant == 0:
        return 0.0
    left, total, none_yet = ends[start] - start, 0.0, 1.0  # the chance that no relevant document came before the place
    for place in range(start, min(ends[start], last)):
        total += none_yet * (relevant / left) / (place + 1.0)
        none_yet *= 1.0 - relevant / left
        left -= 1
        if none_yet <= 0.0:
            break
    return total


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 if relevant; then the places of the first and second relevant documents, n if there is none."""
    n = len(labels)
    relevance(labels, config, work)
    work[n], work[n + 1] = n, n
    for place in range(n - 1, -1, -1):
        if work[place] == 1.0:
            work[n], work[n + 1] = place, work[n]
    work[n + 2] = 1.0 if has_relevant(ideal, config) else 0.0


@compiled
def swap(labels: Array, config: Array, work: Array, i: int, j: int) -> float:
    """|ΔRR|: only the place of the first relevant document matters."""
    n = len(labels)
    first, second = int(work[n]), int(work[n + 1])
    after = first
    if work[j] > work[i]:
        after = min(first, i)
    elif work[i] > work[j] and i == first:
        after = min(second, j)
    last = cut(n, config)
    now = 1.0 / (first + 1.0) if first < last else 0.0
    then = 1.0 / (after + 1.0) if after < last else 0.0
    return abs(then - now) * work[n + 2]  # type: ignore[no-any-return]


@register
class MRR(Metric):
    """MRR: the reciprocal rank of the first relevant document."""

    names = Names(stating("rr", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank"))
    conventions = Conventions(uses=("relevant", "short", "ideal"))
    kernel = Kernel(measure, swaps=(prepare, swap))
