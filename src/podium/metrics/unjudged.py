"""Unjudged@k: the share of the first k documents without a judgment; the smaller, the more reliable are other metrics.

Formula: (documents at ranks ≤ k without a judgment, or with a negative label)/k; without k, over the whole list.
Ties: a tie group cut by k counts its share. Cost: O(n). Use it for: checking whether a test collection is fair to a
system that did not take part in its pooling. Empty: never; without separate judgments, the whole list counts as
judged.
Reference: trec_eval 10 (`unj`).

    >>> from podium.metrics import Metric
    >>> judgments = {"judged": [1], "judged_offsets": [0, 1], "unjudged": [False, True]}
    >>> Metric.parse("unjudged@2")([2, 1], [1, 0], [0, 2], **judgments)
    array([0.5])
"""

from __future__ import annotations

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import CUTOFF, NO_CUTOFF, cut


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Expected unjudged documents among the first k, over k."""
    last = cut(len(labels), config)
    listed = max(last if config[CUTOFF] == NO_CUTOFF else config[CUTOFF], 1.0)
    return expected_unjudged(labels, ends, last) / listed


@compiled
def expected_unjudged(labels: Array, ends: Ints, last: int) -> float:
    """The expected number of documents without a judgment at the first `last` places."""
    total, start = 0.0, 0
    while start < last:
        end, unjudged = ends[start], 0.0
        for place in range(start, end):
            unjudged += not labels[place] >= 0.0  # NaN or negative
        total += unjudged * ((min(end, last) - start) / (end - start))
        start = end
    return total


@register
class Unjudged(Metric):
    """Unjudged@k: the share of the first k documents without a judgment; less is better."""

    names = Names(stating("unj"))
    conventions = Conventions(can_be_empty=False)
    kernel = Kernel(measure, sees_unjudged=True)
    normalised = False
    higher_is_better = False
