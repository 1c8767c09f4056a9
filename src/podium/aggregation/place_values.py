"""Values of the places of lists, averaged over tied documents; for fusions that add up a value of each rank.

>>> from podium.aggregation.rankings.rankings import Rankings
>>> query = Rankings.from_orders([[["A", ("B", "C")]]]).query(0)
>>> tied_means(query, 1.0 / places(query)).round(4).tolist()  # 5/12 for both
[1.0, 0.4167, 0.4167]
"""

from __future__ import annotations

import numpy as np

from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array, Flags


def places(query: QueryRankings) -> Array:
    """The place of each entry in its list, from 1; tied ones in the order of the list."""  # (e,)
    counted = np.arange(1, len(query.documents) + 1) - np.repeat(query.offsets[:-1], np.diff(query.offsets))
    return counted.astype(np.float64)


def tied_means(query: QueryRankings, values: Array) -> Array:
    """The value of each entry, the mean over the documents that its list ties with it."""  # (e,)
    if not len(values):
        return values
    starts = np.flatnonzero(_begins(query))
    sizes = np.diff(np.append(starts, len(values)))
    means: Array = np.repeat(np.add.reduceat(values, starts) / sizes, sizes)
    return means


def summed(query: QueryRankings, values: Array) -> Array:
    """The weighted sum over the lists of each document's values."""  # (n,)
    weights = query.weights[query.voter_of]
    return np.bincount(query.documents, weights * values, minlength=query.n_documents).astype(np.float64)


def lists_with(query: QueryRankings) -> Array:
    """The weight of the lists that rank each document."""  # (n,)
    return summed(query, np.ones(len(query.documents)))


def _begins(query: QueryRankings) -> Flags:
    """Whether a tie group begins at an entry."""  # (e,)
    begins = np.ones(len(query.ranks), np.bool_)
    begins[1:] = (query.ranks[1:] != query.ranks[:-1]) | (query.voter_of[1:] != query.voter_of[:-1])
    return begins
