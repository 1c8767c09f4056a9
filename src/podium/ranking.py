"""The only place that sorts: order, ranks, ties, top-k.

    >>> order([0.1, 0.7, 0.7, 0.3]).tolist(), dense_ranks([0.1, 0.7, 0.7, 0.3]).tolist()
    ([1, 2, 3, 0], [3, 1, 1, 2])

Larger comes first, and what is equal keeps its input order. The sort is a bucket sort on a linear map of the
values with an insertion pass after it, linear for values spread like scores; values that lie too unevenly
for it (an outlier, infinities) go to a merge sort instead, so it is O(n log n) whatever comes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.compiled import compiled
from podium.errors import DataError, ParameterError


def order(scores: ArrayLike) -> NDArray[np.int64]:
    """The documents of one query from the best to the worst, as positions in `scores`; ties in input order."""
    values = _numbers(scores)
    found = np.empty(len(values), np.int64)
    argsort_descending(values, found)
    return found


def dense_ranks(values: ArrayLike) -> NDArray[np.int64]:
    """Dense ranks: 1 for the largest value, 2 for the next smaller one…; equal values share a rank."""
    numbers = _numbers(values)
    best_first = order(numbers)
    steps = np.diff(numbers[best_first], prepend=numbers[best_first[:1]]) != 0
    found = np.empty(len(numbers), np.int64)
    found[best_first] = 1 + np.cumsum(steps)
    return found


def ordinal_ranks(scores: ArrayLike) -> NDArray[np.int64]:
    """Ordinal ranks: 1 for the first document in `order`, 2 for the next…; equal values get different ranks."""
    best_first = order(scores)
    found = np.empty(len(best_first), np.int64)
    found[best_first] = np.arange(1, len(best_first) + 1)
    return found


def top_k(scores: ArrayLike, k: int) -> NDArray[np.int64]:
    """The k best documents of one query, best first; all of them where there are fewer."""
    if k < 1:
        raise ParameterError(f"top_k: k must be at least 1; got {k}.")
    return order(scores)[:k]


def order_all(scores: ArrayLike, offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every query's order as rows of `scores` (N,), and where the tie group of each place ends (N,).

    The ends are counted from the query's own first place: places `p` to `ends[p] - 1` have equal scores.
    """
    values = _numbers(scores)
    best_first, ends = np.empty(len(values), np.int64), np.empty(len(values), np.int64)
    _order_queries(values, np.ascontiguousarray(offsets, np.int64), best_first, ends)
    return best_first, ends


