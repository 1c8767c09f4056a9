"""Sorting by score: order, ranks, ties, top-k; and the merge sort that all compiled code shares.

    >>> order([0.1, 0.7, 0.7, 0.3]).tolist(), dense_ranks([0.1, 0.7, 0.7, 0.3]).tolist()
    ([1, 2, 3, 0], [3, 1, 1, 2])

Larger comes first, and equal values keep their input order. Many values are sorted into buckets of equal width and then
by insertion, which is O(n) for values spread like scores; values that are too uneven (an outlier, infinities) are
sorted by merging, which is O(n log n). Few values are sorted by insertion alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.base.arrays import Array, Ints, Words
from podium.base.errors import DataError, ParameterError
from podium.jit.compiled import compiled, inlined, outlined
from podium.jit.tiers import is_small
from podium.jit.views import view


def order(scores: ArrayLike) -> Ints:
    """Order of one query's documents from best to worst, as indices into `scores`; ties in input order."""
    values = _numbers(scores)
    if is_small(len(values)):
        return np.argsort(-values, kind="stable")
    best_first = np.empty(len(values), np.int64)
    argsort_descending(values, best_first)
    return best_first


def dense_ranks(values: ArrayLike) -> Ints:
    """Dense ranks: 1 for the largest value, 2 for the next smaller one…; equal values share a rank."""
    numbers = _numbers(values)
    best_first = order(numbers)
    steps = np.diff(numbers[best_first], prepend=numbers[best_first[:1]]) != 0
    ranks = np.empty(len(numbers), np.int64)
    ranks[best_first] = 1 + np.cumsum(steps)
    return ranks


def ordinal_ranks(scores: ArrayLike) -> Ints:
    """Ordinal ranks: 1 for the first document in `order`, 2 for the next…; equal values get different ranks."""
    best_first = order(scores)
    ranks = np.empty(len(best_first), np.int64)
    ranks[best_first] = np.arange(1, len(best_first) + 1)
    return ranks


def top_k(scores: ArrayLike, k: int) -> Ints:
    """The k best documents of one query, best first; all of them if there are fewer."""
    if k < 1:
        raise ParameterError(f"top_k: k must be at least 1; got {k}.")
    return order(scores)[:k]


def order_all(scores: ArrayLike, offsets: Ints) -> tuple[Ints, Ints]:
    """Order of each query as rows of `scores` (N,), and the end of the tie group of each place (N,).

    The ends are counted from the query's own first place: places `p` to `ends[p] - 1` have equal scores.
    """
    values = _numbers(scores)
    if is_small(len(values)):
        return plain_order(values, np.asarray(offsets))
    best_first, ends = np.empty(len(values), np.int64), np.empty(len(values), np.int64)
    _order_queries(values, np.ascontiguousarray(offsets, np.int64), best_first, ends)
    return best_first, ends


def plain_order(values: Array, offsets: Ints) -> tuple[Ints, Ints]:
    """`order_all` in numpy, for few values."""
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    best_first = np.lexsort((-values, query))
    ranked = values[best_first]
    last = np.append((ranked[1:] != ranked[:-1]) | (query[1:] != query[:-1]), True)[: len(values)]  # of its tie group
    group = np.cumsum(last) - last
    return best_first, np.flatnonzero(last)[group] + 1 - offsets[query]


def break_ties(best_first: Ints, ends: Ints, *, offsets: Ints, keys: Array) -> Ints:
    """The order of `order_all` with the rows of each tie group in descending order of their keys (N,)."""
    if is_small(len(best_first)):
        query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return best_first[np.lexsort((-np.asarray(keys, np.float64)[best_first], ends, query))]
    broken = best_first.copy()
    _sort_groups(broken, ends, np.ascontiguousarray(offsets, np.int64), np.ascontiguousarray(keys, np.float64))
    return broken


@outlined("void(float64[::1], int64[::1])")
def argsort_descending(scores: Array, out: Ints) -> None:
    """Fill `out` with the positions of `scores` from the largest to the smallest, ties in input order."""
    argsort_within(scores, out, np.empty(SORT_WORK * (len(scores) + 1), np.uint64))


SORT_WORK = 6
"""Size of the workspace of `argsort_within` per score, with one score more than there are."""


