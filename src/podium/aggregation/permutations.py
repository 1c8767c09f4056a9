"""Distances between strict rankings (Kendall, footrule, Cayley), and their change if two documents change places.

    >>> a, b = np.array([0, 1, 2]), np.array([2, 0, 1])  # the place of each document
    >>> [distance(kind, a, b) for kind in range(3)]  # Kendall, footrule, Cayley
    [2, 4, 2]

Kendall counts the pairs in the other order, Spearman's footrule adds up the places moved, Cayley counts the exchanges
of two documents that are needed: n less the cycles of one ranking followed by the other's inverse.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Ints
from podium.jit.compiled import compiled

Distance = Literal["kendall", "footrule", "cayley"]
KINDS: tuple[Distance, ...] = ("kendall", "footrule", "cayley")


@compiled
def distance(kind: int, a: Ints, b: Ints) -> int:
    """The distance of two rankings, given as places (n,)."""
    n, total = len(a), 0
    if kind == 0:
        for i in range(n):
            for j in range(i):
                total += (a[i] < a[j]) != (b[i] < b[j])
    elif kind == 1:
        for i in range(n):
            total += abs(a[i] - b[i])
    else:
        at = np.empty(n, np.int64)  # the document that `a` has at each place
        for i in range(n):
            at[a[i]] = i
        seen = np.zeros(n, np.bool_)
        total = n
        for i in range(n):
            total -= not seen[i]
            j = i
            while not seen[j]:
                seen[j] = True
                j = at[b[j]]
    return total


@compiled
def change(kind: int, moved: Ints, other: Ints, at: Ints, to: Ints, i: int, j: int) -> int:
    """The growth of d(moved, other) if documents i and j change places in `moved`.

    `at` (document by place) and `to` (place by document) belong to one ranking each of the two; Cayley's distance
    walks the cycle from i by them: i and j on one cycle are split, else joined. Kendall's counts the documents between.
    """
    if kind == 1:
        before = abs(moved[i] - other[i]) + abs(moved[j] - other[j])
        return abs(moved[j] - other[i]) + abs(moved[i] - other[j]) - before  # type: ignore[no-any-return]
    if kind == 2:
        k = at[to[i]]
        while k != i and k != j:
            k = at[to[k]]
        return -1 if k == j else 1
    if moved[i] > moved[j]:
        i, j = j, i
    grown = 1 if other[i] < other[j] else -1
    if moved[j] - moved[i] > 1:
        for k in range(len(moved)):
            if moved[i] < moved[k] < moved[j]:
                grown += 1 if other[i] < other[k] else -1
                grown += 1 if other[k] < other[j] else -1
    return grown


@compiled
def distances(kind: int, rankings: Ints, other: Ints, out: NDArray[np.int8]) -> None:
    """Fill `out` with the distance of each row from one ranking."""
    for r in range(len(rankings)):
        out[r] = distance(kind, rankings[r], other)
