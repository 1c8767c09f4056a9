"""Cascades: a user reads from the top, stops at a document with its probability R, and counts the weight of its rank.

Ties: let q_j be the mean product of j distinct (1 − R) of a tie group's documents with R > 0; a user who meets the
(j+1)-th of them stops there with probability (q_j − q_{j+1})/q_j, and how many come before a place is hypergeometric.
Cost: O(n), in tie groups O(documents with R > 0 × places that matter).
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled, inlined
from podium.metrics.kernels import OWN, cut, gain


@compiled
def weight(place: int, decay: float) -> float:
    """Weight of a place, from 0: decay^place, or 1/(place + 1) if decay is 0."""
    return decay**place if decay > 0.0 else 1.0 / (place + 1.0)


@compiled
def expected_stop(labels: Array, ends: Ints, config: Array, decay: float) -> float:
    """Σ_r P(stop at r) w_r over ranks ≤ k, with R = gain · config[OWN]."""
    last, total, alive, start = cut(len(labels), config), 0.0, 1.0, 0
    while start < last and alive > _NOTHING:
        end = ends[start]
        if end - start == 1:
            stop = gain(labels[start], config) * config[OWN]
            total += alive * stop * weight(start, decay)
            alive *= 1.0 - stop
        else:
            passing = _passing(labels[start:end], config)
            if len(passing) > 0:
                total += alive * _tied(passing, start, end, last, decay)
            for x in passing:
                alive *= x
        start = end
    return total


@compiled
def prepare_stops(labels: Array, config: Array, work: Array, decay: float, scale: float) -> None:
    """R; Π_{q < r} (1 − R_q); Σ_{q ≤ r} P(stop at q) w_q, over ranks ≤ k; a factor of all changes; the first R = 1.

    Behind the first document with R = 1, where nobody comes, products and sums are those without that document.
    """
    n, last, alive, total, certain = len(labels), cut(len(labels), config), 1.0, 0.0, len(labels)
    for place in range(n):
        stop = gain(labels[place], config) * config[OWN]
        total += alive * stop * weight(place, decay) if place < last else 0.0
        work[place], work[n + place], work[2 * n + place] = stop, alive, total
        if stop == 1.0 and certain == n:
            certain = place
        else:
            alive *= 1.0 - stop
    work[3 * n], work[3 * n + 1] = scale, certain


@inlined
def swap_stops(labels: Array, config: Array, work: Array, i: int, j: int, decay: float) -> float:
    """|Δ| = P(reach i) |R_j − R_i| |w_i − B − P w_j|, B the sum between i and j for who passes i, P to reach j then."""
    n, last = len(labels), cut(len(labels), config)
    certain, change = int(work[3 * n + 1]), work[j] - work[i]
    if i >= last or change == 0.0 or i > certain:
        return 0.0
    passed = 1.0 - work[i] if i < certain else 1.0
    if i < certain < j:
        between, reached = work[2 * n + certain] - work[2 * n + i], 0.0
    else:
        between, reached = work[2 * n + j - 1] - work[2 * n + i], work[n + j] if j < last else 0.0
    inner = (between + reached * weight(j, decay)) / passed
    return abs(change * (work[n + i] * weight(i, decay) - inner)) * work[3 * n]  # type: ignore[no-any-return]


_NOTHING = 1e-18  # a chance too small to change a sum of order 1


@compiled
def _passing(labels: Array, config: Array) -> Array:
    """1 − R of the documents with R > 0."""
    passing, n = np.empty(len(labels)), 0
    for label in labels:
        stop = gain(label, config) * config[OWN]
        if stop > 0.0:
            passing[n] = 1.0 - stop
            n += 1
    return passing[:n]


@compiled
def _mean_products(passing: Array) -> Array:
    """q_0…q_J: the mean product of j distinct numbers; J where it vanishes, or all of them.

    Adding the m-th number x: q_j ← (1 − j/m) q_j + (j/m) x q_{j−1}, a mean of positive numbers.
    """
    size = len(passing)
    limit = size
    largest = passing.max()
    if largest < 1.0:
        limit = min(size, int(np.log(_NOTHING) / np.log(largest)) + 1)
    q = np.zeros(limit + 1)
    q[0] = 1.0
    for m in range(1, size + 1):
        x = passing[m - 1]
        for j in range(min(m, limit), 0, -1):
            q[j] = (1.0 - j / m) * q[j] + (j / m) * x * q[j - 1]
    return q


@compiled
def _tied(passing: Array, start: int, end: int, last: int, decay: float) -> float:
    """Σ P(stop at r) w_r over the places of a tie group, for a user who reaches it."""
    q, size = _mean_products(passing), len(passing)
    met = np.zeros(len(q))  # met[j]: the chance that j documents with R > 0 come before the place
    met[0] = 1.0
    total, most = 0.0, 0
    for place in range(start, min(end, last)):
        left = end - place
        stop, alive = 0.0, 0.0
        for j in range(min(most, len(q) - 2), -1, -1):
            next_is = met[j] * (size - j) / left
            stop += next_is * (q[j] - q[j + 1])
            alive += met[j] * q[j]
            met[j + 1] += next_is
            met[j] -= next_is
        total += stop * weight(place, decay)
        most = min(most + 1, size)
        if alive < _NOTHING:
            break
    return total
