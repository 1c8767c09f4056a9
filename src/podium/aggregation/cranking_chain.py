"""Cranking by Markov chain Monte Carlo: Gibbs moves that draw one document's place given the order of all others.

A move takes a document out of a ranking and puts it back at a place drawn from its exact conditional distribution (a
heat bath). With Kendall's distance and the footrule the n log-probabilities come from one pass over the places, so a
move is O(n) for any number of voters; n moves, one per document, are a sweep. A sweep replaces some n² exchanges of
neighbours. Because each conditional distribution is known, rank marginals are the mean of these distributions instead
of counts of draws (Rao–Blackwell), which is most of the gain if the distribution is nearly flat. With Cayley's distance
a move exchanges two documents by Metropolis' rule, O(L·n).

Up to three states move on one query: the final ranking π within G(π), a free ranking x of the same distribution without
that condition, and, if lists are partial, the strict rankings σ' that they represent. The weight of σ' holds the
normaliser of its distribution, 1/Z(θ, σ'), which is not known; an exchange of two documents in it is accepted by
the exchange algorithm (Murray, Ghahramani & MacKay 2006; Liang 2010): run x under the new σ', and accept by

    log ratio = θ_j [d(π, σ'') − d(π, σ') + d(x, σ') − d(x, σ'')]

in which both normalisers cancel. It is exact if x has run long enough to follow a change of one list in two documents.
"""

from __future__ import annotations

import math

import numpy as np

from podium.aggregation.cranking_lists import CrankingQuery, strict
from podium.aggregation.permutations import change, distance
from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled


class Chain:
    """State of one chain on one query; `train` and `observe` advance it.

    It starts at the order of `start`, the smallest first, or at random.
    """

    def __init__(
        self, query: CrankingQuery, kind: int, rng: np.random.Generator, *, start: Array | None = None
    ) -> None:
        self.query, self.kind, self.rng = query, kind, rng
        self.sigma = query.complete(rng)  # (L, n)
        key = rng.random(query.n_documents) if start is None else start
        self.final = strict(query.final, key)
        self.free = strict(np.zeros(query.n_documents, np.int64), key)
        self.blocks = _ends(query.final)
        self.ends = np.array([_ends(row) for row in query.groups], np.int64).reshape(self.sigma.shape)  # (L, n)

    def train(self, theta: Array, sweeps: int) -> tuple[Array, Array]:
        """After each sweep: the distances of the final and the free ranking from each list."""  # (S, L) each
        of_final, of_free = np.empty((sweeps, len(self.sigma))), np.empty((sweeps, len(self.sigma)))
        weights = np.ascontiguousarray(theta)
        _train(self.kind, weights, self.final, self.blocks, self.free, self.sigma, self.ends, self.rng, of_final,
               of_free)  # fmt: skip
        return of_final, of_free

    def observe(self, theta: Array, sweeps: int) -> tuple[Array, Array]:
        """Each document's expected place in every sweep (S, n), and P(place) summed over the sweeps (n, n)."""
        n = self.query.n_documents
        expected, marginals = np.empty((sweeps, n)), np.zeros((n, n))
        _observe(self.kind, np.ascontiguousarray(theta), self.free, self.sigma, self.rng, expected, marginals)
        return expected, marginals


def _ends(groups: Ints) -> Ints:
    """The end of the group of each place."""  # (n,)
    ends: Ints = np.cumsum(np.bincount(groups))[np.sort(groups)]
    return ends


@compiled
def _observe(
    kind: int, theta: Array, free: Ints, sigma: Ints, rng: np.random.Generator, expected: Array, marginals: Array
) -> None:
    n = len(free)
    at, share, table = _inverse(free), np.empty(n), _table(kind, theta, sigma)
    for sweep in range(len(expected)):
        for i in range(n):
            if kind == _CAYLEY:
                _exchange(theta, free, at, sigma, 0, n, i, rng)
                continue
            _reinsert(kind, table, free, at, 0, n, i, rng, share)
            mean = 0.0
            for p in range(n):
                mean += p * share[p]
                marginals[i, p] += share[p]
            expected[sweep, i] = mean
        if kind == _CAYLEY:
            for i in range(n):
                expected[sweep, i] = free[i]
                marginals[i, free[i]] += 1.0