@outlined("void(float64[::1], int64[::1], uint64[::1])")
def argsort_within(scores: Array, out: Ints, work: Words) -> None:
    """`argsort_descending` in a workspace, for many calls."""
    n, p = len(scores), 1
    while p < n and scores[p - 1] >= scores[p]:
        p += 1
    if p >= n and (n == 0 or scores[0] == scores[0]):  # in order already, as in most files
        for i in range(n):
            out[i] = i
        return
    low, high, nan = scores[0], scores[0], False
    for i in range(n):
        value = scores[i]
        low, high = value if value < low else low, value if value > high else high
        nan |= value != value
    if n <= _SHORT and not nan:
        for i in range(n):
            value, p = scores[i], i
            while p > 0 and scores[out[p - 1]] < value:
                out[p] = out[p - 1]
                p -= 1
            out[p] = i
        return
    bits = _FEW_BITS if n <= 1 << _FEW_BITS else _MANY_BITS
    scale = (float(1 << (63 - bits)) - 1.0) / (high - low)
    if nan or not scale < np.inf or not scale > 0.0 or not _bucket_sort(scores, out, work, high, scale, bits):
        _merge_sort(scores, out, work)


def any_ties(ends: Ints, offsets: Ints) -> bool:
    """Whether any query has equal scores; `ends` as from `order_all`."""
    if is_small(len(ends)):
        return bool((ends != np.arange(1, len(ends) + 1) - np.repeat(offsets[:-1], np.diff(offsets))).any())
    return _any_ties(ends, offsets)


@compiled
def _any_ties(ends: Ints, offsets: Ints) -> bool:
    for q in range(len(offsets) - 1):
        for p in range(offsets[q], offsets[q + 1]):
            if ends[p] != p - offsets[q] + 1:
                return True
    return False


@compiled
def tie_ends(scores: Array, best_first: Ints, out: Ints) -> None:
    """Fill `out` with the end, exclusive, of the group of equal scores of each place."""
    end, behind = len(best_first), np.nan
    for p in range(len(best_first) - 1, -1, -1):
        score = scores[best_first[p]]
        end = end if score == behind or p + 1 == len(best_first) else p + 1
        out[p], behind = end, score


@outlined("void(float64[::1], float64[::1])")
def sort_descending(values: Array, out: Array) -> None:
    """Fill `out` with the values from the largest to the smallest; grades from 0 to 7 are only counted."""
    sort_within(values, out, np.empty(len(values) + 8, np.int64), np.empty(SORT_WORK * (len(values) + 1), np.uint64))


@outlined("void(float64[::1], float64[::1], int64[::1], uint64[::1])")
def sort_within(values: Array, out: Array, places: Ints, work: Words) -> None:
    """`sort_descending` in a workspace, for many calls; `places` has room for 8 more than there are values."""
    for grade in range(8):
        places[grade] = 0
    for i in range(len(values)):
        value = values[i]
        if not 0.0 <= value <= 7.0 or value != np.int64(value):  # no grade
            best_first = view(places, 0, len(values))
            argsort_within(values, best_first, work)
            for p in range(len(values)):
                out[p] = values[best_first[p]]
            return
        places[np.int64(value)] += 1
    at = 0
    for grade in range(7, -1, -1):
        for _ in range(places[grade]):
            out[at] = grade
            at += 1


def _numbers(values: ArrayLike) -> Array:
    numbers = np.ascontiguousarray(values, np.float64)
    if numbers.ndim != 1:
        raise DataError(f"Scores must be a flat list of numbers; got an array of shape {numbers.shape}.")
    check_scores(numbers)
    return numbers


def check_scores(numbers: Array) -> None:
    """Raise a clear error if a score is NaN."""
    if np.isnan(numbers.min(initial=np.inf)):
        bad = np.isnan(numbers)
        raise DataError(
            f"The score of row {int(bad.argmax())} is not a number (NaN), and {int(bad.sum())} of {len(bad)} are: "
            "NaN has no place in an order. Look for missing features or a training run that diverged."
        )


_SHORT = 64
"""Lists up to here are sorted by insertion, since compiling a faster sort takes a quarter of a second."""
_1 = np.uint64(1)
_FEW_BITS, _MANY_BITS = 16, 32  # of a sort key that hold the position


