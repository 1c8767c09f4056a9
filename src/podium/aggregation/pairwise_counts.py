"""Pairwise preferences: the weight of the voters who rank one document before another, for Copeland, Kemeny and MC4.

>>> from podium.aggregation.rankings.rankings import Rankings
>>> wins(Rankings.from_orders([[["A", "B"], ["A", "B"], ["B", "A"]]]).query(0))
array([[0., 2.],
       [1., 0.]])
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.aggregation.tie_orders import ABSENT
from podium.base.arrays import Array, Flags, Int32s, Ints
from podium.jit.compiled import compiled

Unranked = Literal["last", "skip"]
"""How documents missing from a list count: tied after it (`last`), or not compared with it (`skip`)."""


def lists(query: QueryRankings, unranked: Unranked) -> QueryRankings:
    """The lists, with missing documents added at their ends if `unranked` is last."""
    return query.completed() if unranked == "last" else query


def wins(query: QueryRankings) -> Array:
    """The weight of the voters who rank i before j at [i, j]; voters who tie them or leave one out do not count."""
    n = query.n_documents
    return _count(query.documents, query.ranks, query.offsets, query.weights, np.zeros((n, n)))


def tie_starts(query: QueryRankings) -> Ints:
    """The first entry of each set of documents that a voter ties, those alone too."""
    new = np.ones(len(query.ranks), np.bool_)
    new[1:] = (query.ranks[1:] != query.ranks[:-1]) | (query.voter_of[1:] != query.voter_of[:-1])
    return np.flatnonzero(new)


def ties(query: QueryRankings) -> Flags:
    """Whether a voter ties i and j, at [i, j]; documents missing from a list are not tied."""
    tied = np.zeros((query.n_documents, query.n_documents), np.bool_)
    starts = tie_starts(query)
    for a, b in zip(starts.tolist(), [*starts[1:].tolist(), len(query.ranks)], strict=True):
        if b - a > 1 and query.ranks[a] != ABSENT:
            tied[np.ix_(query.documents[a:b], query.documents[a:b])] = True
    return tied


def beats(query: QueryRankings, unranked: Unranked) -> Flags:
    """Whether a majority of weight prefers i to j, at [i, j]; False if they draw."""
    n = query.n_documents
    majority = np.empty((n, n), np.bool_)
    _duel(query, unranked, majority, np.empty(0))
    return majority


def duels_won(query: QueryRankings, unranked: Unranked) -> Array:
    """Duels that each document wins less those it loses, without an (n, n) matrix."""  # (n,)
    balance = np.empty(query.n_documents)
    _duel(query, unranked, np.empty((0, 0), np.bool_), balance)
    return balance


def _duel(query: QueryRankings, unranked: Unranked, wins: Flags, balance: Array) -> None:
    places = np.zeros((query.n_voters, query.n_documents), np.int32)  # 0 if a voter does not rank a document
    places[query.voter_of, query.documents] = query.ranks
    draw = 1e-12 * query.weights.sum()  # the rounding error of sums of weights
    _duels(query.documents, query.ranks, query.offsets, query.weights, places, unranked == "last", draw, wins, balance)


@compiled
def _duels(
    documents: Ints,
    ranks: Ints,
    offsets: Ints,
    weights: Array,
    places: Int32s,
    last: bool,
    draw: float,
    wins: Flags,
    balance: Array,
) -> None:
    """Fill `wins` with who beats whom, or `balance` with duels won less duels lost, one document at a time."""
    n = places.shape[1]
    row = np.empty(n)  # the weight for document i less the weight against it, in its duels with all others
    for i in range(n):
        row[:] = 0.0
        over_absent = 0.0  # the weight of the lists that rank i: it beats the documents missing from them
        for v in range(len(weights)):
            rank, w = places[v, i], weights[v]
            if rank == 0:
                if last:
                    for e in range(offsets[v], offsets[v + 1]):
                        row[documents[e]] -= w
                continue
            present = w if last else 0.0
            over_absent += present
            for e in range(offsets[v], offsets[v + 1]):
                side = w if ranks[e] > rank else (-w if ranks[e] < rank else 0.0)
                row[documents[e]] += side - present
        total = 0
        for j in range(n):
            margin = row[j] + over_absent if j != i else 0.0
            if len(wins):
                wins[i, j] = margin > draw
            else:
                total += 1 if margin > draw else -1 if margin < -draw else 0
        if not len(wins):
            balance[i] = total


@compiled
def _count(documents: Ints, ranks: Ints, offsets: Ints, weights: Array, counts: Array) -> Array:
    for v in range(len(offsets) - 1):
        a, b = offsets[v], offsets[v + 1]
        below = a
        for e in range(a, b):
            while below < b and ranks[below] <= ranks[e]:
                below += 1
            row = counts[documents[e]]
            for j in documents[below:b]:
                row[j] += weights[v]
    return counts
