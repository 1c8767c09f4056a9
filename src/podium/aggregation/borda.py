"""Borda count: a document earns a point for every document ranked below it (Borda 1781; Aslam & Montague 2001).

>>> from podium.aggregation.rankings.rankings import Rankings
>>> votes = Rankings.from_orders([[["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"]]])
>>> Borda()(votes).scores.tolist(), Borda(combine="median")(votes).scores.tolist()
([5.0, 3.0, 1.0], [2.0, 1.0, 0.0])
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from podium.aggregation.base import Aggregator
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled


@register
class Borda(Aggregator):
    """Borda count: points for the documents ranked below, combined over the voters.

    Formula: s_k(j) = n − σ_k(j), the number of documents behind j in list k; then Σ_k w_k s_k(j) (`sum`), the
        weighted median over the voters (`median`), or (Σ_k w_k s_k(j)^p)^(1/p) (`lp`: a larger p listens more to
        the voters who place j high).
    Ties: tied documents take the mean of their places, so each earns ½ for every other it is tied with. The
        documents that a list leaves out are tied below it: they share the points that are left.
    Cost: O(entries + V·n).
    Use it for: a robust first consensus of many voters of similar quality; `median` if some are careless.
    Reference: Aslam & Montague, Models for metasearch, SIGIR 2001.
    """

    p: float = param(2.0, least=1.0)
    """Power of `combine=lp`: the larger, the more the voters count who place a document high."""
    combine: Literal["sum", "median", "lp"] = "sum"
    """How points of the voters are combined."""

    def one(self, query: QueryRankings) -> Array:
        n, whole = query.n_documents, query.completed()
        if self.combine == "median":
            points = np.full((query.n_voters, n), np.nan)
            points[whole.voter_of, whole.documents] = n - mean_places(whole.ranks, whole.offsets)
            speaks = ~np.isnan(points[:, 0])
            return _weighted_median(points[speaks], query.weights[speaks])
        points = n - mean_places(whole.ranks, whole.offsets)  # (e,)
        weights = np.repeat(query.weights, np.diff(whole.offsets))
        power, top = (self.p, max(float(points.max()), 1.0)) if self.combine == "lp" else (1.0, 1.0)
        # divided by the top first: a high power of the points as such would overflow
        total: Array = np.bincount(whole.documents, weights * (points / top) ** power, minlength=n).astype(np.float64)
        return top * total ** (1.0 / power)


@compiled
def mean_places(ranks: Ints, offsets: Ints) -> Array:
    """The place of each entry in its list, 1 the top; tied entries get the mean of their places."""
    places = np.empty(len(ranks))
    for v in range(len(offsets) - 1):
        first, end = offsets[v], offsets[v]
        while first < offsets[v + 1]:
            while end < offsets[v + 1] and ranks[end] == ranks[first]:
                end += 1
            places[first:end] = 0.5 * (first + end + 1) - offsets[v]
            first = end
    return places


def _weighted_median(values: Array, weights: Array) -> Array:
    """The weighted median of each column; the mean of the two middle values if half the weight is on either side."""
    by = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, by, axis=0)  # (V, n)
    below = np.cumsum(weights[by], axis=0)
    half = 0.5 * weights.sum()
    near = half * 1e-12
    lower = (below >= half - near).argmax(axis=0)
    upper = (below > half + near).argmax(axis=0)
    columns = np.arange(values.shape[1])
    middle: Array = 0.5 * (ordered[lower, columns] + ordered[upper, columns])
    return middle
