"""BayesFuse: the log odds of relevance at a document's ranks (Aslam & Montague 2001)."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from podium.aggregation.place_fusion import PlaceFuse, segment_shares, up_to
from podium.base.arrays import Array
from podium.base.registry import register

_ENDS = np.array([0.0, 5, 10, 15, 20, 30, 100, 200, 500, 1000])


@register
class BayesFuse(PlaceFuse):
    """BayesFuse: the sum of the log odds of relevance in the segments of ranks in which a document is.

    Formula: Σ_v log(p_v(k)/(1 − p_v(k))), k the segment of r_v(j): ranks 1–5, –10, –15, –20, –30, –100, –200, –500,
        –1000; p_v(k) is the mean over the judged queries of relevant documents in it by its size, 0.001 in place of 0.
        A document that a list lacks, or has behind rank 1000, gets log(0.001/0.999) from it.
    Ties: tied documents have the mean over their places; in training too.
    Cost: O(entries).
    Use it for: systems that err independently of each other; correlated ones are counted twice.
    Reference: Aslam & Montague, Models for metasearch, SIGIR 2001.
    """

    absent: ClassVar[float] = math.log(0.001 / 0.999)

    def table(self, hits: list[Array], relevant: list[int]) -> Array:
        shares = segment_shares(hits, _ENDS)
        likely, unlikely = np.where(shares == 0.0, 0.001, shares), 1.0 - np.where(shares == 0.0, 0.001, shares)
        return np.log(likely / np.where(unlikely == 0.0, 0.001, unlikely))

    def values(self, table: Array, n: int) -> Array:
        return up_to(np.repeat(table, np.diff(_ENDS).astype(np.int64)), n, self.absent)
