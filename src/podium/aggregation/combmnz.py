"""CombMNZ: CombSUM times the number of lists that rank the document (Fox & Shaw 1994; Lee 1997).

>>> from podium.aggregation.rankings.rankings import Rankings
>>> votes = Rankings.from_entries(["q"] * 4, list("xxyy"), list("ABAC"), scores=[9.0, 1.0, 0.9, 0.8])
>>> CombMNZ()(votes).scores.tolist()
[4.0, 0.0, 0.0]
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.aggregation.base import Aggregator
from podium.aggregation.combsum import Normalise, normalised, with_all_places
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import register


@register
class CombMNZ(Aggregator):
    """CombMNZ: the sum of normalised scores, times the number of voters that rank the document.

    Formula: (Σ_k w_k) · (Σ_k w_k ŝ_k(j)), both sums over the lists that rank j; ŝ as for combsum.
    Ties: as for combsum.
    Cost: O(entries).
    Use it for: systems that find the same relevant documents but different irrelevant ones.
    Reference: Fox & Shaw, Combination of multiple searches, TREC-2 1994; Lee, Analyses of multiple evidence
        combination, SIGIR 1997.
    """

    needs_scores: ClassVar[bool] = True

    normalise: Normalise = "minmax"
    """How the scores of a list are normalised; see combsum."""

    def one(self, query: QueryRankings) -> Array:
        query = with_all_places(query, self.normalise)
        n, weights = query.n_documents, np.repeat(query.weights, np.diff(query.offsets))
        voters = np.bincount(query.documents, weights, minlength=n)
        total = np.bincount(query.documents, weights * normalised(query, self.normalise), minlength=n)
        return np.asarray(voters * total, np.float64)
