"""Combinations of scores other than their sum: minimum, maximum, median, mean, and CombGMNZ (Fox & Shaw 1994).

>>> from podium.aggregation.rankings.rankings import Rankings
>>> votes = Rankings.from_entries(["q"] * 5, list("xxxyy"), list("ABCBD"), scores=[1.0, 0.5, 0.2, 1.0, 0.4])
>>> Comb(how="anz", normalise="none")(votes).scores.tolist()
[1.0, 0.75, 0.2, 0.4]
"""

from __future__ import annotations

import itertools
from typing import ClassVar, Literal

import numpy as np

from podium.aggregation.base import Aggregator
from podium.aggregation.combsum import Normalise, normalised, with_all_places
from podium.aggregation.place_values import lists_with, summed
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import param, register


@register
class Comb(Aggregator):
    """The minimum, maximum, median or mean of normalised scores, or CombGMNZ.

    Formula: over the lists l that rank j: min or max of ŝ_l(j); the weighted median; the weighted mean (`anz`); or
        (Σ w_l)^γ · Σ w_l ŝ_l(j) (`gmnz`), which is combmnz with γ = 1 and combsum with γ = 0. ŝ as for combsum.
    Ties: as for combsum.
    Cost: O(entries log entries).
    Use it for: `max` if systems find different documents, `min` and `median` if one may be wrong; `gmnz` to tune how
        much the number of lists counts. Usually combsum or combmnz is better.
    Reference: Fox & Shaw, Combination of multiple searches, TREC-2 1994; Lee, Analyses of multiple evidence
        combination, SIGIR 1997.
    """

    needs_scores: ClassVar[bool] = True

    gamma: float = param(1.0, least=0.0)
    """Of gmnz: the power of the number of lists."""
    how: Literal["gmnz", "min", "max", "median", "anz"] = "gmnz"
    """How normalised scores are combined."""
    normalise: Normalise = "minmax"
    """How the scores of a list are normalised; see combsum."""

    def one(self, query: QueryRankings) -> Array:
        query = with_all_places(query, self.normalise)
        scores = normalised(query, self.normalise)
        if self.how in ("min", "max"):
            ends = np.full(query.n_documents, np.inf if self.how == "min" else -np.inf)
            (np.minimum if self.how == "min" else np.maximum).at(ends, query.documents, scores)
            return ends
        if self.how == "median":
            return _medians(query, scores)
        lists, total = lists_with(query), summed(query, scores)
        return total / lists if self.how == "anz" else total * lists**self.gamma


def _medians(query: QueryRankings, scores: Array) -> Array:
    """The weighted median of each document's scores; the mean of the two middle ones if the weight is even."""  # (n,)
    order = np.lexsort((scores, query.documents))
    documents, values, weights = query.documents[order], scores[order], query.weights[query.voter_of][order]
    medians = np.empty(query.n_documents)
    cuts = np.searchsorted(documents, np.arange(query.n_documents + 1))
    for j, (a, b) in enumerate(itertools.pairwise(cuts)):
        below = np.cumsum(weights[a:b])
        half = 0.5 * below[-1]
        low, high = (below >= half * (1 - 1e-12)).argmax(), (below > half * (1 + 1e-12)).argmax()
        medians[j] = 0.5 * (values[a + low] + values[a + high])
    return medians
