"""Cranking by Markov chains: Metropolis moves that exchange neighbours, O(L) each (O(L·n) for Cayley's distance).

Up to three things move on one query: the final ranking π within G(π), a free ranking x of the same law without that
condition, and, where lists are partial, the strict rankings σ' that they stand for. The weight of σ' holds the
normaliser of the law it makes, 1/Z(θ, σ'), which is not known; an exchange of two documents in it is judged by the
exchange algorithm (Murray, Ghahramani & MacKay 2006; Liang 2010): let x run on under the new σ', and accept by

    log ratio = θ_j [d(π, σ'') − d(π, σ') + d(x, σ') − d(x, σ'')]

in which both normalisers cancel. It is exact as far as x has run long enough to follow a change of one list in
two documents.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.aggregation.base import Array
from podium.aggregation.cranking_lists import CrankingQuery, Ints, strict
from podium.aggregation.permutations import change, distance
from podium.compiled import compiled


class Chain:
    """The state of one chain on one query; `run` moves it on."""

    def __init__(self, query: CrankingQuery, kind: int, rng: np.random.Generator, *, judged: bool) -> None:
        self.query, self.kind, self.rng, self.judged = query, kind, rng, judged
        self.sigma = query.complete(rng)  # (L, n)
        n = query.n_documents
        everything = np.zeros(n, np.int64)
        self.final = strict(query.final, rng)
        self.free = strict(everything, rng)
        self.blocks = np.sort(query.final)  # the group of each place of the final ranking
        self.open = everything
        self.ends = np.array([np.cumsum(np.bincount(row))[np.sort(row)] for row in query.groups], np.int64)
        self.ends = self.ends.reshape(self.sigma.shape)  # (L, n) where the group of each place ends

    def run(self, theta: Array, sweeps: int) -> tuple[Array, Array, Ints]:
        """After each sweep: distances of the final and the free ranking (S, L), and the places of the latter (S, n)."""
        n, many = self.query.n_documents, len(self.sigma)
        of_final, of_free = np.empty((sweeps, many)), np.empty((sweeps, many))
        places = np.empty((sweeps, n), np.int64)
        _sweeps(
            self.kind, np.ascontiguousarray(theta), self.final, self.blocks, self.free, self.open, self.sigma,
            self.ends, self.judged, self.rng, of_final, of_free, places,
        )  # fmt: skip
        return of_final, of_free, places


@compiled
def _sweeps(
    kind: Any, theta: Any, final: Any, blocks: Any, free: Any, everything: Any, sigma: Any, ends: Any, judged: Any,
    rng: Any, of_final: Any, of_free: Any, places: Any,
) -> None:  # fmt: skip
    """A recorded sweep: n exchanges are tried in the final ranking, one in each list, _SETTLE·n in the free ranking."""
    n, many = len(free), len(sigma)
    at_final, at_free = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        at_final[final[i]], at_free[free[i]] = i, i
    from_final, from_free = np.empty(many, np.int64), np.empty(many, np.int64)
    for l in range(many):
        from_final[l], from_free[l] = distance(kind, final, sigma[l]), distance(kind, free, sigma[l])
    for sweep in range(len(places)):
        if judged:
            _exchange(kind, theta, final, at_final, blocks, sigma, n, rng, from_final)
            for l in range(many):
                _restate(kind, theta, l, final, at_final, free, at_free, everything, sigma, ends, rng, from_final,
                         from_free)  # fmt: skip
        _exchange(kind, theta, free, at_free, everything, sigma, _SETTLE * n, rng, from_free)
        for l in range(many):
            of_final[sweep, l], of_free[sweep, l] = from_final[l], from_free[l]
        places[sweep] = free


@compiled
def _exchange(
    kind: Any, theta: Any, places: Any, at: Any, blocks: Any, sigma: Any, moves: Any, rng: Any, total: Any
) -> None:
    """Try to exchange neighbours of one block, `moves` times; `total` are the distances from each list."""
    n, many = len(places), len(sigma)
    grown = np.empty(many, np.int64)
    if n < 2:
        return
    for _ in range(moves):
        p = int(rng.random() * (n - 1))
        if blocks[p] != blocks[p + 1]:
            continue
        i, j = at[p], at[p + 1]
        log_ratio = 0.0
        for l in range(many):
            a, b = sigma[l, i], sigma[l, j]
            if kind == 0:  # what `change` says of neighbours, without making a view of the list for it
                grown[l] = 1 if a < b else -1
            elif kind == 1:
                grown[l] = abs(p + 1 - a) - abs(p - a) + abs(p - b) - abs(p + 1 - b)
            else:
                grown[l] = change(kind, places, sigma[l], at, sigma[l], i, j)
            log_ratio += theta[l] * grown[l]
        if log_ratio >= 0.0 or rng.random() < math.exp(log_ratio):
            places[i], places[j], at[p], at[p + 1] = p + 1, p, j, i
            for l in range(many):
                total[l] += grown[l]


_SETTLE = 4  # sweeps of the free ranking between two records, in which it follows the lists
_INNER = 4  # sweeps of the free ranking under a list that is tried


@compiled
def _restate(
    kind: Any, theta: Any, l: Any, final: Any, at_final: Any, free: Any, at_free: Any, everything: Any, sigma: Any,
    ends: Any, rng: Any, from_final: Any, from_free: Any,
) -> None:  # fmt: skip
    """Try to exchange two documents that list l ties; the free ranking runs a sweep under the new list first."""
    n = len(free)
    mine = sigma[l]
    p = int(rng.random() * n)
    first = p
    while first > 0 and ends[l, first - 1] == ends[l, p]:
        first -= 1
    other = first + int(rng.random() * (ends[l, p] - first))
    if other == p:
        return
    i, j = -1, -1
    for k in range(n):
        if mine[k] == p:
            i = k
        elif mine[k] == other:
            j = k
    grown = change(kind, mine, final, at_final, mine, i, j)
    moved, at_moved, total = free.copy(), at_free.copy(), from_free.copy()
    shift = change(kind, mine, moved, at_moved, mine, i, j)
    mine[i], mine[j] = mine[j], mine[i]
    _exchange(kind, theta, moved, at_moved, everything, sigma, _INNER * n, rng, total)
    back = change(kind, mine, moved, at_moved, mine, i, j)
    log_ratio = theta[l] * (grown + back)
    if log_ratio >= 0.0 or rng.random() < math.exp(log_ratio):
        from_free[l] += shift
        from_final[l] += grown
    else:
        mine[i], mine[j] = mine[j], mine[i]
