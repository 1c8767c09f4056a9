"""Preferences: pairs "winner before loser" of documents of a query, with grades or instead of them.

A pair, or edge, may have the probability that its winner comes first, and a weight; both are 1 by default. An edge of
weight 2 counts like two edges. A missing edge asserts nothing.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.columns import float_numbers, whole_numbers
from podium.base.errors import DataError
from podium.data.triples import select_rows


@dataclass(frozen=True, eq=False)
class Preferences:
    """The edges of all queries, those of query q at offsets[q]:offsets[q+1]."""

    edges: Array  # (M, 4): winner and loser, counted within their query; probability; weight
    offsets: Ints  # (Q+1,): edges offsets[q]:offsets[q+1] are query q

    def __len__(self) -> int:
        return len(self.edges)

    def select(self, queries: Ints) -> Preferences:
        """The edges of some queries, in the given order.

        `queries`: numbers of queries, from 0.
        """
        return Preferences(*select_rows(self.edges, self.offsets, queries))


def from_rows(
    winners: ArrayLike,
    losers: ArrayLike,
    probability: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    offsets: Ints,
) -> Preferences:
    """Make preferences from row numbers of a dataset whose query q is rows offsets[q]:offsets[q+1]."""
    first, second = whole_numbers(winners, "winner"), whole_numbers(losers, "loser")
    odds = np.ones(len(first)) if probability is None else float_numbers(probability, "probability of a preference")
    counts = np.ones(len(first)) if weights is None else float_numbers(weights, "weight of a preference")
    if not len(first) == len(second) == len(odds) == len(counts):
        raise DataError(
            f"Preferences: {len(first)} winners, {len(second)} losers, {len(odds)} probabilities, "
            f"{len(counts)} weights. Give as many of each."
        )
    _check_edges(first, second, odds, counts, n_rows=int(offsets[-1]))
    query = np.searchsorted(offsets, first, side="right") - 1
    apart = np.flatnonzero(query != np.searchsorted(offsets, second, side="right") - 1)
    if len(apart):
        at = apart[0]
        raise DataError(
            f"Preference {at}: rows {first[at]} and {second[at]} belong to different queries. "
            "A preference compares two documents of one query."
        )
    order = np.argsort(query, kind="stable")
    start = offsets[query]
    edges = np.column_stack([first - start, second - start, odds, counts])[order].astype(np.float64)
    sizes = np.bincount(query, minlength=len(offsets) - 1)
    return Preferences(np.ascontiguousarray(edges), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def from_labels(labels: Array, offsets: Ints, *, ties: bool = False) -> Preferences:
    """Make all edges that grades imply: i before j if y_i > y_j; with `ties`, probability ½ if y_i = y_j."""
    parts, counts = [], []
    for a, b in itertools.pairwise(offsets):
        above = labels[a:b, None] > labels[None, a:b]
        tied = np.triu(labels[a:b, None] == labels[None, a:b], 1) & ties
        winner, loser = np.nonzero(above | tied)
        parts.append(np.column_stack([winner, loser, np.where(tied[winner, loser], 0.5, 1.0), np.ones(len(winner))]))
        counts.append(len(winner))
    edges = np.concatenate(parts) if parts else np.empty((0, 4))
    return Preferences(edges.astype(np.float64), np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))


def _check_edges(
    first: Ints,
    second: Ints,
    odds: Array,
    weights: Array,
    *,
    n_rows: int,
) -> None:
    for name, rows in (("winner", first), ("loser", second)):
        bad = np.flatnonzero((rows < 0) | (rows >= n_rows))
        if len(bad):
            raise DataError(f"Preference {bad[0]}: {name} is row {rows[bad[0]]}, but there are {n_rows} rows.")
    same = np.flatnonzero(first == second)
    if len(same):
        raise DataError(f"Preference {same[0]}: row {first[same[0]]} is preferred to itself.")
    bad = np.flatnonzero(~((odds >= 0) & (odds <= 1)))
    if len(bad):
        raise DataError(f"Preference {bad[0]}: probability must be within 0 and 1; got {odds[bad[0]]}.")
    bad = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if len(bad):
        raise DataError(f"Preference {bad[0]}: weight must be a finite number of at least 0; got {weights[bad[0]]}.")
