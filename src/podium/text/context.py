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
        slots = slots_of(len(self.index.flags))
        for segment, at, rows in self._places:
            _count(segment.tokens, segment.bounds, rows, at, self.query.terms, slots, found)
        return found

    @functools.cached_property
    def _lengths(self) -> Array:  # (F+1, n)
        return self._gather(lambda segment: segment.lengths)

    @functools.cached_property
    def _distinct(self) -> Array:  # (F+1, n)
        return self._gather(lambda segment: segment.distinct)

    def _gather(self, of: Callable[[Any], Ints]) -> Array:
        found = np.empty((len(self.index.fields) + 1, len(self)))
        for segment, at, rows in self._places:
            found[:, at] = of(segment)[rows].T
        return found

    def each_segment(self, field: str, work: Callable[..., None], *more: Any) -> None:
        """Call work(tokens, starts, ends, at, *more) for the documents of each segment; `at` are their places here."""
        f, last = self.column(field), len(self.index.fields)
        for segment, at, rows in self._places:
            bounds = segment.bounds[rows]
            starts, ends = (bounds[:, 0], bounds[:, last]) if f == last else (bounds[:, f], bounds[:, f + 1])
            work(segment.tokens, np.ascontiguousarray(starts), np.ascontiguousarray(ends), at, *more)


def slots_of(size: int) -> NDArray[np.int32]:
    """An array of −1 for every term, kept by each thread: who writes to it puts −1 back."""
    if getattr(_THREAD, "size", -1) < size:
        _THREAD.size, _THREAD.slots = size, np.full(size, -1, np.int32)
    return _THREAD.slots  # type: ignore[no-any-return]


_THREAD = threading.local()


@compiled
def _count(tokens: Ints, bounds: Ints, rows: Ints, at: Ints, terms: Ints, slots: Ints, counts: Array) -> None:
    F = bounds.shape[1] - 1
    for m in range(len(terms)):
        slots[terms[m]] = m
    for k in range(len(rows)):
        for f in range(F):
            for p in range(bounds[rows[k], f], bounds[rows[k], f + 1]):
                m = slots[tokens[p]]
                if m >= 0:
                    counts[f, at[k], m] += 1.0
                    counts[F, at[k], m] += 1.0
    for m in range(len(terms)):
        slots[terms[m]] = -1
