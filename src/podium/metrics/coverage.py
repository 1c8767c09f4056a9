"""Coverage: the rank of the last relevant document, how far one must read to see all of them; less is better.

Formula: max {r : y_r relevant}. Ties: the mean over all orders: the last of m relevant documents in a tie group of N
is at m (N + 1)/(m + 1) in it. Cost: O(n). Use it for: reviews that must miss nothing. Empty: no relevant document in
the list; only documents in the list count, never others that were judged. Reference: scikit-learn (`coverage_error`).

    >>> from podium.metrics import Metric
    >>> Metric.parse("coverage")([4, 3, 2, 1], [1, 2, 0, 0], [0, 4])
    array([2.])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import relevance, relevant_within


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """The expected rank of the last relevant document."""
    last, start = np.nan, 0
    while start < len(labels):
        end = ends[start]
        relevant = relevant_within(labels, start, end, config)
        if relevant > 0:
            last = start + relevant * (end - start + 1.0) / (relevant + 1.0)
        start = end
    return last


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 if relevant; the last relevant place, and the last but one; −1 if there is none."""
    n = len(labels)
    relevance(labels, config, work)
    work[n], work[n + 1] = -1.0, -1.0
    for place in range(n):
        if work[place] == 1.0:
            work[n], work[n + 1] = place, work[n]


@compiled
def swap(labels: Array, config: Array, work: Array, i: int, j: int) -> float:
    """|Δ|: the last relevant document comes up, or another falls behind it."""
    n = len(labels)
    if work[i] == work[j]:
        return 0.0
    if work[i] == 1.0:
        return max(j - work[n], 0.0)  # type: ignore[no-any-return]
    return j - max(work[n + 1], i) if work[n] == j else 0.0


@register
class Coverage(Metric):
    """Coverage: the rank of the last relevant document; less is better."""

    names = Names(stating("coverage_error"))
    conventions = Conventions(uses=("relevant",), presets={"sklearn": {"empty": "zero"}}, cuts=False)
    kernel = Kernel(measure, swaps=(prepare, swap))
    range = (0.0, float("inf"))
    normalised = False
    higher_is_better = False
