"""Davidson–Luce: Plackett–Luce whose places may be shared, the law of ties of the R package PlackettLuce.

    P(S comes first of A) = f(S) / Σ_{T ⊆ A, |T| ∈ D} f(T),   f(S) = δ_|S| (Π_{i∈S} φ_i)^{1/|S|},   δ_1 = 1

D holds the sizes of the ties that occur. For two documents it is Davidson's law, δ_2 = ν. The sum over all sets of a
size d is the elementary symmetric polynomial e_d of φ^{1/d}: it grows document by document from the end of a list, so
that all places of a list cost O(n·Σ d). δ is fitted for each φ: the likelihood is that of the best δ (profile).
Reference: Firth, Kosmidis & Turner, Davidson–Luce model for multi-item choice with ties, 2019; Turner et al. 2020.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from podium.aggregation.pairwise_counts import tie_starts
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.aggregation.tie_orders import ABSENT
from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled

MOST_TIED = 20
"""The largest tie of this law; a list that ties more documents counts their order as unknown."""


class Profile(NamedTuple):
    """The log-likelihood at the best δ, its gradient by log-worths, and a bound of its curvatures."""

    value: float
    gradient: Array  # (n,)
    curvature: Array  # (n,) at least minus the second derivatives
    log_delta: Array  # (|D|,) the first is 0


def tie_sizes(query: QueryRankings) -> Ints:
    """The sizes of ties within the lists, from 1."""
    starts = tie_starts(query)
    sizes = np.diff(np.append(starts, len(query.ranks)))
    return np.union1d([1], sizes[query.ranks[starts] != ABSENT]).astype(np.int64)


def profile(query: QueryRankings, log_worths: Array, *, last: bool) -> Profile:
    """The likelihood of lists with ties; documents missing from a list come after it (`last`) or were not there."""
    sizes = tie_sizes(query)
    s = np.maximum(log_worths - log_worths.max(), _LOWEST)
    logs = np.empty((len(query.documents), len(sizes)))
    chosen = np.full(len(query.documents), -1)
    lists = query.documents, query.ranks, query.offsets
    nothing = np.empty(0)
    _walk(*lists, s, sizes, last, np.zeros(len(sizes)), query.weights, logs, chosen, nothing)
    rows = np.flatnonzero(chosen >= 0)  # the first entry of each set
    weights = np.repeat(query.weights, np.diff(query.offsets))[rows]
    log_delta = _best_delta(logs[rows], chosen[rows], weights)
    charge = np.zeros(query.n_documents)
    _walk(*lists, s, sizes, last, log_delta, query.weights, logs, chosen, charge)
    value = weights @ (log_delta[chosen[rows]] - np.logaddexp.reduce(logs[rows] + log_delta, axis=1))
    gain, total = _won(query, s, sizes, chosen)
    return Profile(float(value + total), gain - charge, charge, log_delta)


def _won(query: QueryRankings, s: Array, sizes: Ints, chosen: Ints) -> tuple[Array, float]:
    """What the members of the sets that came first add: 1/|S| each."""
    firsts = chosen >= 0
    share = (1.0 / sizes[chosen[firsts]])[np.cumsum(firsts) - 1] * np.repeat(query.weights, np.diff(query.offsets))
    return np.asarray(np.bincount(query.documents, share, query.n_documents), float), float(share @ s[query.documents])


def _best_delta(logs: Array, chosen: Ints, weights: Array) -> Array:
    """The log δ of most likelihood, by Newton's method; the likelihood is concave in it."""
    n = logs.shape[1]
    log_delta = np.zeros(n)
    if n == 1:
        return log_delta
    counts = np.bincount(chosen, weights, n)
    for _ in range(_STEPS):
        joint = logs + log_delta
        p = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
        gradient = (counts - weights @ p)[1:]
        bend = np.diag(weights @ p) - (p * weights[:, None]).T @ p
        step = np.linalg.solve(bend[1:, 1:] + 1e-12 * np.eye(n - 1), gradient)
        step = np.clip(step, -2.0, 2.0)
        log_delta[1:] = np.clip(log_delta[1:] + step, -_FAR, _FAR)
        if np.abs(step).max() < 1e-11:
            break
    return log_delta


@compiled
def _walk(
    documents: Ints,
    ranks: Ints,
    offsets: Ints,
    s: Array,
    sizes: Ints,
    last: bool,
    log_delta: Array,
    weights: Array,
    logs: Array,
    chosen: Ints,
    charge: Array,
) -> None:
    """Fill log e_d of each place of each list, at its first entry, and which size was chosen there.

    With `charge`, also add Σ_places ∂ log Z/∂s for each document: the same walk backwards (reverse differentiation).
    """
    n, kinds, most = len(s), len(sizes), sizes[-1]
    for v in range(len(offsets) - 1):
        a, b = offsets[v], offsets[v + 1]
        if a == b:
            continue
        listed = np.zeros(n, np.bool_)
        for e in range(a, b):
            listed[documents[e]] = True
        n_absent = n - (b - a) if last else 0
        order = np.empty(n_absent + b - a, np.int64)  # from the end of the list to its top
        at = 0
        if last:
            for i in range(n):
                if not listed[i]:
                    order[at] = i
                    at += 1
        for e in range(b - 1, a - 1, -1):
            order[at] = documents[e]
            at += 1
        sums = np.zeros((len(order) + 1, kinds, most + 1))
        sums[:, :, 0] = 1.0
        x = np.empty((len(order), kinds))
        for k in range(len(order)):
            for kind in range(kinds):
                d = sizes[kind]
                x[k, kind] = np.exp(s[order[k]] / d)
                for j in range(1, d + 1):
                    sums[k + 1, kind, j] = sums[k, kind, j] + x[k, kind] * sums[k, kind, j - 1]
        back = np.zeros((kinds, most + 1))
        for k in range(len(order), 0, -1):
            e = a + len(order) - k  # the entry at the top of what remains
            if e < b and (e == a or ranks[e] != ranks[e - 1]):
                size = 1
                while e + size < b and ranks[e + size] == ranks[e]:
                    size += 1
                top = -np.inf
                for kind in range(kinds):
                    whole = sums[k, kind, sizes[kind]]
                    logs[e, kind] = np.log(whole) if whole > 0.0 else -np.inf
                    if sizes[kind] == size:
                        chosen[e] = kind
                    top = max(top, logs[e, kind] + log_delta[kind])
                if len(charge):
                    z = 0.0
                    for kind in range(kinds):
                        z += np.exp(logs[e, kind] + log_delta[kind] - top)
                    for kind in range(kinds):
                        back[kind, sizes[kind]] += weights[v] * np.exp(log_delta[kind] - top) / z
            if not len(charge):
                continue
            pull = 0.0
            for kind in range(kinds):
                d = sizes[kind]
                slope = 0.0
                for j in range(1, d + 1):
                    slope += back[kind, j] * sums[k - 1, kind, j - 1]
                    back[kind, j - 1] += x[k - 1, kind] * back[kind, j]
                pull += slope * x[k - 1, kind] / d
            charge[order[k - 1]] += pull


_LOWEST = -600.0  # of a log-worth below the best: beyond, e^s is 0
_FAR = 30.0
_STEPS = 100
