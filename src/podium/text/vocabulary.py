"""Vocabulary of an index in the order of letters: terms that begin with a prefix, and terms near a misspelt word.

Stop words are left out, and so are terms that no document has any more.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Bytes, Int32s, Ints
from podium.jit.compiled import compiled

if TYPE_CHECKING:
    from podium.text.index.index import Index


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The terms of an index, sorted by their letters."""

    words: list[str]
    terms: Int32s  # (V,) the number of each
    df: Ints  # (V,) documents with each
    letters: Int32s  # the letters of all, end to end
    ends: Ints  # (V+1,)


def vocabulary(index: Index) -> Vocabulary:
    """The vocabulary of an index, read once for each of its states."""
    return index.kept("vocabulary", lambda: _read(index))


def _read(index: Index) -> Vocabulary:
    df = np.zeros(len(index.flags), np.int64)
    for segment in index.segments:
        df[segment.terms] += segment.df[:, -1]
    df[index.flags] = 0
    names = sorted((word, t) for t, word in index.store.vocabulary() if df[t])
    words, terms = [word for word, _ in names], np.array([t for _, t in names], np.int32)
    ends = np.zeros(len(words) + 1, np.int64)
    np.cumsum([len(word) for word in words], out=ends[1:])
    return Vocabulary(words, terms, df[terms], _letters("".join(words)), ends)


def _letters(text: str) -> Int32s:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<i4").astype(np.int32)


def with_prefix(index: Index, prefix: str) -> Ints:
    """Indices in the vocabulary of the terms that begin with these letters."""
    words = vocabulary(index).words
    first = bisect.bisect_left(words, prefix)
    last = bisect.bisect_left(words, True, lo=first, key=lambda word: not word.startswith(prefix))
    return np.arange(first, last)


def near_words(index: Index, word: str, typos: int) -> tuple[Ints, Bytes]:
    """Indices in the vocabulary of the terms near a word, rising, and the number of typos of each.

    A typo is a letter added, left out or replaced, or two neighbours exchanged (optimal string alignment distance).
    """
    whole = vocabulary(index)
    distances = np.empty(len(whole.words), np.uint8)
    _distances(whole.letters, whole.ends, _letters(word), typos, distances)
    near = np.flatnonzero(distances <= typos)
    return near, distances[near]


@compiled
def _distances(letters: Int32s, ends: Ints, word: Int32s, most: int, out: Bytes) -> None:
    """Distances of a word to all of the vocabulary, if at most `most`; otherwise `most` + 1."""
    rows = np.empty((3, len(word) + 1), np.int64)
    for k in range(len(ends) - 1):
        other = letters[ends[k] : ends[k + 1]]
        out[k] = _distance(other, word, most, rows) if abs(len(other) - len(word)) <= most else most + 1


@compiled
def _distance(a: Int32s, b: Int32s, most: int, rows: Ints) -> int:
    """Optimal string alignment distance; `most` + 1 if it is more."""
    before, above, row = rows[0], rows[1], rows[2]
    for j in range(len(b) + 1):
        above[j] = j
    for i in range(1, len(a) + 1):
        row[0] = least = i
        for j in range(1, len(b) + 1):
            d = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                d = min(d, before[j - 2] + 1)
            row[j] = d
            least = min(least, d)
        if least > most:
            return most + 1
        before, above, row = above, row, before
    return int(min(above[len(b)], most + 1))
