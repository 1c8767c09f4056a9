"""Context: one query and some documents, with what features need to know of them, computed once and only if asked for.

Columns of per-field arrays are the fields in order, then the whole document.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.compiled import compiled
from podium.errors import UnknownNameError
from podium.text.index import WHOLE, Index
from podium.text.query import Query
from podium.text.retrieval import Statistics

Array = NDArray[np.float64]
Ints = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Field:
    """One field of n documents, seen by a query of m distinct terms."""

    counts: Array  # (n, m) c(t, d)
    times: Array  # (m,) how often each term is in the query
    lengths: Array  # (n,) |d|
    distinct: Array  # (n,) u
    documents: float  # N
    df: Array  # (m,)
    cf: Array  # (m,)
    total: float  # |C|

    @property
    def average(self) -> float:
        return self.total / self.documents if self.documents else 0.0


class Context:
    """A query and documents, by their numbers; `scores` are those of the first stage, if the documents come from it."""

    def __init__(
        self, index: Index, query: Query, numbers: NDArray[np.int64], scores: NDArray[np.float64] | None = None
    ) -> None:
        self.index, self.query, self.numbers, self.first_scores = index, query, numbers, scores

    def __len__(self) -> int:
        return len(self.numbers)

    def column(self, field: str) -> int:
        """The column of a field."""
        if field == WHOLE:
            return len(self.index.fields)
        if field not in self.index.fields:
            raise UnknownNameError("field", field, (*self.index.fields, WHOLE))
        return self.index.fields.index(field)

    def field(self, name: str) -> Field:
        """A field of all documents."""
        known = self._fields.get(name)
        if known is None:
            f, s = self.column(name), self.statistics
            known = self._fields[name] = Field(
                self._counts[f], self.query.times, self._lengths[f], self._distinct[f], float(s.documents),
                np.ascontiguousarray(s.df[:, f]), np.ascontiguousarray(s.cf[:, f]), float(s.totals[f]),
            )  # fmt: skip
        return known

    @functools.cached_property
    def _fields(self) -> dict[str, Field]:
        return {}

    @functools.cached_property
    def statistics(self) -> Statistics:
        return self.index.statistics(self.query)

    @functools.cached_property
    def _places(self) -> list[Any]:
        return self.index.places(self.numbers)

    @functools.cached_property
    def _counts(self) -> Array:
        """How often each term of the query occurs."""  # (F+1, n, m)
        found = np.zeros((len(self.index.fields) + 1, len(self), len(self.query.terms)))
        tokens, bounds = self._tokens
        _count(tokens, bounds, self.query.terms, slots_of(len(self.index.flags)), found)
        return found

    @functools.cached_property
    def _tokens(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The terms of all documents end to end, and the bounds of their fields."""  # (n, F+1)
        bounds = np.empty((len(self), len(self.index.fields) + 1), np.int64)
        for segment, at, rows in self._places:
            bounds[at] = segment.bounds[rows]
        sizes = bounds[:, -1] - bounds[:, 0]
        starts = np.cumsum(sizes) - sizes
        tokens = np.empty(int(sizes.sum()), np.int32)
        for segment, at, rows in self._places:
            _gather(segment.tokens, segment.bounds, rows, starts[at], tokens)
        bounds += (starts - bounds[:, 0])[:, None]
        return tokens, bounds

    def tokens(self, field: str) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """The terms of a field: document k has tokens[starts[k]:ends[k]]."""
        f, last = self.column(field), len(self.index.fields)
        tokens, bounds = self._tokens
        first, end = (0, last) if f == last else (f, f + 1)
        return tokens, bounds[:, first].copy(), bounds[:, end].copy()

    @functools.cached_property
    def _lengths(self) -> Array:  # (F+1, n)
        return self._per_field(lambda segment: segment.lengths)

    @functools.cached_property
    def _distinct(self) -> Array:  # (F+1, n)
        return self._per_field(lambda segment: segment.distinct)

    def _per_field(self, of: Callable[[Any], Ints]) -> Array:
        found = np.empty((len(self.index.fields) + 1, len(self)))
        for segment, at, rows in self._places:
            found[:, at] = of(segment)[rows].T
        return found

    @functools.cached_property
    def rows(self) -> NDArray[np.int64]:
        """The places of the documents in arrays over all documents of the index, segment after segment."""
        found, first = np.empty(len(self), np.int64), 0
        where = {id(segment): (at, rows) for segment, at, rows in self._places}
        for segment in self.index.segments:
            if id(segment) in where:
                at, rows = where[id(segment)]
                found[at] = first + rows
            first += len(segment)
        return found


def slots_of(size: int) -> NDArray[np.int32]:
    """An array of −1 for every term, kept by each thread: who writes to it puts −1 back."""
    if getattr(_THREAD, "size", -1) < size:
        _THREAD.size, _THREAD.slots = size, np.full(size, -1, np.int32)
    return _THREAD.slots  # type: ignore[no-any-return]


_THREAD = threading.local()


@compiled
def _gather(tokens: Ints, bounds: Ints, rows: Ints, starts: Ints, out: Ints) -> None:
    for k in range(len(rows)):
        at = starts[k]
        for p in range(bounds[rows[k], 0], bounds[rows[k], -1]):
            out[at] = tokens[p]
            at += 1


@compiled
def _count(tokens: Ints, bounds: Ints, terms: Ints, slots: Ints, counts: Array) -> None:
    F = bounds.shape[1] - 1
    for m in range(len(terms)):
        slots[terms[m]] = m
    for k in range(len(bounds)):
        for f in range(F):
            for p in range(bounds[k, f], bounds[k, f + 1]):
                m = slots[tokens[p]]
                if m >= 0:
                    counts[f, k, m] += 1.0
                    counts[F, k, m] += 1.0
    for m in range(len(terms)):
        slots[terms[m]] = -1
