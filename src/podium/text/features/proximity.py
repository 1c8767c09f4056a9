"""Proximity features: phrases, n-grams, and the distance between the words of a query in a field.

Phrases and distances see stop words; the words of the query, stop words included, are q⁺.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

import numpy as np

from podium.base.arrays import Array, Int32s, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.text.features.base import WHOLE, Context, Feature, FieldFeature, View
from podium.text.features.matching import bm25, tf
from podium.text.ngrams import ngram_df
from podium.text.retrieval.base import MOST


@compiled
def _ngram_bm25(
    counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array
) -> None:
    bm25(counts, times, sizes, terms, totals, params[1:], out)


@compiled
def _share_of_window(
    counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array
) -> None:
    for i in range(len(counts)):
        out[i] = counts[i, 2] / max(counts[i, 1] - counts[i, 0], 1.0)


@register
class Exact(FieldFeature):
    """The number of occurrences of the whole query as a phrase."""

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
    """BM25 over n-grams of the query: df and c are those of the n-gram, lengths those of the field."""

    name, kernel = "ngram_bm25", _ngram_bm25
    field: str = WHOLE
    n: int = param(default=2, least=2, most=5)
    """Words of an n-gram."""
    k1: float = param(default=1.2, least=0, most=MOST)
    """Saturation: the larger, the more a further occurrence of a word adds."""
    b: float = param(default=0.75, least=0, most=1)
    """Share by which long fields are discounted: 0 not at all, 1 in full proportion to their length."""

    def sees(self) -> Hashable:
        return "runs", self.n

    def view(self, context: Context) -> View | None:
        if not len(context.query.terms):
            return None
        return context.once(("runs", self.n), lambda tokens, bounds: _runs(context, self.n, tokens, bounds))


@register
class Span(FieldFeature):
    """m/w for m different query words that occur, and w words in the shortest window that holds them all.

    0 if none occurs, 1 if only one does. Reference: Tao and Zhai, An exploration of proximity measures, 2007.
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
    """Edit distance in words between query and field, divided by the longer length; 0 for a query of unknown words.

    With of=span, the distance to the shortest window of the field with all query words that it has: for long fields.
    """

    name = "edit"
    field: str = WHOLE
    """Field whose words count; `whole` is all fields together."""
    of: Literal["field", "span"] = "field"
    """What the query is compared with: the field, or its shortest window with all query words that it has."""

    def values(self, context: Context) -> Array:
        distances, phrase = np.zeros(len(context)), context.query.sequence
        if not len(context.query.terms):
            return distances
        tokens, starts, ends = context.tokens(self.field)
        if self.of == "span":
            windows = spans(context)[context.column(self.field)].astype(np.int64)
            starts, ends = starts + windows[:, 0], starts + windows[:, 1]
        _edit(tokens, starts, ends, phrase, distances)
        return distances


def spans(context: Context) -> Array:
    """The shortest window with all query words of each field: first word, end (exclusive), number of query words."""

    def make(_: Int32s, bounds: Ints) -> Array:
        windows = np.zeros((bounds.shape[1], len(bounds), 3))
        _spans(*context.matches, bounds, np.empty(len(context.query.terms), np.int64), windows)
        return windows

    return context.once("spans", make)  # (F+1, n, 3)


def _runs(context: Context, n: int, tokens: Int32s, bounds: Ints) -> View | None:
    """Count all n-grams of the query."""
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


def _counts(tokens: Int32s, bounds: Ints, runs: Int32s) -> Array:
    """The number of occurrences of n-grams in each field and in the whole document."""  # (F+1, n, g)
    counts = np.zeros((bounds.shape[1], len(bounds), len(runs)))
    _count_runs(tokens, bounds, runs, counts)
    return counts


@compiled
def _count_runs(tokens: Int32s, bounds: Ints, runs: Int32s, counts: Array) -> None:
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
def _spans(places: Ints, which: Int32s, begin: Ints, bounds: Ints, seen: Ints, out: Array) -> None:
    F = bounds.shape[1] - 1
    for k in range(len(bounds)):
        first = begin[k]
        for f in range(F):
            last = first
            while last < begin[k + 1] and places[last] < bounds[k, f + 1]:
                last += 1
            _span(places, which, first, last, bounds[k, f], seen, out[f, k])
            first = last
        _span(places, which, begin[k], begin[k + 1], bounds[k, 0], seen, out[F, k])


@compiled
def _span(places: Ints, which: Int32s, first: int, last: int, start: int, seen: Ints, out: Array) -> None:
    """The shortest window over the matches of one field; `seen` is scratch for a count of each term."""
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
                out[0], out[1] = places[left] - start, places[right] + 1 - start
            seen[which[left]] -= 1
            inside -= seen[which[left]] == 0
            left += 1
    out[2] = different


@compiled
def _edit(tokens: Int32s, starts: Ints, ends: Ints, phrase: Int32s, out: Array) -> None:
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
            out[k] = row[n] / max(n, size)
