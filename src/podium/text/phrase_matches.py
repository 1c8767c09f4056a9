"""Matches of phrases in documents: words next to each other in their order, or near each other.

Matches are counted from left to right without overlap, within a field: after a match, counting goes on behind its last
word. Place p of word i stands for a phrase that begins at p − i; in a match, all beginnings are within `near` places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Int32s, Ints
from podium.jit.compiled import compiled

if TYPE_CHECKING:
    from podium.text.index.segment import Segment


def phrase_postings(segment: Segment, words: Int32s, near: int) -> tuple[Ints, Int32s]:
    """The rows of a segment with a phrase, rising, and its matches in each field."""  # (n,), (n, F)
    places = segment.places(words)
    rows = segment.rows[:0] if (places < 0).any() else _rows_with_all(segment, np.unique(places))
    counts = np.zeros((len(rows), segment.bounds.shape[1] - 1), np.int32)
    _count_phrases(segment.tokens, segment.bounds, rows.astype(np.int64), words, near, counts)
    matching = counts.any(axis=1)
    return rows[matching].astype(np.int64), counts[matching]


def _rows_with_all(segment: Segment, places: Ints) -> Int32s:
    """The rows that have all of the terms at these places, the rarest term first."""
    ends = segment.pointers
    parts = sorted((segment.rows[ends[k] : ends[k + 1]] for k in places), key=len)
    rows = parts[0]
    for part in parts[1:]:
        rows = rows[np.isin(rows, part, assume_unique=True)]
    return rows[~segment.dead[rows]]


@compiled
def _count_phrases(tokens: Int32s, bounds: Ints, rows: Ints, words: Int32s, near: int, counts: Int32s) -> None:
    taken = np.empty(len(words), np.int64)
    for k in range(len(rows)):
        for f in range(counts.shape[1]):
            counts[k, f] = _matches(tokens[bounds[rows[k], f] : bounds[rows[k], f + 1]], words, near, taken)


@compiled
def _matches(field: Int32s, words: Int32s, near: int, taken: Ints) -> int:
    """Number of matches; `taken` is room for the place of each word.

    For each first beginning, every word takes the earliest place that is free, which is best, since the places that
    are open to equal words begin and end in the order of the words.
    """
    m, matches, behind = len(words), 0, 0
    begin = -m - near
    while True:
        late = -1
        for i in range(m):
            p = max(begin + i, behind)
            for j in range(i):
                if words[j] == words[i]:
                    p = max(p, taken[j] + 1)
            while p < len(field) and field[p] != words[i]:
                p += 1
            if p == len(field):
                return matches
            taken[i] = p
            if p > begin + i + near:
                late = i
                break
        if late >= 0:
            begin = taken[late] - late - near  # the first at which this word is not too late
        else:
            matches += 1
            behind = taken.max() + 1
            begin = behind - m - near
