"""Context: a query and documents, with the counts and statistics that features share, each computed once on demand.

Columns of per-field arrays are the fields in order, then the whole document.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from podium.base.arrays import Array, Flags, Int32s, Ints, Singles
from podium.base.errors import DataError, UnknownNameError
from podium.jit.compiled import compiled
from podium.text.index.index import WHOLE, Index
from podium.text.index.stored_values import place
from podium.text.retrieval.dense import vectors_of
from podium.text.retrieval.lsi import latent
from podium.text.retrieval.word_vectors import norms

if TYPE_CHECKING:
    from podium.text.query import Query
    from podium.text.retrieval.base import Retrieval, Statistics

T = TypeVar("T")


class View(NamedTuple):
    """Counts of the query's terms, or of its phrases, in documents. All fields, then the whole."""

    counts: Array  # (F+1, n, m)
    times: Array  # (m,) occurrences of each in the query
    terms: Array  # (F+1, 2, m) df and cf


class Context:
    """A query and documents, by their numbers.

    `scores` are those that the documents were found with, by the first stage `by` if it is given. If these are not
    its own list for the query, `candidates` finds that.
    """

    records: Sequence[Mapping[str, Any]] | None = None
    """The documents as dicts, if they are texts that the index does not have (see `TextContext`)."""
    new_terms: tuple[tuple[str, bool], ...] = ()
    """Terms of the documents that the index does not have, and whether each is flagged; numbered after those it has."""

    def __init__(
        self,
        index: Index,
        query: Query,
        numbers: Ints,
        scores: Array | None = None,
        *,
        by: Retrieval | None = None,
        candidates: Callable[[], Context] | None = None,
    ) -> None:
        self.index, self.query, self._numbers, self.first_scores = index, query, numbers, scores
        self.by, self._candidates = by, candidates
        self._computed: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def numbers(self) -> Ints:
        """The numbers of the documents in the index."""
        return self._numbers

    @property
    def candidates(self) -> Context:
        """The documents of the first stage for the query, with their scores."""
        return self if self._candidates is None else self._found

    @functools.cached_property
    def _found(self) -> Context:
        assert self._candidates is not None
        return self._candidates()

    def asking(self, query: Query) -> Context:
        """The same documents, and another query."""
        return Context(self.index, query, self._numbers, candidates=self._candidates)

    def documents(self) -> list[dict[str, Any]]:
        """The documents as they were added to the index."""
        return [self.index.document(id) for id in self.index.ids(self.numbers)]

    def norms(self, column: int) -> Array:
        """The norm of each document's vector of words."""  # (n,)
        return norms(self.index, column)[self.rows]

    def latent(self, column: int, rank: int) -> Singles:
        """The coordinates of each document in latent space."""  # (n, r)
        return latent(self.index, column, rank).documents[self.rows]

    def vectors(self) -> tuple[Flags, Singles, Array]:
        """Which documents have a vector (embedding); the vectors of these, and their norms."""  # (n,), (v, w), (v,)
        vectors = vectors_of(self.index)
        at = place(vectors.numbers, self.numbers)
        return at >= 0, vectors.values[at[at >= 0]], vectors.norms[at[at >= 0]]

    def column(self, field: str) -> int:
        """The column of a field."""
        if field == WHOLE:
            return len(self.index.fields)
        if field not in self.index.fields:
            raise UnknownNameError("field", field, (*self.index.fields, WHOLE))
        return self.index.fields.index(field)

    @functools.cached_property
    def statistics(self) -> Statistics:
        return self.index.statistics(self.query)

    @functools.cached_property
    def words(self) -> View:
        """Counts of the query's terms."""
        s, m = self.statistics, len(self.query.terms)
        columns = len(self.index.fields) + 1
        counts, terms = np.zeros((columns, len(self), m)), np.empty((columns, 2, m))
        terms[:, 0], terms[:, 1] = s.df.T, s.cf.T
        _count(*self.matches, self._gathered[1], counts)
        return View(counts, self.query.times, terms)

    @functools.cached_property
    def totals(self) -> Array:
        """N and |C| of each field."""  # (F+1, 2)
        totals = np.empty((len(self.index.fields) + 1, 2))
        totals[:, 0], totals[:, 1] = self.statistics.documents, self.statistics.totals
        return totals

    @property
    def sizes(self) -> Array:
        """|d| and u of each field."""  # (F+1, 2, n)
        return self._gathered[2]

    @property
    def rows(self) -> Ints:
        """Indices of the documents in arrays over all documents of the index, segment after segment."""
        return self._gathered[3]

    @functools.cached_property
    def matches(self) -> tuple[Ints, Int32s, Ints]:
        """Occurrences of the query's terms: index among all tokens, which term it is, first occurrence per document."""
        tokens, bounds = self._gathered[:2]
        places, which = np.empty(len(tokens), np.int64), np.empty(len(tokens), np.int32)
        begin = np.empty(len(bounds) + 1, np.int64)
        _match(tokens, bounds, self.query.terms, self.slots, places, which, begin)
        return places, which, begin

    @property
    def slots(self) -> Int32s:
        """A slot for every term of the documents and of the query, even if other threads change the index."""
        return slots_of(1 + max(self._gathered[0].max(initial=-1), self.query.terms.max(initial=-1)))

    @functools.cached_property
    def _gathered(self) -> tuple[Int32s, Ints, Array, Ints]:
        """The tokens of all documents end to end; the bounds of their fields, (n, F+1); their sizes; their rows."""
        n, columns = len(self), len(self.index.fields) + 1
        bounds, sizes = np.empty((n, columns), np.int64), np.empty((columns, 2, n))
        rows, first, gathered = np.empty(n, np.int64), 0, 0
        for segment in self.index.segments:
            arrays = (segment.numbers, segment.dead, segment.bounds, segment.lengths, segment.distinct)
            gathered += _gather_sizes(*arrays, self.numbers, first, rows, bounds, sizes)
            first += len(segment)
        if gathered != n:
            raise DataError("a document is not in the index, or was deleted.", where=str(self.index.store.path))
        total, starts = _lay_out(bounds)
        tokens, first = np.empty(total, np.int32), 0
        for segment in self.index.segments:
            _gather_tokens(segment.tokens, starts, rows, first, first + len(segment), bounds, tokens)
            first += len(segment)
        return tokens, bounds, sizes, rows

    def tokens(self, field: str) -> tuple[Int32s, Ints, Ints]:
        """The tokens of a field: document k has tokens[starts[k]:ends[k]]."""
        f, last = self.column(field), len(self.index.fields)
        tokens, bounds = self._gathered[:2]
        first, end = (0, last) if f == last else (f, f + 1)
        return tokens, bounds[:, first], bounds[:, end]

    def once(self, key: Hashable, make: Callable[[Int32s, Ints], T]) -> T:
        """The result of a function of the tokens and the bounds of all fields, computed once for all features."""
        if key not in self._computed:
            self._computed[key] = make(*self._gathered[:2])
        value: T = self._computed[key]
        return value


