"""DCG@k: discounted cumulative gain.

Formula: DCG = Σ_{r ≤ k} G(y_r) D(r), with y_r the label at rank r, G the gain and D the discount of the convention.
Ties: the mean over all orders of tied documents, exactly: each place of a tie group has its mean gain.
Cost: O(n). Use it for: totals; to compare queries, NDCG. Empty: no judged document with a gain above 0.
Reference: Järvelin and Kekäläinen (2002); ties: McSherry and Najork (2008).

    >>> from podium.metrics import Metric
    >>> Metric.parse("dcg@3")([7, 6, 5, 4, 3, 2, 1], [2, 3, 2, 3, 1, 1, 1], [0, 7]).round(2)
    array([8.92])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names
from podium.metrics.kernels import additive_swap, cut, discount, gain, has_gain


@compiled
def expected_dcg(labels: Array, ends: Ints, config: Array) -> float:
    """Σ_{r ≤ k} ḡ_r D(r), with ḡ_r the mean gain of the documents tied with rank r."""
    last, total = cut(len(labels), config), 0.0
    gains, discounts, size = 0.0, 0.0, 0  # of the present tie group
    for place in range(len(labels)):
        gains += gain(labels[place], config)
        discounts += discount(place, config) if place < last else 0.0
        size += 1
        if ends[place] == place + 1:
            total += gains * discounts / size if size > 1 else gains * discounts
            gains, discounts, size = 0.0, 0.0, 0
            if place + 1 >= last:
                break
    return total


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """DCG; NaN if no judged document has a gain."""
    if not has_gain(ideal, config):
        return np.nan
    return expected_dcg(labels, ends, config)


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """Gains, then discounts."""
    n = len(labels)
    for place in range(n):
        work[place] = gain(labels[place], config)
        work[n + place] = discount(place, config) if place < cut(n, config) else 0.0


@register
class DCG(Metric):
    """DCG@k: discounted cumulative gain."""

    names = Names({"dcg_burges": {"gain": "exp2"}, "dcg_score": {"gain": "linear"}})
    conventions = Conventions(uses=("gain", "discount", "short", "ideal", "floor"), presets={"ranklib": {"cutoff": 10}})
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    range = (0.0, float("inf"))
    normalised = False
