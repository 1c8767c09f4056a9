"""Judged@k: the share of the first k documents that have a judgment; the larger, the more reliable are other metrics.

Formula: (documents at ranks ≤ k with a judgment)/min(k, n); without k, over the whole list. A negative label, pooled
but not judged, is none. Ties: a tie group cut by k counts its share. Cost: O(n). Use it for: checking whether a test
collection is fair to a system that did not take part in its pooling. Empty: never; without separate judgments, the
whole list counts as judged. Reference: ir_measures.

    >>> from podium.metrics import Metric
    >>> judgments = {"judged": [1], "judged_offsets": [0, 1], "unjudged": [False, True]}
    >>> Metric.parse("Judged@2")([2, 1], [1, 0], [0, 2], **judgments)
    array([0.5])
"""

from __future__ import annotations

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel
from podium.metrics.kernels import cut
from podium.metrics.unjudged import expected_unjudged


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """1 − the share of unjudged documents; 0 of no documents."""
    last = cut(len(labels), config)
    return 1.0 - expected_unjudged(labels, ends, last) / last if last > 0 else 0.0


@register
class Judged(Metric):
    """Judged@k: the share of the first k documents that have a judgment."""

    conventions = Conventions(can_be_empty=False)
    kernel = Kernel(measure, sees_unjudged=True)
    normalised = False
