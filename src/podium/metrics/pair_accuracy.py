"""Pair accuracy: the fraction of pairs with different labels that the scores put in the right order.

Formula: (C + T/2)/(C + D + T), with C concordant and D discordant pairs, T pairs of equal score but different labels.
Ties: half a point, the mean of both orders. Cost: O(n log n). Use it for: preferences; with two grades it is the area
under the ROC curve. Empty: no two labels differ. Only documents in the list count, never others that were judged.

    >>> from podium.metrics import Metric
    >>> Metric.parse("PairAccuracy")([3, 2, 1], [1, 2, 0], [0, 3])
    array([0.66666667])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.pair_counts import count_pairs


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """The fraction of concordant pairs."""
    agree, differ, same_score, _ = count_pairs(labels, ends)
    pairs = agree + differ + same_score
    return (agree + 0.5 * same_score) / pairs if pairs > 0.0 else np.nan


@register
class PairAccuracy(Metric):
    """Pair accuracy: the fraction of pairs with different labels in the right order."""

    names = Names(stating("pairaccuracy", "pairwise_accuracy", "accuracy", "opa", "ordered_pair_accuracy"))
    conventions = Conventions(cuts=False)
    kernel = Kernel(measure)
