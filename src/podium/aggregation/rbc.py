"""Rank-biased centroid (RBC): a list is worth what a user of patience φ looks at (Bailey et al. 2017).

>>> from podium.aggregation.rankings.rankings import Rankings
>>> votes = Rankings.from_orders([[["A", "B", "C"], ["B", "D"]]])
>>> RBC()(votes).scores.round(6).tolist()
[0.2, 0.36, 0.128, 0.16]
"""

from __future__ import annotations

import numpy as np

from podium.aggregation.base import Aggregator
from podium.aggregation.place_values import places, summed, tied_means
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import param, register


@register
class RBC(Aggregator):
    """Rank-biased centroid: the sum of the weights that rank-biased precision gives to ranks.

    Formula: Σ_l w_l (1 − φ) φ^(r_l(j) − 1) over the lists l that rank j; a list without j adds nothing.
    Ties: tied documents have the mean over their places.
    Cost: O(entries).
    Use it for: rank fusion with a say in how deep lists count: φ = 0.5 hardly below the first ranks, 0.98 to the 100th.
        Ranks beyond some thousand are worth less than the smallest number, and tie.
    Reference: Bailey, Moffat, Scholer & Thomas, Retrieval consistency in the presence of query variations, SIGIR 2017.
    """

    phi: float = param(0.8, above=0.0, below=1.0)
    """The probability that the user looks at the next document."""

    def one(self, query: QueryRankings) -> Array:
        return summed(query, tied_means(query, (1.0 - self.phi) * np.power(self.phi, places(query) - 1.0)))