@compiled
def _train(
    kind: int, theta: Array, final: Ints, blocks: Ints, free: Ints, sigma: Ints, ends: Ints, rng: np.random.Generator,
    of_final: Array, of_free: Array,
) -> None:  # fmt: skip
    """A recorded sweep: the final ranking once, some exchanges in each list, the free ranking _SETTLE times."""
    n, many = len(free), len(sigma)
    at_final, at_free, share = _inverse(final), _inverse(free), np.empty(n)
    table, everything = _table(kind, theta, sigma), np.full(n, n)
    for sweep in range(len(of_final)):
        _sweep(kind, theta, table, final, at_final, blocks, sigma, rng, share)
        for l in range(many):
            for _ in range(1 + n // _FEWER):
                _restate(kind, theta, table, l, final, at_final, free, at_free, sigma, ends, rng, share)
        for _ in range(_SETTLE):
            _sweep(kind, theta, table, free, at_free, everything, sigma, rng, share)
        for l in range(many):
            of_final[sweep, l], of_free[sweep, l] = distance(kind, final, sigma[l]), distance(kind, free, sigma[l])


_SETTLE = 2  # sweeps of the free ranking between two records, to follow changes of the lists
_INNER = 2  # moves of either document in the free ranking, under a proposed list with them exchanged
_FEWER = 20  # documents of a list for which one exchange is tried
_CAYLEY = 2  # its number in KINDS; Kendall's distance is 0, the footrule 1


@compiled
def _inverse(places: Ints) -> Ints:
    """The document at each place."""
    at = np.empty(len(places), np.int64)
    for i in range(len(places)):
        at[places[i]] = i
    return at


@compiled
def _table(kind: int, theta: Array, sigma: Ints) -> Array:
    """Lookup table of moves: for Kendall's distance Σ_l θ_l sign(σ_l(k) − σ_l(i)) at [i, k], the change of the
    log-probability if k passes before i; for the footrule Σ_l θ_l |p − σ_l(i)| at [i, p]."""
    n = sigma.shape[1]
    table = np.zeros((n, n) if kind != _CAYLEY else (0, 0))
    if kind != _CAYLEY:
        for l in range(len(sigma)):
            for i in range(n):
                _add_row(kind, table, theta[l], sigma[l], i)
    return table


@compiled
def _add_row(kind: int, table: Array, weight: float, places: Ints, i: int) -> None:
    """Add one list's part of row i."""
    for k in range(len(places)):
        if kind == 1:
            table[i, k] += weight * abs(k - places[i])
        elif places[k] > places[i]:
            table[i, k] += weight
        elif places[k] < places[i]:
            table[i, k] -= weight


@compiled
def _sweep(
    kind: int, theta: Array, table: Array, places: Ints, at: Ints, ends: Ints, sigma: Ints, rng: np.random.Generator,
    share: Array,
) -> None:  # fmt: skip
    """Move every document once within its block; `ends` has the end of the block of each place."""
    for i in range(len(places)):
        first, end = places[i], ends[places[i]]
        while first > 0 and ends[first - 1] == end:
            first -= 1
        if kind == _CAYLEY:
            _exchange(theta, places, at, sigma, first, end, i, rng)
        else:
            _reinsert(kind, table, places, at, first, end, i, rng, share)


@compiled
def _reinsert(
    kind: int, table: Array, places: Ints, at: Ints, first: int, end: int, i: int, rng: np.random.Generator,
    share: Array,
) -> None:  # fmt: skip
    """Draw a place for document i from `first` to `end` by its conditional distribution, which is left in `share`."""
    now, row = places[i], table[i]
    share[now], high = 0.0, 0.0
    for p in range(now, end - 1):  # down past k, which moves up from p + 1 to p
        k = at[p + 1]
        gain = row[k] if kind == 0 else row[p + 1] - row[p] + table[k, p] - table[k, p + 1]
        share[p + 1] = share[p] + gain
        high = max(high, share[p + 1])
    for p in range(now, first, -1):  # up past k, which moves down from p − 1 to p
        k = at[p - 1]
        gain = -row[k] if kind == 0 else row[p - 1] - row[p] + table[k, p] - table[k, p - 1]
        share[p - 1] = share[p] + gain
        high = max(high, share[p - 1])
    total = 0.0
    for p in range(first, end):
        share[p] = math.exp(share[p] - high)
        total += share[p]
    left, to = rng.random() * total, end - 1
    for p in range(first, end):
        left -= share[p]
        if left < 0.0:
            to = p
            break
    for p in range(first, end):
        share[p] /= total
    step = 1 if to > now else -1
    for p in range(now, to, step):
        at[p] = at[p + step]
        places[at[p]] = p
    at[to], places[i] = i, to


@compiled
def _exchange(
    theta: Array, places: Ints, at: Ints, sigma: Ints, first: int, end: int, i: int, rng: np.random.Generator
) -> None:
    """Try to exchange document i with another at a place from `first` to `end`, under Cayley's distance."""
    j = at[first + int(rng.random() * (end - first))]
    if i == j:
        return
    log_ratio = 0.0
    for l in range(len(sigma)):
        log_ratio += theta[l] * change(_CAYLEY, places, sigma[l], at, sigma[l], i, j)
    if log_ratio >= 0.0 or rng.random() < math.exp(log_ratio):
        places[i], places[j] = places[j], places[i]
        at[places[i]], at[places[j]] = i, j


@compiled
def _restate(
    kind: int, theta: Array, table: Array, l: int, final: Ints, at_final: Ints, free: Ints, at_free: Ints, sigma: Ints,
    ends: Ints, rng: np.random.Generator, share: Array,
) -> None:  # fmt: skip
    """Try to exchange two documents that list l ties; a copy of the free ranking runs under the new list first."""
    n = len(free)
    places = sigma[l]
    p = int(rng.random() * n)
    first = p
    while first > 0 and ends[l, first - 1] == ends[l, p]:
        first -= 1
    other = first + int(rng.random() * (ends[l, p] - first))
    if other == p:
        return
    i, j = -1, -1
    for k in range(n):
        if places[k] == p:
            i = k
        elif places[k] == other:
            j = k
    grown = change(kind, places, final, at_final, places, i, j)
    _swap(kind, table, theta[l], places, i, j)
    moved, at_moved = free.copy(), at_free.copy()
    for _ in range(_INNER):
        for k in (i, j):
            if kind == _CAYLEY:
                _exchange(theta, moved, at_moved, sigma, 0, n, k, rng)
            else:
                _reinsert(kind, table, moved, at_moved, 0, n, k, rng, share)
    back = change(kind, places, moved, at_moved, places, i, j)
    log_ratio = theta[l] * (grown + back)
    if log_ratio < 0.0 and rng.random() >= math.exp(log_ratio):
        _swap(kind, table, theta[l], places, i, j)


@compiled
def _swap(kind: int, table: Array, weight: float, places: Ints, i: int, j: int) -> None:
    """Exchange two documents in one list, and update the table."""
    if kind != _CAYLEY:
        _add_row(kind, table, -weight, places, i)
        _add_row(kind, table, -weight, places, j)
    places[i], places[j] = places[j], places[i]
    if kind != _CAYLEY:
        _add_row(kind, table, weight, places, i)
        _add_row(kind, table, weight, places, j)
    if kind == 0:  # sign(σ(k) − σ(i)) has the other sign at [k, i]
        for k in range(len(places)):
            table[k, i], table[k, j] = -table[i, k], -table[j, k]