def break_ties(
    best_first: NDArray[np.int64], ends: NDArray[np.int64], *, offsets: NDArray[np.int64], keys: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The order of `order_all` with the rows of each tie group in descending order of their keys (N,)."""
    broken = best_first.copy()
    _sort_groups(broken, ends, np.ascontiguousarray(offsets, np.int64), np.ascontiguousarray(keys, np.float64))
    return broken


@compiled
def argsort_descending(scores: NDArray[np.float64], out: NDArray[np.int64]) -> None:
    """Fill `out` with the positions of `scores` from the largest to the smallest, ties in input order."""
    n = len(scores)
    if n == 0:
        return
    low, high, total = scores[0], scores[0], 0.0
    for s in scores:
        low, high = min(low, s), max(high, s)
        total += s - s  # 0, or NaN once a score is not finite
    scale = (2 * n - 1) / (high - low)
    if low == high and total == 0.0:
        for i in range(n):
            out[i] = i
    elif total != 0.0 or not scale < np.inf or not scale > 0.0 or not _bucket_sort(scores, out, high, scale):
        _merge_sort(scores, out)


@compiled
def tie_ends(scores: NDArray[np.float64], best_first: NDArray[np.int64], out: NDArray[np.int64]) -> None:
    """Fill `out` with the place where each place's group of equal scores ends, exclusive."""
    end = len(best_first)
    for p in range(len(best_first) - 1, -1, -1):
        if p + 1 < len(best_first) and scores[best_first[p]] != scores[best_first[p + 1]]:
            end = p + 1
        out[p] = end


@compiled
def sort_descending(values: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """Fill `out` with the values from the largest to the smallest; small whole numbers are counted."""
    counts = np.zeros(_FEW, np.int64)
    for v in values:
        grade = int(min(max(v, 0.0), _FEW - 1.0))
        if v != grade:
            best_first = np.empty(len(values), np.int64)
            argsort_descending(values, best_first)
            for p in range(len(values)):
                out[p] = values[best_first[p]]
            return
        counts[grade] += 1
    at = 0
    for grade in range(_FEW - 1, -1, -1):
        for _ in range(counts[grade]):
            out[at] = grade
            at += 1


_FEW = 32  # grades that sort_descending counts


def _numbers(values: ArrayLike) -> NDArray[np.float64]:
    numbers = np.ascontiguousarray(values, np.float64)
    if numbers.ndim != 1:
        raise DataError(f"Scores must be a flat list of numbers; got an array of shape {numbers.shape}.")
    bad = np.isnan(numbers)
    if bad.any():
        raise DataError(
            f"The score of row {int(bad.argmax())} is not a number (NaN), and {int(bad.sum())} of {len(bad)} are: "
            "NaN has no place in an order. Look for missing features or a training run that diverged."
        )
    return numbers


@compiled
def _bucket_sort(scores: NDArray[np.float64], out: NDArray[np.int64], high: float, scale: float) -> bool:
    """Sort by 2n buckets of equal width; False, with `out` half done, where the buckets are too uneven."""
    n = len(scores)
    starts, bucket = np.zeros(2 * n + 1, np.int32), np.empty(n, np.int32)
    for i in range(n):
        b = min(int((high - scores[i]) * scale), 2 * n - 1)
        bucket[i] = b
        starts[b + 1] += 1
    for b in range(2 * n):
        starts[b + 1] += starts[b]
    placed = np.empty(n)  # the scores in the order of `out`, so that the last pass reads straight on
    for i in range(n):
        at = starts[bucket[i]]
        out[at], placed[at] = i, scores[i]
        starts[bucket[i]] = at + 1
    moves = 0
    for p in range(1, n):
        if placed[p - 1] >= placed[p]:
            continue
        score, i, at = placed[p], out[p], p
        while at > 0 and placed[at - 1] < score:
            out[at], placed[at] = out[at - 1], placed[at - 1]
            at -= 1
        out[at], placed[at] = i, score
        moves += p - at
        if moves > 8 * n:
            return False
    return True


@compiled
def _merge_sort(scores: NDArray[np.float64], out: NDArray[np.int64]) -> None:
    """Sort by merging runs of 1, 2, 4, … places, NaN last; numpy's sorts take seconds to compile."""
    n, width = len(scores), 1
    a, b = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        a[i] = i
    while width < n:
        for start in range(0, n, 2 * width):
            left, middle, end = start, min(start + width, n), min(start + 2 * width, n)
            right = middle
            for at in range(start, end):
                second = right < end
                if second and left < middle:
                    s, t = scores[a[left]], scores[a[right]]
                    second = t > s or (s != s and t == t)
                b[at] = a[right if second else left]
                left, right = (left, right + 1) if second else (left + 1, right)
        a, b, width = b, a, 2 * width
    for i in range(n):
        out[i] = a[i]


@compiled
def _order_queries(
    scores: NDArray[np.float64], offsets: NDArray[np.int64], best_first: NDArray[np.int64], ends: NDArray[np.int64]
) -> None:
    for q in range(len(offsets) - 1):
        a, b = offsets[q], offsets[q + 1]
        mine = best_first[a:b]
        argsort_descending(scores[a:b], mine)
        tie_ends(scores[a:b], mine, ends[a:b])
        mine += a


@compiled
def _sort_groups(
    best_first: NDArray[np.int64], ends: NDArray[np.int64], offsets: NDArray[np.int64], keys: NDArray[np.float64]
) -> None:
    for q in range(len(offsets) - 1):
        p = offsets[q]
        while p < offsets[q + 1]:
            end = offsets[q] + ends[p]
            if end - p > 1:
                rows = best_first[p:end].copy()
                within = np.empty(len(rows), np.int64)
                argsort_descending(keys[rows], within)
                best_first[p:end] = rows[within]
            p = end
