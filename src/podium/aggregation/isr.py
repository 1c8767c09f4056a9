"""Inverse square rank fusion (ISR): the sum of 1/rank², times the number of lists (Mourão, Martins & Magalhães 2015).

>>> from podium.aggregation.rankings.rankings import Rankings
>>> votes = Rankings.from_orders([[["A", "B", "C"], ["B", "D"]]])
>>> ISR()(votes).scores.round(6).tolist()
[1.0, 2.5, 0.111111, 0.25]
"""

from __future__ import annotations

import numpy as np

from podium.aggregation.base import Aggregator
from podium.aggregation.place_values import lists_with, places, summed, tied_means
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import param, register


@register
class ISR(Aggregator):
    """Inverse square rank fusion: the sum of inverse squared ranks, times the number of lists.

    Formula: N(j) · Σ_l w_l/r_l(j)² over the lists l that rank j, N(j) = Σ_l w_l the weight of those lists; with
        log=true log(N(j) + sigma) in place of N(j), which is 0 for a document of one list of weight 1 if sigma is 0.
    Ties: tied documents have the mean over their places.
    Cost: O(entries).
    Use it for: few good systems whose first documents can be trusted, and which agree on what is relevant.
    Reference: Mourão, Martins & Magalhães, Multimodal medical information retrieval with unsupervised rank fusion,
        2015.
    """

    sigma: float = param(0.0, least=0.0, most=1.0)
    """Added to the number of lists within the logarithm."""
    log: bool = False
    """Whether the logarithm of the number of lists counts instead of the number."""

    def one(self, query: QueryRankings) -> Array:
        lists = lists_with(query)
        shares = summed(query, tied_means(query, places(query) ** -2))
        return shares * (np.log(lists + self.sigma) if self.log else lists)
