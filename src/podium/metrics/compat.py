"""Compatibility: rank-biased overlap with an ideal order of the relevant documents, over the largest such overlap.

Formula: Σ_d p^(d − 1) |A_d|/d over the same sum with min(d, R) in place of |A_d|, d = 1…max(n, R), with A_d the
documents among the first d of both the list and the ideal. The ideal has the R relevant judged documents by falling
label, those of equal label in the order of the list.
Ties: the mean over all orders of tied documents, exactly: how many documents of a label are among the first d of a tie
group is hypergeometric. Cost: O(n), in tie groups O(depths that matter²). Use it for: graded or partial ideal lists,
such as the answers of a preference sort. Empty: no relevant judged document. Reference: Clarke, Vtyurina and Smucker
(2021).

    >>> from podium.metrics import Metric
    >>> Metric.parse("Compat(p=0.95)")([4, 3, 2, 1], [1, 2, 0, 0], [0, 4]).round(6)
    array([0.664469])
"""

from __future__ import annotations

import math

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import OWN, count_relevant


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Σ_d p^(d − 1) E|A_d|/d, over that of the best list."""
    n_relevant = count_relevant(ideal, config)
    if n_relevant == 0:
        return np.nan
    n, weight, total, largest = len(labels), 1.0, 0.0, 0.0
    above, start, depth = 0, 0, 0  # ideal documents of larger labels; the tie group
    larger_before, equal_before = 0, 0  # in the list before the tie group: of larger labels, of this one
    while depth < max(n, n_relevant) and weight > _NOTHING:
        if 0 < depth < n_relevant and ideal[depth] < ideal[depth - 1]:
            above, larger_before = depth, larger_before + equal_before
            equal_before = _count(labels, 0, start, ideal[depth])
        level = ideal[min(depth, n_relevant - 1)]
        depth += 1
        while start < n and ends[start] < depth:
            larger_before += _larger(labels, start, ends[start], level)
            equal_before += _count(labels, start, ends[start], level)
            start = ends[start]
        overlap = float(larger_before)
        room = min(depth, n_relevant) - above
        if start < n:
            size, taken = ends[start] - start, min(depth, ends[start]) - start
            overlap += _larger(labels, start, ends[start], level) * (taken / size)
            overlap += _expected_least(size, _count(labels, start, ends[start], level), taken, equal_before, room)
        else:
            overlap += min(equal_before, room)
        total += weight * overlap / depth
        largest += weight * min(depth, n_relevant) / depth
        weight *= config[OWN]
    return total / largest


@compiled
def _count(labels: Array, start: int, end: int, level: float) -> int:
    count = 0
    for place in range(start, end):
        count += labels[place] == level
    return count


@compiled
def _larger(labels: Array, start: int, end: int, level: float) -> int:
    count = 0
    for place in range(start, end):
        count += labels[place] > level
    return count


@compiled
def _expected_least(size: int, among: int, taken: int, before: int, room: int) -> float:
    """E[min(before + X, room)], X of `among` documents in `taken` drawn from `size`."""
    low, high = max(0, taken - (size - among)), min(among, taken)
    if before + high <= room:
        return before + taken * (among / size)
    logarithm = _log_choose(among, low) + _log_choose(size - among, taken - low) - _log_choose(size, taken)
    total = 0.0
    for drawn in range(low, high + 1):
        total += np.exp(logarithm) * min(before + drawn, room)
        if drawn < high:
            logarithm += np.log(
                (among - drawn) * (taken - drawn) / ((drawn + 1.0) * (size - among - taken + drawn + 1.0))
            )
    return total


@compiled
def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


_NOTHING = 1e-18  # a weight too small to change a sum of order 1


@register
class Compat(Metric):
    """Compatibility: rank-biased overlap with an ideal order, over its largest value."""

    p: float = param(default=0.95, above=0.0, below=1.0)
    """The probability that the user looks one rank deeper."""
    names = Names(stating("compatibility"), number="p")
    conventions = Conventions(
        uses=("relevant", "ideal"), words={"p": ("the next rank is looked at with probability", str)}, cuts=False
    )
    kernel = Kernel(measure)
