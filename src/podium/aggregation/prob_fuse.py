"""ProbFuse: the probability of relevance in each segment of each voter's lists (Lillis et al. 2006)."""

from __future__ import annotations

import numpy as np

from podium.aggregation.place_fusion import PlaceFuse
from podium.base.arrays import Array
from podium.base.registry import param, register


@register
class ProbFuse(PlaceFuse):
    """ProbFuse: the probability of relevance in the segment of a document, over the number of the segment.

    Formula: Σ_v p_v(k)/k over the voters v that rank j in segment k, of x segments of ⌈n/x⌉ places of a list of n;
        p_v(k) is the mean over the judged queries of the share of relevant documents in segment k, 0 if it is empty.
    Ties: tied documents have the mean over their places; in training too.
    Cost: O(entries).
    Use it for: lists of about equal length and few judged queries.
    Reference: Lillis et al., ProbFuse: a probabilistic approach to data fusion, SIGIR 2006.
    """

    segments: int = param(10, least=1)
    """Segments into which a list is cut."""

    def table(self, hits: list[Array], relevant: list[int]) -> Array:
        shares = np.zeros(self.segments)
        for values in hits:
            size = -(-len(values) // self.segments)
            for k in range(self.segments):
                part = values[k * size : (k + 1) * size]
                shares[k] += part.mean() if len(part) else 0.0
        return shares / max(len(hits), 1)

    def values(self, table: Array, n: int) -> Array:
        k = np.arange(n) // max(-(-n // self.segments), 1)
        return np.asarray(table[k] / (k + 1), np.float64)
