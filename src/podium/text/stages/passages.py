"""Passages: documents ranked by windows of their words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from podium.base.arrays import Array, Flags, Int32s, Ints
from podium.base.errors import ParameterError
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.jit.tiers import tier
from podium.text.context import slots_of
from podium.text.retrieval.base import Retrieval, Statistics, Sums, Totals, Where, WordRetrieval
from podium.text.retrieval.bm25 import BM25
from podium.text.stages.joined_lists import best_first

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.index.segment import Segment
    from podium.text.query import Query


_MOST_OVER = 100
"""Windows that a word may be in: time and memory grow with it."""


class _Windows(NamedTuple):
    """The windows of the documents of a segment, and the occurrences of the query's terms in them."""

    ends: Ints  # (D+1,): windows ends[d]:ends[d+1] are of document d
    lengths: Array  # (W,) words that are not stop words, weighted by field
    pointers: Ints  # (m+1,)
    rows: Int32s  # windows, rising within a term
    counts: Array


@register
class Passages(Retrieval):
    """Windows of a document's words are scored as if each were a document; the document has the score of its best one.

    A window has `words` words, stop words included, and begins `step` words after the one before; the last one ends
    with the document. Document frequencies, lengths and their mean are those of windows. `take` is the score of a
    document: of its best window, of its first one, or the sum of all that have a word of the query.
    A word is in at most 100 windows.
    Use it for: long documents about many things.
    """

    of: WordRetrieval = BM25()
    """Retrieval that scores the windows."""
    words: int = param(default=150, least=1, most=1_000_000)
    """Words of a window."""
    step: int = param(default=75, least=1, most=1_000_000)
    """Words between the beginnings of two windows."""
    take: Literal["max", "first", "sum"] = "max"
    """Score of a document: of its best window, of its first, or the sum."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.words > _MOST_OVER * self.step:
            raise ParameterError(
                f"passages: with words={self.words} and step={self.step}, each word would be in "
                f"{-(-self.words // self.step)} windows. Let step be at least {-(-self.words // _MOST_OVER)}."
            )

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        weights, sizes = self.of.weights(index.fields, index.weights), [len(s.tokens) for s in index.segments]
        with tier(sum(sizes) * (1 + self.words // self.step)):
            parts = [self._windows(index, segment, query, weights) for segment in index.segments]
            statistics, totals = _statistics(parts, index.segments, query)
            scored = [
                self._scores(index, segment, windows, query, weights, statistics, totals, where)
                for segment, windows in zip(index.segments, parts, strict=True)
            ]
        scores = np.concatenate([np.empty(0), *(part[0] for part in scored)])
        numbers = np.concatenate([np.empty(0, np.int64), *(part[1] for part in scored)])
        return best_first(scores, numbers, k)

    def _windows(self, index: Index, segment: Segment, query: Query, weights: Array) -> _Windows:
        def layout() -> tuple[Ints, Array]:
            tokens = segment.bounds[:, -1] - segment.bounds[:, 0]
            windows = 1 + -(-np.maximum(tokens - self.words, 0) // self.step)
            ends = np.concatenate([[0], np.cumsum(windows)])
            lengths = np.zeros(ends[-1])
            _lengths(segment.tokens, segment.bounds, index.flags, weights, self.words, self.step, ends, lengths)
            return ends, lengths

        key = ("windows", id(segment), self.words, self.step, weights.tobytes())
        ends, lengths = index.kept_arrays(key, layout)
        slots = slots_of(1 + max(segment.tokens.max(initial=-1), query.terms.max(initial=-1)))
        arrays = (
            segment.tokens,
            segment.bounds,
            segment.dead,
            query.terms,
            slots,
            weights,
            self.words,
            self.step,
            ends,
        )
        size = _occurrences(*arrays, np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))
        terms, rows, counts = np.empty(size, np.int64), np.empty(size, np.int32), np.empty(size)
        _occurrences(*arrays, terms, rows, counts)
        order = np.argsort(terms, kind="stable")
        pointers = np.searchsorted(terms[order], np.arange(len(query.terms) + 1))
        return _Windows(ends, lengths, pointers, rows[order], counts[order])

    def _scores(
        self, index: Index, segment: Segment, windows: _Windows, query: Query, weights: Array,
        statistics: Statistics, totals: Totals, where: Where | None,
    ) -> tuple[Array, Ints]:  # fmt: skip
        """The scores and the numbers of the documents of a segment with a word of the query."""

        key = ("window scores", id(segment), repr(self), weights.tobytes())

        def kept(more: tuple[float, ...], make: Callable[[], Array]) -> Array:
            return index.kept_arrays((*key, *more), lambda: (make(),))[0]

        size = len(windows.lengths)
        allowed = ~segment.dead if where is None else where(segment.numbers) & ~segment.dead
        postings = (windows.pointers, windows.rows, windows.counts)
        scratch = index.scratch(max(size, 1))
        sums = Sums(np.arange(len(query.terms)), postings, windows.lengths, np.zeros(size, np.bool_), scratch, kept)
        try:
            touched = scratch.touched[: self.of.scores(sums, query, statistics, totals)].astype(np.int64)
            scores = scratch.scores[touched]
        finally:
            scratch.scores[:size], scratch.seen[:size] = 0.0, False
        documents = np.searchsorted(windows.ends, touched, side="right") - 1
        if self.take == "first":
            is_first = windows.ends[documents] == touched
            documents, scores = documents[is_first], scores[is_first]
        rows, which = np.unique(documents, return_inverse=True)
        joined = np.zeros(len(rows)) if self.take == "sum" else np.full(len(rows), -np.inf)
        (np.add if self.take == "sum" else np.maximum).at(joined, which, scores)
        return joined[allowed[rows]], segment.numbers[rows[allowed[rows]]]


def _statistics(parts: list[_Windows], segments: list[Segment], query: Query) -> tuple[Statistics, Totals]:
    """Collection statistics of windows, of documents that are not deleted."""
    windows, terms, m = 0, 0.0, len(query.terms)
    df, cf = np.zeros((m, 1)), np.zeros((m, 1))
    for part, segment in zip(parts, segments, strict=True):
        alive = np.repeat(~segment.dead, np.diff(part.ends))
        windows, terms = windows + int(alive.sum()), terms + float(part.lengths[alive].sum())
        df[:, 0] += np.diff(part.pointers)
        cf[:, 0] += np.diff(np.concatenate([[0.0], np.cumsum(part.counts)])[part.pointers])
    return Statistics(windows, np.array([terms]), df, cf), Totals(terms, cf[:, 0])


@compiled
def _lengths(
    tokens: Int32s, bounds: Ints, flags: Flags, weights: Array, words: int, step: int, ends: Ints, out: Array
) -> None:
    """Weighted numbers of words of each window that are not stop words."""
    for d in range(len(bounds)):
        for f in range(len(weights)):
            for p in range(bounds[d, f], bounds[d, f + 1]):
                if not flags[tokens[p]]:
                    first, last = _windows_at(p - bounds[d, 0], words, step, ends[d + 1] - ends[d])
                    for w in range(first, last + 1):
                        out[ends[d] + w] += weights[f]


@compiled
def _windows_at(place: int, words: int, step: int, windows: int) -> tuple[int, int]:
    """The first and the last window of a document with a place."""
    return max(0, (place - words) // step + 1), min(place // step, windows - 1)


@compiled
def _occurrences(
    tokens: Int32s, bounds: Ints, dead: Flags, terms: Int32s, slots: Int32s, weights: Array, words: int, step: int,
    ends: Ints, of_terms: Ints, rows: Int32s, counts: Array,
) -> int:  # fmt: skip
    """Terms of windows: the term, the window and the weighted count of each. Without room, only their number."""
    for m in range(len(terms)):
        slots[terms[m]] = m
    n, around = 0, words // step + 2  # a word is in fewer windows, so that their remainders differ
    newest, places = np.full((around, len(terms)), -1), np.zeros((around, len(terms)), np.int64)
    for d in range(len(bounds)):
        for f in range(len(weights)):
            if dead[d] or weights[f] == 0.0:
                continue
            for p in range(bounds[d, f], bounds[d, f + 1]):
                m = slots[tokens[p]]
                if m < 0:
                    continue
                first, last = _windows_at(p - bounds[d, 0], words, step, ends[d + 1] - ends[d])
                for w in range(ends[d] + first, ends[d] + last + 1):
                    at = w % around
                    if newest[at, m] != w:
                        newest[at, m], places[at, m] = w, n
                        if len(rows):
                            of_terms[n], rows[n], counts[n] = m, w, 0.0
                        n += 1
                    if len(rows):
                        counts[places[at, m]] += weights[f]
    for m in range(len(terms)):
        slots[terms[m]] = -1
    return n
