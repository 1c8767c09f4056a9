"""Comparable ranks: ranks at which the same documents were shown, directly or by a chain of ranks."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Int32s, Ints
from podium.clicks.log.click_log import ClickLog
from podium.jit.compiled import compiled


def parts_of_ranks(log: ClickLog) -> Ints:
    """Connected part of each rank, named by its smallest rank, from 1; 0 if nothing was shown there."""  # (R,)
    ranks = log.ranks()
    parts = np.zeros(int(ranks.max(initial=0)), np.int64)
    _join(log.pairs, ranks, log.n_pairs, parts)
    return parts


@compiled
def _join(pairs: Int32s, ranks: Int32s, n_pairs: int, parts: Ints) -> None:
    first, joined = np.zeros(n_pairs, np.int64), np.zeros((len(parts) + 1, len(parts) + 1), np.bool_)
    for i in range(len(pairs)):
        rank = ranks[i]
        if joined[first[pairs[i]], rank] and first[pairs[i]] > 0:
            continue
        if parts[rank - 1] == 0:
            parts[rank - 1] = rank
        if first[pairs[i]] == 0:
            first[pairs[i]] = rank
        joined[first[pairs[i]], rank] = True
        a, b = _root(parts, first[pairs[i]]), _root(parts, rank)
        parts[max(a, b) - 1] = min(a, b)
    for k in range(len(parts)):
        if parts[k] > 0:
            parts[k] = _root(parts, k + 1)


@compiled
def _root(parts: Ints, rank: int) -> int:
    while parts[rank - 1] != rank:
        rank = parts[rank - 1]
    return rank