@outlined("boolean(float64[::1], int64[::1], uint64[::1], float64, float64, int64)")
def _bucket_sort(scores: Array, out: Ints, work: Words, high: float, scale: float, bits: int) -> bool:
    """Sort by at least 2n buckets of equal width; False, with `out` half done, if the buckets are too uneven.

    Sorted are keys: the distance of a score from the highest as a whole number, and in the lowest `bits` its position.
    Different scores may have the same number; only those are compared again.
    """
    n, shift, buckets = len(scores), 62, 2
    while buckets < 2 * n:
        buckets, shift = 2 * buckets, shift - 1
    low, down = np.uint64(bits), np.uint64(shift)
    keys, placed, starts = view(work, 0, n), view(work, n, 2 * n), view(work, 2 * n, 2 * n + buckets + 1)
    for i in range(n):
        keys[i] = np.uint64(np.int64((high - scores[i]) * scale)) << low | np.uint64(i)
    for b in range(buckets + 1):
        starts[b] = 0
    for key in keys:
        starts[np.int64(key >> down) + 1] += _1
    before = np.uint64(0)
    for b in range(buckets):
        before += starts[b]
        starts[b] = before
    for key in keys:
        bucket = np.int64(key >> down)
        placed[np.int64(starts[bucket])] = key
        starts[bucket] += _1
    moves, top = 0, placed[0]
    for p in range(1, n):  # neighbours first, without a branch that cannot be foreseen
        key = placed[p]
        placed[p - 1], top = (key, top) if key < top else (top, key)
    placed[n - 1] = top
    for p in range(1, n):
        key, at = placed[p], p
        while at > 0 and placed[at - 1] > key:
            placed[at] = placed[at - 1]
            at -= 1
        placed[at] = key
        moves += p - at
        if moves > 8 * n:
            return False
    mask = (_1 << low) - _1
    for p in range(n):
        out[p] = np.int64(placed[p] & mask)
    for p in range(1, n):  # different scores that are so close that they share a number
        if placed[p - 1] >> low == placed[p] >> low:
            i, at = out[p], p
            while at > 0 and scores[out[at - 1]] < scores[i]:
                out[at] = out[at - 1]
                at -= 1
            out[at] = i
            moves += p - at
            if moves > 16 * n:
                return False
    return True


@outlined("void(float64[::1], int64[::1], uint64[::1])")
def _merge_sort(scores: Array, out: Ints, work: Words) -> None:
    """Sort by descending score, NaN last."""
    n = len(scores)
    order, spare = view(work, 0, n), view(work, n, 2 * n)
    for i in range(n):
        order[i] = np.uint64(i)
    order = merge_sort(order, spare, _is_larger, scores)
    for i in range(n):
        out[i] = np.int64(order[i])


@compiled
def _is_larger(scores: Array, i: int, j: int) -> bool:
    s, t = scores[i], scores[j]
    return s > t or (t != t and s == s)  # type: ignore[no-any-return]


@inlined
def merge_sort(order: NDArray[Any], spare: NDArray[Any], precedes: Callable[..., Any], context: object) -> Any:
    """Sort the items of `order` by merging runs of 1, 2, 4, … places; the result is in it or in `spare`, of equal size.

    Item j comes before an earlier item i if precedes(context, j, i); else they keep their order. numpy's sorts take
    seconds to compile.
    """
    n, width = len(order), 1
    while width < n:
        for start in range(0, n, 2 * width):
            left, middle, end = start, min(start + width, n), min(start + 2 * width, n)
            right = middle
            for at in range(start, end):
                second = right < end
                if second and left < middle:
                    second = precedes(context, order[right], order[left])
                spare[at] = order[right if second else left]
                left, right = (left, right + 1) if second else (left + 1, right)
        order, spare, width = spare, order, 2 * width
    return order


@compiled
def _order_queries(scores: Array, offsets: Ints, best_first: Ints, ends: Ints) -> None:
    for q in range(len(offsets) - 1):
        a, b = offsets[q], offsets[q + 1]
        own = best_first[a:b]
        argsort_descending(scores[a:b], own)
        tie_ends(scores[a:b], own, ends[a:b])
        own += a


@compiled
def _sort_groups(best_first: Ints, ends: Ints, offsets: Ints, keys: Array) -> None:
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
