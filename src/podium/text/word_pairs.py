"""Pairs of words: exact phrases and unordered windows of two words, in documents and in the whole collection.

Both are counted from left to right without overlap: after a match, counting goes on behind its last word.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from podium.base.arrays import Array, Int32s, Ints
from podium.jit.compiled import compiled

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.index.segment import Segment
    from podium.text.query import Query

PHRASE = 0
"""The window of an exact phrase: the two words next to each other, in their order."""


class WordPairs(NamedTuple):
    """Different pairs of words of a query, and how often the query has each."""

    pairs: Int32s  # (g, 2)
    times: Array  # (g,)


def phrase_pairs(query: Query) -> WordPairs:
    """Adjacent words of a query, stop words included; unknown words make no pair."""
    words = query.sequence.tolist()
    return _counted(list(itertools.pairwise(words)), ordered=True)


def window_pairs(query: Query, *, all_pairs: bool) -> WordPairs:
    """Adjacent terms of a query, or all pairs of terms; stop words and unknown words are skipped."""
    terms = set(query.terms.tolist())
    words = [word for word in query.sequence.tolist() if word in terms]
    ends = range(2, len(words) + 1) if all_pairs else (2,)
    return _counted(
        [(words[k], words[k + size - 1]) for size in ends for k in range(len(words) - size + 1)], ordered=False
    )


def _counted(pairs: list[tuple[int, int]], *, ordered: bool) -> WordPairs:
    times = dict[tuple[int, int], int]()
    for first, second in pairs:
        if min(first, second) >= 0:
            pair = (first, second) if ordered else (min(first, second), max(first, second))
            times[pair] = times.get(pair, 0) + 1
    return WordPairs(np.array(list(times), np.int32).reshape(-1, 2), np.array(list(times.values()), np.float64))


def pair_postings(segment: Segment, pair: Int32s, window: int) -> tuple[Ints, Ints]:
    """The documents of a segment with both words, and their matches in each field and in the whole document."""
    first, second = segment.places(pair)
    columns = segment.bounds.shape[1]
    if first < 0 or second < 0:
        return np.empty(0, np.int64), np.empty((0, columns), np.int64)
    ends = segment.pointers
    both = _common(segment.rows[ends[first] : ends[first + 1]], segment.rows[ends[second] : ends[second + 1]])
    both = both[~segment.dead[both]]
    counts = np.zeros((len(both), columns), np.int64)
    _count_documents(segment.tokens, segment.bounds, both, pair, window, counts)
    return both, counts


def pair_cf(index: Index, pairs: Int32s, window: int) -> Array:
    """The number of matches of each pair in all documents, in each field and in the whole document."""  # (F+1, g)
    cf = np.zeros((len(index.fields) + 1, len(pairs)))
    for segment in index.segments:
        for g, pair in enumerate(pairs):
            cf[:, g] += pair_postings(segment, pair, window)[1].sum(axis=0)
    return cf


def pair_counts(tokens: Int32s, bounds: Ints, pairs: Int32s, window: int) -> Array:
    """The number of matches of each pair in documents, in each field and in the whole."""  # (F+1, n, g)
    out = np.zeros((len(pairs), len(bounds), bounds.shape[1]), np.int64)
    every = np.arange(len(bounds))
    for g, pair in enumerate(pairs):
        _count_documents(tokens, bounds, every, pair, window, out[g])
    return np.ascontiguousarray(out.transpose(2, 1, 0), np.float64)


@compiled
def _common(a: Int32s, b: Int32s) -> Ints:
    """The numbers that are in both of two rising arrays."""
    both, n, j = np.empty(min(len(a), len(b)), np.int64), 0, 0
    for i in range(len(a)):
        while j < len(b) and b[j] < a[i]:
            j += 1
        if j < len(b) and b[j] == a[i]:
            both[n] = a[i]
            n += 1
    return both[:n]


@compiled
def _count_documents(tokens: Int32s, bounds: Ints, rows: Ints, pair: Int32s, window: int, out: Ints) -> None:
    F = bounds.shape[1] - 1
    for k in range(len(rows)):
        limits = bounds[rows[k]]
        for f in range(F):
            out[k, f] = _matches(tokens[limits[f] : limits[f + 1]], pair[0], pair[1], window)
        out[k, F] = _matches(tokens[limits[0] : limits[F]], pair[0], pair[1], window)


@compiled
def _matches(words: Int32s, a: int, b: int, window: int) -> int:
    """Matches of a pair; the last place of each word since the last match is enough to find the next one."""
    matches, of_a, of_b = 0, -1, -1
    reach = 2 if window == 0 else window
    for p in range(len(words)):
        forward = words[p] == b and of_a >= 0 and p - of_a < reach
        if forward or (window > 0 and words[p] == a and of_b >= 0 and p - of_b < reach):
            matches, of_a, of_b = matches + 1, -1, -1
        elif words[p] == a:
            of_a = p
        elif words[p] == b:
            of_b = p
    return matches
