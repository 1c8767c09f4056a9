"""How many voters put one document before another: what Copeland, Kemeny and the fourth chain look at.

>>> from podium.data.rankings import Rankings
>>> wins(Rankings.from_orders([[["A", "B"], ["A", "B"], ["B", "A"]]]).query(0))
array([[0., 2.],
       [1., 0.]])
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from podium.aggregation.base import Array
from podium.compiled import compiled
from podium.data.query_rankings import QueryRankings

Unranked = Literal["last", "skip"]
"""What a list says of the documents it leaves out: that they come after it, tied; or nothing."""


def lists(query: QueryRankings, unranked: Unranked) -> QueryRankings:
    """The lists as a method is to see them."""
    return query.completed() if unranked == "last" else query


def wins(query: QueryRankings) -> Array:
    """The weight of the voters who rank i before j at [i, j]; voters who tie them or leave one out count for none."""
    n = query.n_documents
    found: Array = _count(query.documents, query.ranks, query.offsets, query.weights, np.zeros((n, n)))
    return found


def margins(query: QueryRankings) -> Array:
    """By how much weight i wins against j at [i, j]; exactly 0 where they draw, whatever the weights round to."""
    before = wins(query)
    margin: Array = before - before.T
    margin[np.abs(margin) <= 1e-12 * query.weights.sum()] = 0.0
    return margin


@compiled
def _count(documents: Any, ranks: Any, offsets: Any, weights: Any, found: Any) -> Any:
    for v in range(len(offsets) - 1):
        a, b = offsets[v], offsets[v + 1]
        below = a
        for e in range(a, b):
            while below < b and ranks[below] <= ranks[e]:
                below += 1
            row = found[documents[e]]
            for j in documents[below:b]:
                row[j] += weights[v]
    return found
