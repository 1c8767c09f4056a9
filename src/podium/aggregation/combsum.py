"""CombSUM: the sum of the voters' scores, each list normalised first (Fox & Shaw 1994).

>>> from podium.aggregation.rankings.rankings import Rankings
>>> votes = Rankings.from_entries(["q"] * 4, list("xxyy"), list("ABAC"), scores=[9.0, 1.0, 0.2, 0.8])
>>> CombSum()(votes).scores.tolist(), CombSum(normalise="none")(votes).scores.tolist()
([1.0, 0.0, 1.0], [9.2, 1.0, 0.8])
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from podium.aggregation.base import Aggregator
from podium.aggregation.place_values import places, tied_means
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled

Normalise = Literal["minmax", "inverted", "sum", "zscore", "max", "rank", "borda", "none"]
"""How the scores of one list are normalised; see `CombSum`."""


@register
class CombSum(Aggregator):
    """CombSUM: the sum of normalised scores.

    Formula: Σ_k w_k ŝ_k(j) over the lists that rank j. A list's lowest score becomes 0, as does a document that is left
        out; then ŝ = (s − min)/(max − min) (`minmax`), (s − min)/Σ(s − min) (`sum`), (s − min)/sd (`zscore`: z-scores,
        with a document left out at the list's lowest); or (max − s)/(max − min), for scores of which less is better
        (`inverted`); s/max|s| (`max`); 1 − (r − 1)/n with r the rank in a list of n (`rank`), or in the query of n
        documents, those left out sharing the last places (`borda`); or s as it is (`none`).
    Ties: equal scores stay equal. If all scores of a list are equal, each is 1 (`sum`: 1 by their number).
    Cost: O(entries).
    Use it for: rank fusion of systems whose scores are meaningful; `none` only if they share one scale above 0.
    Reference: Fox & Shaw, Combination of multiple searches, TREC-2 1994; Montague & Aslam, Relevance score
        normalization for metasearch, CIKM 2001.
    """

    needs_scores: ClassVar[bool] = True

    normalise: Normalise = "minmax"
    """How the scores of a list are normalised; see the formula."""

    def one(self, query: QueryRankings) -> Array:
        query = with_all_places(query, self.normalise)
        weights = np.repeat(query.weights, np.diff(query.offsets))  # (e,)
        scores = weights * normalised(query, self.normalise)
        return np.asarray(np.bincount(query.documents, scores, minlength=query.n_documents), np.float64)


def with_all_places(query: QueryRankings, how: Normalise) -> QueryRankings:
    """The lists; those for `borda` with the documents that they leave out, tied at the end."""
    return query.completed() if how == "borda" else query


def normalised(query: QueryRankings, how: Normalise) -> Array:
    """The scores of every list on a common scale."""  # (e,)
    if how == "none":
        return query.scores
    if how == "inverted":
        return _scale(-query.scores, query.offsets, 0)
    if how in ("rank", "borda"):
        sizes = np.repeat(np.diff(query.offsets), np.diff(query.offsets))
        return np.asarray(1.0 - (tied_means(query, places(query)) - 1.0) / sizes, np.float64)
    return _scale(query.scores, query.offsets, {"minmax": 0, "sum": 1, "zscore": 2, "max": 3}[how])


@compiled
def _scale(scores: Array, offsets: Ints, how: int) -> Array:
    """(s − min) / d of each list, d its range, sum or standard deviation; or s over the largest |s|."""
    scaled = np.empty(len(scores))
    for v in range(len(offsets) - 1):
        a, b = offsets[v], offsets[v + 1]
        if a == b:
            continue
        unscaled = scores[a:b]
        low, high = unscaled.min(), unscaled.max()
        if how == 3:
            most = max(abs(low), abs(high))
            scaled[a:b] = unscaled / most if most > 0.0 else unscaled
            continue
        if low == high:
            scaled[a:b] = 1.0 / (b - a) if how == 1 else 1.0
            continue
        shifted = (unscaled - low) / (high - low)
        if how == 1:
            shifted /= shifted.sum()
        elif how == 2:
            shifted /= shifted.std()
        scaled[a:b] = shifted
    return scaled
