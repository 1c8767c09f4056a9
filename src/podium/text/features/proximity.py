"""Proximity: phrases, pairs of adjacent words, and how close together the words of a query lie in a field.

Phrases and distances see stop words; the words of the query, stop words included, are q⁺.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from podium.compiled import compiled
from podium.registry import param, register
from podium.text.context import slots_of
from podium.text.features.base import WHOLE, Array, Context, Feature
from podium.text.features.matching import bm25
from podium.text.ngrams import ngram_df


@register
class Exact(Feature):
    """How often the whole query occurs as a phrase."""

    name = "exact"
    field: str = WHOLE

    def values(self, context: Context) -> Array:
        found, phrase = np.zeros(len(context)), context.query.sequence
        if len(phrase) and (phrase >= 0).all():
            _count_grams(*context.tokens(self.field), phrase[None, :], found[:, None])
        return found


@register
class NgramBM25(Feature):
    """BM25 over runs of n words of the query: df and c are those of the run, lengths those of the field."""

    name = "ngram_bm25"
    field: str = WHOLE
    n: int = param(default=2, least=2, most=5)
    k1: float = param(default=1.2, least=0)
    b: float = param(default=0.75, least=0, most=1)

    def values(self, context: Context) -> Array:
        field, words = context.field(self.field), context.query.sequence.tolist()
        times: dict[tuple[int, ...], int] = {}
        for k in range(len(words) - self.n + 1):
            run = tuple(words[k : k + self.n])
            if min(run) >= 0:
                times[run] = times.get(run, 0) + 1
        if not times or not len(context.query.terms):
            return np.zeros(len(context))
        grams, counts = np.array(list(times), np.int32), np.zeros((len(context), len(times)))
        _count_grams(*context.tokens(self.field), grams, counts)
        df = ngram_df(context.index, grams, context.column(self.field))
        worth = np.array(list(times.values()), np.float64) * np.log1p((field.documents - df + 0.5) / (df + 0.5))
        return np.asarray(bm25(counts, worth, field.lengths, field.average, self.k1, self.b))


@register
class Span(Feature):
    """m/w: of the m different query words that occur, over the w words of the shortest window that holds them all.

    0 where none occurs, 1 where one does. Reference: Tao and Zhai, An exploration of proximity measures, 2007.
    """

    name = "span"
    field: str = WHOLE

    def values(self, context: Context) -> Array:
        windows = spans(context, self.field)
        return np.asarray(windows[:, 2] / np.maximum(windows[:, 1] - windows[:, 0], 1))


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
            windows = spans(context, self.field)
            starts, ends = starts + windows[:, 0], starts + windows[:, 1]
        _edit(tokens, starts, ends, phrase, found)
        return found


def spans(context: Context, field: str) -> Any:
    """The shortest window with all query words that occur in a field: first, end (exclusive), number of words."""
    found = np.zeros((len(context), 3), np.int64)  # (n, 3)
    _spans(*context.tokens(field), context.query.terms, slots_of(len(context.index.flags)), found)
    return found


@compiled
def _count_grams(tokens: Any, starts: Any, ends: Any, grams: Any, counts: Any) -> None:
    """Count the runs of words in each document."""
    n = grams.shape[1]
    for k in range(len(starts)):
        for p in range(starts[k], ends[k] - n + 1):
            for g in range(len(grams)):
                same = 0
                while same < n and tokens[p + same] == grams[g, same]:
                    same += 1
                if same == n:
                    counts[k, g] += 1.0


@compiled
def _spans(tokens: Any, starts: Any, ends: Any, terms: Any, slots: Any, found: Any) -> None:
    M = len(terms)
    for m in range(M):
        slots[terms[m]] = m
    seen = np.empty(M, np.int64)
    for k in range(len(starts)):
        different = 0
        seen[:] = 0
        for p in range(starts[k], ends[k]):
            m = slots[tokens[p]]
            if m >= 0:
                different += seen[m] == 0
                seen[m] += 1
        if different == 0:
            continue
        seen[:] = 0
        left, inside, best = starts[k], 0, ends[k] - starts[k] + 1
        for right in range(starts[k], ends[k]):
            m = slots[tokens[right]]
            if m < 0:
                continue
            inside += seen[m] == 0
            seen[m] += 1
            while inside == different:
                if right + 1 - left < best:
                    best = right + 1 - left
                    found[k, 0], found[k, 1] = left - starts[k], right + 1 - starts[k]
                m = slots[tokens[left]]
                if m >= 0:
                    seen[m] -= 1
                    inside -= seen[m] == 0
                left += 1
        found[k, 2] = different
    for m in range(M):
        slots[terms[m]] = -1


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
