"""Ballots: the places that voters give to documents, and margins of majorities, for methods of voting.

>>> from podium.aggregation.rankings.rankings import Rankings
>>> ranks, weights = ballots(Rankings.from_orders([[["A", ("B", "C")], ["B"]]]).query(0))
>>> place_counts(ranks, weights)
array([[1. , 0.5, 0.5],
       [1. , 0.5, 0.5],
       [0. , 1. , 1. ]])
"""

from __future__ import annotations

import numpy as np

from podium.aggregation.pairwise_counts import Unranked, lists, wins
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array, Flags

EVEN = 1e-9
"""Differences of weights within this share of all of them are ties."""


def ballots(query: QueryRankings) -> tuple[Array, Array]:
    """The ranks that voters give to documents (V, n), missing ones tied at the end, and the voters' weights (V,)."""
    ranks = query.completed().matrix()
    speaks = ~np.isnan(ranks).all(axis=1)
    return ranks[speaks], query.weights[speaks]


def place_counts(ranks: Array, weights: Array) -> Array:
    """The weight of the voters who have document i at place d, at [i, d]; tied documents share their places."""
    n = ranks.shape[1]
    changes, rows = np.zeros((n, n + 1)), np.arange(n)
    for row, weight in zip(ranks, weights, strict=True):
        ordered = np.sort(row)
        first, end = np.searchsorted(ordered, row, "left"), np.searchsorted(ordered, row, "right")
        np.add.at(changes, (rows, first), weight / (end - first))
        np.add.at(changes, (rows, end), -weight / (end - first))
    return np.cumsum(changes, axis=1)[:, :n]


def margins(query: QueryRankings, unranked: Unranked) -> Array:
    """The weight of the voters who rank i before j less that of those who rank j before i, at [i, j]."""
    before = wins(lists(query, unranked))
    lead: Array = before - before.T
    return np.where(np.abs(lead) <= EVEN * query.weights.sum(), 0.0, lead)


def whole(values: Array, query: QueryRankings) -> Array:
    """Sums of weights as whole numbers of the smallest difference that counts, so that rounding errors are ties."""
    return np.asarray(np.round(values / (EVEN * query.weights.sum())), np.float64)


def scores_of(keys: list[tuple[float, ...]]) -> Array:
    """Scores in the order of keys, equal for equal ones, from 0 for the smallest."""
    levels = {key: float(level) for level, key in enumerate(sorted(set(keys)))}
    return np.array([levels[key] for key in keys], np.float64)


def lowest(values: Array) -> Flags:
    """Which rows are the smallest, compared from left to right; rounding errors are ties."""
    kept = np.ones(len(values), np.bool_)
    slack = EVEN * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    for column in values.T:
        kept &= column <= column[kept].min() + slack
    return kept
