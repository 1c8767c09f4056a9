"""Proximity: phrases, pairs of adjacent words, and how close together the words of a query lie in a field.

Phrases and distances see stop words; the words of the query, stop words included, are q⁺.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.text.features.base import WHOLE, Context, Feature, FieldFeature, View
from podium.text.features.matching import bm25, tf
from podium.text.ngrams import ngram_df
from podium.text.retrieval.base import MOST


@compiled
def _ngram_bm25(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    bm25(counts, times, sizes, terms, totals, params[1:], found)


@compiled
def _share_of_window(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for i in range(len(counts)):
        found[i] = counts[i, 2] / max(counts[i, 1] - counts[i, 0], 1.0)


@register
class Exact(FieldFeature):
    """How often the whole query occurs as a phrase."""

    name, kernel = "exact", tf
    field: str = WHOLE

    def sees(self) -> Hashable:
        return "phrase"

    def view(self, context: Context) -> View | None:
        phrase = context.query.sequence
        if not len(phrase) or (phrase < 0).any():
            return None
        counts = context.once("exact", lambda tokens, bounds: _counts(tokens, bounds, phrase[None, :]))
        return View(counts, np.ones(1), np.zeros((len(counts), 2, 1)))


@register
class NgramBM25(FieldFeature):
    """BM25 over runs of n words of the query: df and c are those of the run, lengths those of the field."""

    name, kernel = "ngram_bm25", _ngram_bm25
    field: str = WHOLE
    n: int = param(default=2, least=2, most=5)
    k1: float = param(default=1.2, least=0, most=MOST)
    b: float = param(default=0.75, least=0, most=1)

    def sees(self) -> Hashable:
        return "runs", self.n

    def view(self, context: Context) -> View | None:
        if not len(context.query.terms):
            return None
        return context.once(("runs", self.n), lambda tokens, bounds: _runs(context, self.n, tokens, bounds))


@register
class Span(FieldFeature):
    """m/w: of the m different query words that occur, over the w words of the shortest window that holds them all.

    0 where none occurs, 1 where one does. Reference: Tao and Zhai, An exploration of proximity measures, 2007.
    """

    name, kernel = "span", _share_of_window
    field: str = WHOLE

    def sees(self) -> Hashable:
        return "spans"

    def view(self, context: Context) -> View | None:
        windows = spans(context)
        return View(windows, np.empty(0), np.empty((len(windows), 2, 0)))


@register
class Edit(Feature):
    """The edit distance between query and field in words, over the longer of both; 0 for a query without known words.

    With of=span, to the shortest window of the field that holds all query words it has: for long fields.
    """

    name = "edit"
    field: str = WHOLE
    of: Literal["field", "span"] = "field"

    def values(self, context: Context) -> Array:
        found, phrase = np.zeros(len(context)), context.query.sequence
        if not len(context.query.terms):
            return found
        tokens, starts, ends = context.tokens(self.field)
        if self.of == "span":
            windows = spans(context)[context.column(self.field)].astype(np.int64)
            starts, ends = starts + windows[:, 0], starts + windows[:, 1]
        _edit(tokens, starts, ends, phrase, found)
        return found


def spans(context: Context) -> Array:
    """The shortest window with all query words that occur in a field: first, end (exclusive), number of words."""

    def make(_: Any, bounds: Any) -> Array:
        found = np.zeros((bounds.shape[1], len(bounds), 3))
        _spans(*context.matches, bounds, np.empty(len(context.query.terms), np.int64), found)
        return found

    return context.once("spans", make)  # (F+1, n, 3)


def _runs(context: Context, n: int, tokens: Any, bounds: Any) -> View | None:
    """All runs of n words of the query."""
    words, times = context.query.sequence.tolist(), dict[tuple[int, ...], int]()
    for k in range(len(words) - n + 1):
        run = tuple(words[k : k + n])
        if min(run) >= 0:
            times[run] = times.get(run, 0) + 1
    if not times:
        return None
    runs = np.array(list(times), np.int32)
    terms = np.zeros((bounds.shape[1], 2, len(runs)))
    terms[:, 0] = ngram_df(context.index, runs)
    return View(_counts(tokens, bounds, runs), np.array(list(times.values()), np.float64), terms)


def _counts(tokens: Any, bounds: Any, runs: Any) -> Array:
    """How often runs of words occur in each field and in the whole."""  # (F+1, n, g)
    found = np.zeros((bounds.shape[1], len(bounds), len(runs)))
    _count_runs(tokens, bounds, runs, found)
    return found


@compiled
def _count_runs(tokens: Any, bounds: Any, runs: Any, counts: Any) -> None:
    n, F = runs.shape[1], bounds.shape[1] - 1
    for k in range(len(bounds)):
        f = 0
        for p in range(bounds[k, 0], bounds[k, F] - n + 1):
            while p >= bounds[k, f + 1]:
                f += 1
            for g in range(len(runs)):
                same = 0
                while same < n and tokens[p + same] == runs[g, same]:
                    same += 1
                if same == n:
                    counts[F, k, g] += 1.0
                    if p + n <= bounds[k, f + 1]:
                        counts[f, k, g] += 1.0


@compiled
def _spans(places: Any, which: Any, begin: Any, bounds: Any, seen: Any, found: Any) -> None:
    F = bounds.shape[1] - 1
    for k in range(len(bounds)):
        first = begin[k]
        for f in range(F):
            last = first
            while last < begin[k + 1] and places[last] < bounds[k, f + 1]:
                last += 1
            _span(places, which, first, last, bounds[k, f], seen, found[f, k])
            first = last
        _span(places, which, begin[k], begin[k + 1], bounds[k, 0], seen, found[F, k])


@compiled
def _span(places: Any, which: Any, first: int, last: int, start: int, seen: Any, found: Any) -> None:
    """The shortest window over the matches of one field; `seen` is room for a count of each term."""
    different = 0
    for m in range(len(seen)):
        seen[m] = 0
    for at in range(first, last):
        different += seen[which[at]] == 0
        seen[which[at]] += 1
    if different == 0:
        return
    for m in range(len(seen)):
        seen[m] = 0
    left, inside, best = first, 0, np.int64(2**62)
    for right in range(first, last):
        inside += seen[which[right]] == 0
        seen[which[right]] += 1
        while inside == different:
            if places[right] + 1 - places[left] < best:
                best = places[right] + 1 - places[left]
                found[0], found[1] = places[left] - start, places[right] + 1 - start
            seen[which[left]] -= 1
            inside -= seen[which[left]] == 0
            left += 1
    found[2] = different


@compiled
def _edit(tokens: Any, starts: Any, ends: Any, phrase: Any, found: Any) -> None:
    """Levenshtein's distance, row by row."""
    n = len(phrase)
    row = np.empty(n + 1, np.int64)
    for k in range(len(starts)):
        size = ends[k] - starts[k]
        for j in range(n + 1):
            row[j] = j
        for i in range(size):
            corner = row[0]
            row[0] = i + 1
            for j in range(n):
                change = corner + (tokens[starts[k] + i] != phrase[j])
                corner = row[j + 1]
                row[j + 1] = min(change, row[j + 1] + 1, row[j] + 1)
        if max(n, size) > 0:
            found[k] = row[n] / max(n, size)
