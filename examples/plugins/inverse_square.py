"""The sum of 1/rank² over the lists: the top counts, the rest hardly does."""

import numpy as np

from podium.aggregation.base import Aggregator
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import register


@register
class InverseSquare(Aggregator):
    """The sum of inverse squared ranks.

    Formula: Σ_l w_l / r_l(j)² over the lists l that rank j; a list that leaves j out adds nothing.
    Ties: tied documents have the same rank.
    Cost: O(entries).
    Use it for: a few good voters whose first documents can be trusted.
    Reference: none; the example of CONTRIBUTING.md.
    """

    def one(self, query: QueryRankings) -> Array:
        weights = query.weights[query.voter_of] / query.ranks.astype(np.float64) ** 2
        return np.bincount(query.documents, weights, minlength=query.n_documents).astype(np.float64)
