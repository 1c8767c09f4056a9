"""Margin violations m = 1 − (s_i − s_j) > 0 of pairs y_i > y_j, for the hinge losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit import sorting as ranking
from podium.jit.compiled import compiled, outlined
from podium.kernels.blocks import bounds, by_grade, count_edges, take
from podium.kernels.sums import add_up

LONG = 1000
"""Documents in a query from which O(n log n) is faster than comparing all pairs, vectorised."""


@compiled
def violations(scores: Array, labels: Array, counts: Array, sums: Array) -> Any:
    """Σ m and Σ m² over the violated pairs of a query, and the number of all pairs.

    Fills, per document i, `counts[i]` with the number of violated pairs in which it should be first, and second, and
    `sums[i]` with their Σ m.
    """  # counts, sums: (n, 2)
    order, ends = by_grade(labels)
    if len(scores) < LONG:
        total, squares = _all_pairs(scores, order, ends, counts, sums)
    else:
        total, squares = _by_sorting(scores, order, ends, counts, sums)
    return total, squares, count_edges(ends)


@compiled
def differences(scores: Array, labels: Array, direction: Array, out: Array) -> int:
    """Fill `out` with Σ (v_i − v_j) over the violated pairs of each document i; returns the number of all pairs."""
    order, ends = by_grade(labels)
    if len(scores) < LONG:
        _all_differences(scores, order, ends, direction, out)
    else:
        _differences_by_sorting(scores, order, ends, direction, out)
    return count_edges(ends)


@outlined("UniTuple(float64, 2)(float64[::1], int64[::1], int64[::1], float64[:, ::1], float64[:, ::1])")
def _all_pairs(scores: Array, order: Ints, ends: Ints, counts: Array, sums: Array) -> Any:
    n = len(scores)
    s, lost, lost_m = take(scores, order), np.zeros(n), np.zeros(n)  # in order of grade
    m = np.empty(n)
    total, squares, p = 0.0, 0.0, 0
    while p < n and ends[p] < n:
        i, end = order[p], ends[p]
        margins = m[end:]
        counts[i, 0] = _row(1.0 - s[p], s[end:], margins, lost[end:], lost_m[end:])
        sums[i, 0] = add_up(margins)
        total += sums[i, 0]
        for j in range(len(margins)):
            margins[j] *= margins[j]
        squares += add_up(margins)
        p += 1
    for q in range(p, n):
        counts[order[q], 0], sums[order[q], 0] = 0.0, 0.0
    for q in range(n):
        counts[order[q], 1], sums[order[q], 1] = lost[q], lost_m[q]
    return total, squares


@compiled
def _row(a: float, s: Array, margins: Array, lost: Array, lost_m: Array) -> Any:
    """Fill `margins` with m_j = [a + s_j]_+; returns the number of positive ones; adds both to `lost_m` and `lost`."""
    count = 0
    for j in range(len(s)):
        margins[j] = max(a + s[j], 0.0)
    for j in range(len(s)):
        violated = margins[j] > 0.0
        count += violated
        lost[j] += violated
        lost_m[j] += margins[j]
    return count


@outlined("void(float64[::1], int64[::1], int64[::1], float64[::1], float64[::1])")
def _all_differences(scores: Array, order: Ints, ends: Ints, direction: Array, out: Array) -> None:
    n = len(scores)
    s, v, lost, d = take(scores, order), take(direction, order), np.zeros(n), np.empty(n)  # in order of grade
    for p in range(n):
        end = ends[p]
        out[order[p]] = _difference_row(1.0 - s[p], v[p], s[end:], v[end:], lost[end:], d[end:])
    for p in range(n):
        out[order[p]] -= lost[p]


@compiled
def _difference_row(a: float, v_i: float, s: Array, v: Array, lost: Array, d: Array) -> Any:
    """Σ d_j, d_j = v_i − v_j for the j with a + s_j > 0, else 0; adds d to `lost`."""
    for j in range(len(s)):
        d[j] = v_i - v[j] if a + s[j] > 0.0 else 0.0
    for j in range(len(s)):
        lost[j] += d[j]
    return add_up(d)


@outlined("UniTuple(float64, 2)(float64[::1], int64[::1], int64[::1], float64[:, ::1], float64[:, ::1])")
def _by_sorting(scores: Array, order: Ints, ends: Ints, counts: Array, sums: Array) -> Any:
    """Go through the scores in descending order with a tree of sums over grades, then ascending, roles exchanged."""
    s, grades, down = _sorted(scores, order, ends)
    total, squares = _sweep(s, grades, down, counts[:, 0], sums[:, 0])
    up = _turn(s, grades, down)
    _sweep(s, grades, up, counts[:, 1], sums[:, 1])
    return total, squares


@compiled
def _sorted(scores: Array, order: Ints, ends: Ints) -> Any:
    """Centred scores, the number of documents of lower grade than each, and the order of scores."""
    n = len(scores)
    s, grades, down = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    ranking.argsort_descending(scores, down)
    low, high = bounds(scores)
    for p in range(n):
        s[p] = scores[p] - 0.5 * (low + high)
        grades[order[p]] = n - ends[p]
    return s, grades, down


@compiled
def _turn(s: Array, grades: Ints, down: Ints) -> Any:
    """Negate scores and grades, in place; returns the reversed order of scores."""
    n = len(s)
    up = np.empty(n, np.int64)
    for p in range(n):
        s[p], grades[p], up[p] = -s[p], n - 1 - grades[p], down[n - 1 - p]
    return up


@outlined("void(float64[::1], int64[::1], int64[::1], float64[::1], float64[::1])")
def _differences_by_sorting(scores: Array, order: Ints, ends: Ints, direction: Array, out: Array) -> None:
    s, grades, down = _sorted(scores, order, ends)
    for i in range(len(out)):
        out[i] = 0.0
    _sweep_differences(s, grades, down, direction, out)
    up = _turn(s, grades, down)
    _sweep_differences(s, grades, up, direction, out)


@compiled
def _sweep_differences(s: Array, grades: Ints, order: Ints, direction: Array, out: Array) -> None:
    """As `_sweep`, adding Σ (v_i − v_j)."""
    n, entered = len(s), 0
    tree = np.zeros((n + 1, 2))  # number, Σ v
    for i in order:
        while entered < n and s[order[entered]] > s[i] - 1.0:
            j = order[entered]
            at = grades[j] + 1
            while at <= n:
                tree[at, 0] += 1.0
                tree[at, 1] += direction[j]
                at += at & -at
            entered += 1
        number, total, at = 0.0, 0.0, grades[i]
        while at > 0:
            number, total = number + tree[at, 0], total + tree[at, 1]
            at -= at & -at
        out[i] += number * direction[i] - total


@compiled
def _sweep(s: Array, grades: Ints, order: Ints, counts: Array, sums: Array) -> Any:
    """For each i, the j of lower grade with m = 1 − s_i + s_j > 0, by a Fenwick tree over grades 0…n−1.

    As s_i falls along `order`, more and more j satisfy s_j > s_i − 1; each enters the tree once.
    """
    n = len(s)
    tree = np.zeros((n + 1, 3))  # number, Σ s, Σ s²
    total, squares, entered = 0.0, 0.0, 0
    for i in order:
        while entered < n and s[order[entered]] > s[i] - 1.0:
            j = order[entered]
            at = grades[j] + 1
            while at <= n:
                tree[at, 0] += 1.0
                tree[at, 1] += s[j]
                tree[at, 2] += s[j] * s[j]
                at += at & -at
            entered += 1
        number, first, second, at = 0.0, 0.0, 0.0, grades[i]
        while at > 0:
            number, first, second = number + tree[at, 0], first + tree[at, 1], second + tree[at, 2]
            at -= at & -at
        a = 1.0 - s[i]
        counts[i], sums[i] = number, number * a + first
        total += sums[i]
        squares += number * a * a + 2.0 * a * first + second
    return total, squares