def slots_of(size: int) -> Int32s:
    """An array of −1 for every term, one per thread; after use it must be −1 again."""
    if getattr(_THREAD, "size", -1) < size:
        _THREAD.size, _THREAD.slots = size, np.full(size, -1, np.int32)
    return _THREAD.slots  # type: ignore[no-any-return]


_THREAD = threading.local()


@compiled
def _gather_sizes(
    numbers: Ints,
    dead: Flags,
    bounds: Ints,
    lengths: Int32s,
    distinct: Int32s,
    wanted: Ints,
    first: int,
    rows: Ints,
    out: Ints,
    sizes: Array,
) -> int:
    """Gather bounds, sizes and rows (from `first` on) of the wanted documents of a segment; returns their number."""
    gathered = 0
    if len(numbers) == 0:
        return gathered
    for k in range(len(wanted)):
        row = wanted[k] - numbers[0]  # its row if no number below is missing
        if not 0 <= row < len(numbers) or numbers[row] != wanted[k]:
            row = np.searchsorted(numbers, wanted[k])
            if row == len(numbers) or numbers[row] != wanted[k]:
                continue
        if dead[row]:
            continue
        gathered += 1
        rows[k] = first + row
        for f in range(out.shape[1]):
            out[k, f] = bounds[row, f]
            sizes[f, 0, k] = lengths[row, f]
            sizes[f, 1, k] = distinct[row, f]
    return gathered


@compiled
def _lay_out(bounds: Ints) -> tuple[int, Ints]:
    """Shift bounds so that documents are end to end; returns the number of tokens, and the old start of each."""
    starts, at = np.empty(len(bounds), np.int64), 0
    for k in range(len(bounds)):
        starts[k] = bounds[k, 0]
        for f in range(bounds.shape[1]):
            bounds[k, f] += at - starts[k]
        at = bounds[k, -1]
    return at, starts


@compiled
def _gather_tokens(tokens: Int32s, starts: Ints, rows: Ints, first: int, last: int, bounds: Ints, out: Int32s) -> None:
    """Copy the tokens of the documents of a segment, which has the rows from `first` to `last`."""
    for k in range(len(rows)):
        if first <= rows[k] < last:
            shift = starts[k] - bounds[k, 0]
            for p in range(bounds[k, 0], bounds[k, -1]):
                out[p] = tokens[p + shift]


@compiled
def _match(
    tokens: Int32s, bounds: Ints, terms: Int32s, slots: Int32s, places: Ints, which: Int32s, begin: Ints
) -> None:
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
def _count(places: Ints, which: Int32s, begin: Ints, bounds: Ints, counts: Array) -> None:
    F = bounds.shape[1] - 1
    for k in range(len(bounds)):
        f = 0
        for at in range(begin[k], begin[k + 1]):
            while places[at] >= bounds[k, f + 1]:
                f += 1
            counts[f, k, which[at]] += 1.0
            counts[F, k, which[at]] += 1.0
