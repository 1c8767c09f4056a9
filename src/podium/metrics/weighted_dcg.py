"""Weighted DCG@k: the share of all weight that a ranking brings to the top, for weights made of clicks.

Formula: Σ_{r ≤ k} w_r D(r) / Σ_d w_d, with w_r the weight of the document at rank r, read from its label, and D the
discount of the convention. With w = clicks over propensities it estimates, up to a constant, the DCG of relevance
without the bias of positions (Joachims, Swaminathan and Schnabel, 2017).
Ties: each place of a tie group has the mean weight of the group.
Cost: O(n). Use it for: validation data with document weights and no grades. Empty: the weights do not add up to more
than 0. Weights may be negative where clicks were corrected for trust; then it can leave its range.

    >>> from podium.metrics import Metric
    >>> Metric.parse("weighted-dcg@2")([3, 2, 1], [4.0, 0.0, 6.0], [0, 3])  # 4/(4 + 6)
    array([0.4])
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from podium.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.kernels import Array, Places, additive_swap, cut, discount
from podium.registry import register


@compiled
def _total(weights: Array) -> float:
    total = 0.0
    for weight in weights:
        total += weight
    return total


@compiled
def measure(labels: Array, ends: Places, ideal: Array, config: Array) -> float:
    """Σ_{r ≤ k} w̄_r D(r) / Σ w, with w̄_r the mean weight of the documents tied with rank r."""
    total = _total(ideal)
    if not total > 0.0:
        return np.nan
    last, found, start = cut(len(labels), config), 0.0, 0
    while start < last:
        end, weights, discounts = ends[start], 0.0, 0.0
        for place in range(start, end):
            weights += labels[place]
            discounts += discount(place, config) if place < last else 0.0
        found += weights * discounts / (end - start)
        start = end
    return found / total


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """Shares of the weight, then discounts."""
    n, total = len(labels), _total(ideal)
    for place in range(n):
        work[place] = labels[place] / total if total > 0.0 else 0.0
        work[n + place] = discount(place, config) if place < cut(n, config) else 0.0


@register
class WeightedDCG(Metric):
    """The share of all weight that a ranking brings to the top, discounted by rank."""

    uses: ClassVar[tuple[str, ...]] = ("discount", "short", "ideal")
    normalised: ClassVar[bool] = False
    measure: ClassVar[Any] = staticmethod(measure)
    swaps: ClassVar[tuple[Any, Any] | None] = (prepare, additive_swap)
