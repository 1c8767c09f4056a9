"""Context: one query and some documents, with what features need to know of them, computed once and only if asked for.

Columns of per-field arrays are the fields in order, then the whole document.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from podium.compiled import compiled
from podium.errors import UnknownNameError
from podium.text.index import WHOLE, Index
from podium.text.query import Query
from podium.text.retrieval import Statistics

T = TypeVar("T")
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
            f, s, sizes = self.column(name), self.statistics, self._gathered[2]
            known = self._fields[name] = Field(
                self._counts[f], self.query.times, sizes[0, f], sizes[1, f], float(s.documents),
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
    def matches(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """Where the terms of the query occur: places among all terms, which term it is, where each document begins."""
        tokens, bounds, _ = self._gathered
        places, which = np.empty(len(tokens), np.int64), np.empty(len(tokens), np.int32)
        begin = np.empty(len(bounds) + 1, np.int64)
        _match(tokens, bounds, self.query.terms, slots_of(len(self.index.flags)), places, which, begin)
        return places, which, begin

    @functools.cached_property
    def _counts(self) -> Array:
        """How often each term of the query occurs."""  # (F+1, n, m)
        found = np.zeros((len(self.index.fields) + 1, len(self), len(self.query.terms)))
        _count(*self.matches, self._gathered[1], found)
        return found

    @functools.cached_property
    def _gathered(self) -> tuple[NDArray[np.int32], NDArray[np.int64], Array]:
        """The terms of all documents end to end; the bounds of their fields, (n, F+1); |d| and u, (2, F+1, n)."""
        n, columns = len(self), len(self.index.fields) + 1
        bounds, sizes = np.empty((n, columns), np.int64), np.empty((2, columns, n))
        for segment, at, rows in self._places:
            _gather_sizes(segment.bounds, segment.lengths, segment.distinct, rows, at, bounds, sizes)
        total, starts = _lay_out(bounds)
        tokens = np.empty(total, np.int32)
        for segment, at, _ in self._places:
            _gather_tokens(segment.tokens, starts, at, bounds, tokens)
        return tokens, bounds, sizes

    def tokens(self, field: str) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """The terms of a field: document k has tokens[starts[k]:ends[k]]."""
        f, last = self.column(field), len(self.index.fields)
        tokens, bounds, _ = self._gathered
        first, end = (0, last) if f == last else (f, f + 1)
        return tokens, bounds[:, first].copy(), bounds[:, end].copy()

    def once(self, key: Any, make: Callable[[NDArray[np.int32], NDArray[np.int64]], T]) -> T:
        """What a function of the terms and the bounds of all fields gives, computed once for all features."""
        if key not in self._known:
            self._known[key] = make(*self._gathered[:2])
        found: T = self._known[key]
        return found

    @functools.cached_property
    def _known(self) -> dict[Any, Any]:
        return {}

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
def _gather_sizes(bounds: Ints, lengths: Ints, distinct: Ints, rows: Ints, at: Ints, out: Ints, sizes: Array) -> None:
    for k in range(len(rows)):
        for f in range(out.shape[1]):
            out[at[k], f] = bounds[rows[k], f]
            sizes[0, f, at[k]] = lengths[rows[k], f]
            sizes[1, f, at[k]] = distinct[rows[k], f]


@compiled
def _lay_out(bounds: Ints) -> Any:
    """Move bounds to where terms will lie end to end; returns the number of terms, and where each document began."""
    starts, at = np.empty(len(bounds), np.int64), 0
    for k in range(len(bounds)):
        starts[k] = bounds[k, 0]
        for f in range(bounds.shape[1]):
            bounds[k, f] += at - starts[k]
        at = bounds[k, -1]
    return at, starts


@compiled
def _gather_tokens(tokens: Ints, starts: Ints, at: Ints, bounds: Ints, out: Ints) -> None:
    for k in at:
        shift = starts[k] - bounds[k, 0]
        for p in range(bounds[k, 0], bounds[k, -1]):
            out[p] = tokens[p + shift]


@compiled
def _match(tokens: Ints, bounds: Ints, terms: Ints, slots: Ints, places: Ints, which: Ints, begin: Ints) -> None:
    for m in range(len(terms)):
        slots[terms[m]] = m
    n = 0
    for k in range(len(bounds)):
        begin[k] = n
        for p in range(bounds[k, 0], bounds[k, -1]):
            m = slots[tokens[p]]
            if m >= 0:
                places[n] = p
                which[n] = m
                n += 1
    begin[len(bounds)] = n
    for m in range(len(terms)):
        slots[terms[m]] = -1


@compiled
def _count(places: Ints, which: Ints, begin: Ints, bounds: Ints, counts: Array) -> None:
    F = bounds.shape[1] - 1
    for k in range(len(bounds)):
        f = 0
        for at in range(begin[k], begin[k + 1]):
            while places[at] >= bounds[k, f + 1]:
                f += 1
            counts[f, k, which[at]] += 1.0
            counts[F, k, which[at]] += 1.0
