"""SegFuse: the probability of relevance in segments that double, times the normalised score (Shokouhi 2007)."""

from __future__ import annotations

import numpy as np

from podium.aggregation.place_fusion import PlaceFuse, ScoredPlaceFusion, segment_shares, up_to
from podium.base.arrays import Array
from podium.base.registry import register

_ENDS = np.concatenate([[0.0], 10.0 * 2.0 ** np.arange(10) - 5.0])  # of segments of 5, 10, 20 … places


@register
class SegFuse(PlaceFuse):
    """SegFuse: the probability of relevance in the segment of a document, times 1 plus its normalised score.

    Formula: Σ_v p_v(k) (1 + ŝ_v(j)) over the voters v that rank j in segment k; segments end at places 5, 15, 35, 75 …
        10·2^(k − 1) − 5, p_v(k) is the mean over the judged queries of relevant documents in segment k by its size,
        and ŝ the score within 0 and 1 of its list.
    Ties: tied documents have the mean over their places; in training too.
    Cost: O(entries).
    Use it for: lists of hundreds of documents with meaningful scores.
    Reference: Shokouhi, Segmentation of search engine results for effective data-fusion, ECIR 2007.
    """

    fusion = ScoredPlaceFusion

    def table(self, hits: list[Array], relevant: list[int]) -> Array:
        return segment_shares(hits, _ENDS)

    def values(self, table: Array, n: int) -> Array:
        return up_to(np.repeat(table, np.diff(_ENDS).astype(np.int64)), n)
