"""MAPFuse: 1/rank, weighted by the mean average precision of each voter (Lillis et al. 2010)."""

from __future__ import annotations

import numpy as np

from podium.aggregation.place_fusion import PlaceFuse
from podium.base.arrays import Array
from podium.base.registry import register


@register
class MapFuse(PlaceFuse):
    """MAPFuse: reciprocal ranks, weighted by the mean average precision of each voter.

    Formula: Σ_v MAP_v/r_v(j) over the voters v that rank j; MAP_v over the judged queries, in which AP divides by the
        relevant documents that any voter ranks.
    Ties: tied documents have the mean over their places; in training too.
    Cost: O(entries).
    Use it for: few judged queries, where one number a voter is all that can be learned.
    Reference: Lillis et al., Estimating probabilities for effective data fusion, SIGIR 2010.
    """

    def table(self, hits: list[Array], relevant: list[int]) -> Array:
        precisions = [np.cumsum(values) / np.arange(1, len(values) + 1) for values in hits]
        parts = zip(precisions, hits, relevant, strict=True)
        return np.array([np.mean([float(p @ values) / most for p, values, most in parts])])

    def values(self, table: Array, n: int) -> Array:
        return np.asarray(table[0] / np.arange(1, n + 1), np.float64)
