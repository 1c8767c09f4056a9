"""First-stage retrieval: base classes. A `WordRetrieval` scores the documents in the postings of the query's terms.

>>> from podium.text.retrieval import Retrieval
>>> Retrieval.parse("bm25(k1=0.9,fields=[title^2,text])")
bm25(k1=0.9,fields=[title^2,text])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from podium.base.arrays import AnyArray, Array, Flags, Int32s, Ints
from podium.base.errors import ParameterError, UnknownNameError
from podium.base.registry import Named
from podium.jit.compiled import compiled
from podium.jit.tiers import tier

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.index.segment import Segment
    from podium.text.query import Query

Where = Callable[[Ints], Flags]
"""A filter: which documents, by their numbers, may be returned."""
_ANY = np.empty(0, np.bool_)
MOST = 1e6
"""The largest weight of a field and the largest k1, and one over the smallest: scores stay finite."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """Collection statistics of the terms of a query. Columns: the fields, then the whole document."""

    documents: int  # N
    totals: Array  # (F+1,) |C|, the number of terms of all documents
    df: Array  # (m, F+1)
    cf: Array  # (m, F+1)


class Totals(NamedTuple):
    """Collection statistics summed over fields with their weights."""

    terms: float  # |C|
    cf: Array  # (m,)


class Scratch(NamedTuple):
    """Arrays for the scores of a query, reused by the next one, which must find zeros in them."""

    scores: Array  # (D,) zeros
    seen: Flags  # (D,) whether a document has been touched: its score may stay 0
    touched: Int32s  # (D,) documents that have been touched

    @classmethod
    def of(cls, size: int) -> Scratch:
        return cls(np.zeros(size), np.zeros(size, np.bool_), np.empty(size, np.int32))


@dataclass(frozen=True, eq=False)
class Sums:
    """Inputs and outputs of scoring one segment. Counts and lengths are weighted sums over fields."""

    places: Ints  # (m,) of the query's terms in the segment, −1 for none
    postings: tuple[Ints, Int32s, AnyArray]  # pointers, rows, counts
    lengths: Array  # (D,)
    dead: Flags
    scratch: Scratch
    kept: Callable[[tuple[float, ...], Callable[[], Array]], Array]
    """The array that a function returns, cached under a key for the next query."""
    k: int = 1
    """The number of documents that are asked for: others need no score if they cannot be among these."""
    allowed: Flags = field(default_factory=lambda: np.empty(0, np.bool_))
    """The documents that may be among them; empty for all."""
    limits: tuple[Array, Array] | None = None
    """The largest count and the smallest length among the postings of each term; None: every document is scored."""


_STEPS = 2  # of small work, per posting


class Retrieval(Named):
    """A first stage: finds the best documents for a query."""

    kind: ClassVar[str] = "retrieval"
    home: ClassVar[str] = "podium.text.retrieval"
    elsewhere = (
        *(f"podium.text.expansion.{name}" for name in ("rm3", "bo1", "kl")),
        *(
            f"podium.text.stages.{name}"
            for name in ("weighted_sum", "reciprocal_ranks", "either", "both", "cut", "then", "passages")
        ),
        "podium.engine.with_model",
    )

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        """The scores and the numbers of the k best documents, in any order; ties go to the lower number."""
        raise NotImplementedError


def parts_of(how: Retrieval) -> Iterator[Retrieval]:
    """A retrieval, and those of which it is made."""
    yield how
    for own in fields(how):  # type: ignore[arg-type]
        value = getattr(how, own.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Retrieval):
                yield from parts_of(part)


class WordRetrieval(Retrieval):
    """Scores documents from postings. A subclass gives the score of an occurrence of a term."""

    fields: tuple[str, ...]

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        weights = self.weights(index.fields, index.weights)
        statistics = index.statistics(query) if query.leaves is None else query.leaves.statistics
        with tier(_STEPS * int(statistics.df[:, -1].sum())):
            return self._best(index, query, k, where, weights, statistics)

    def _best(
        self, index: Index, query: Query, k: int, where: Where | None, weights: Array, statistics: Statistics
    ) -> tuple[Array, Ints]:
        parts = []
        totals = Totals(float(statistics.totals[:-1] @ weights), statistics.cf[:, :-1] @ weights)
        leaves, query = query.leaves, query if query.leaves is None else query.leaves.scored(index, query)
        for segment in index.segments if len(query.terms) else ():
            allowed = _ANY if where is None else where(segment.numbers)  # before scores are written to shared arrays
            sums = self._sums(index, segment, query, weights, k=k, allowed=allowed)
            if leaves is not None:
                sums = replace(leaves.sums(sums, segment, weights), limits=None)
            scores, rows = np.empty(min(k, len(segment))), np.empty(min(k, len(segment)), np.int64)
            try:
                n = self.scores(sums, query, statistics, totals)
                size = take_best(*sums.scratch, n, allowed, scores, rows)
            except BaseException:  # Ctrl-C: the next query must find zeros
                sums.scratch.scores[:], sums.scratch.seen[:] = 0.0, False
                raise
            parts.append((scores[:size], segment.numbers[rows[:size]]))
        if not parts:
            return np.empty(0), np.empty(0, np.int64)
        return np.concatenate([scores for scores, _ in parts]), np.concatenate([numbers for _, numbers in parts])

    def _sums(self, index: Index, segment: Segment, query: Query, weights: Array, *, k: int, allowed: Flags) -> Sums:
        key = (id(segment), weights.tobytes())
        counts, lengths, most, least = index.kept_arrays(("weighted", *key), lambda: _weighted(segment, weights))

        def kept(more: tuple[float, ...], make: Callable[[], Array]) -> Array:
            return index.kept_arrays((self.name, *key, *more), lambda: (make(),))[0]

        return Sums(
            segment.places(query.terms), (segment.pointers, segment.rows, counts), lengths, segment.dead,
            index.scratch(len(segment)), kept, k, allowed, (most, least),
        )  # fmt: skip

    def weights(self, fields: tuple[str, ...], default: tuple[float, ...]) -> Array:
        """The weight of each field; those of the index by default."""  # (F,)
        if not self.fields:
            return np.array(default)
        weights, names = np.zeros(len(fields)), list[str]()
        for text in self.fields:
            name, caret, number = text.partition("^")
            if name not in fields:
                raise UnknownNameError("field", name, fields)
            weights[fields.index(name)] = self._weight(text, number) if caret else 1.0
            names.append(name)
        if len(set(names)) < len(names) or not weights.any():
            raise ParameterError(f"{self.name}: fields must differ, and not all weigh 0; got {self.fields}.")
        return weights

    def _weight(self, text: str, number: str) -> float:
        try:
            weight = float(number)
        except ValueError:
            raise ParameterError(f"{self.name}: expected field^weight, got {text!r}.") from None
        if weight != 0 and not 1 / MOST <= weight <= MOST:  # NaN is not
            raise ParameterError(f"{self.name}: a weight is 0, or from {1 / MOST:g} to {MOST:g}; got {text!r}.")
        return weight + 0.0  # 0 for −0

    def scores(self, sums: Sums, query: Query, statistics: Statistics, totals: Totals) -> int:
        """Add to the scores of the documents of a segment, list those touched, and return their number."""
        raise NotImplementedError

    def without_words(self, lengths: Array, query: Query, totals: Totals) -> Array:
        """The scores of documents without a word of the query, which a search does not return, from their lengths."""
        return np.zeros(len(lengths))


def _weighted(segment: Segment, weights: Array) -> tuple[AnyArray, Array, Array, Array]:
    """Term counts of the postings and lengths of the documents, summed over fields with their weights; their limits."""
    if (weights == 1.0).all():
        counts = segment.frequencies.sum(axis=1, dtype=np.int32)
        lengths = segment.lengths[:, -1].astype(np.float64)
    else:
        counts, lengths = (segment.frequencies @ weights).astype(np.float32), segment.lengths[:, :-1] @ weights
    if not len(segment.terms):
        return counts, lengths, np.empty(0), np.empty(0)
    starts = segment.pointers[:-1]  # every term has a posting
    most, least = np.maximum.reduceat(counts, starts), np.minimum.reduceat(lengths[segment.rows], starts)
    return counts, lengths, most.astype(np.float64), least


@compiled
def take_best(scores: Array, seen: Flags, touched: Int32s, n: int, allowed: Flags, best: Array, rows: Ints) -> int:
    """The best of the touched documents, in no order, as a heap with the worst at the top; resets the scores.

    Of equal scores, the document with the lower number is better. `allowed` is empty, or flags what may be taken.
    """
    size, k = 0, len(best)
    for at in range(n):
        d = touched[at]
        s = scores[d]
        scores[d], seen[d] = 0.0, False
        if len(allowed) and not allowed[d]:
            continue
        if size < k:  # sift up
            i = size
            size += 1
            while i > 0 and _worse(s, d, best[(i - 1) // 2], rows[(i - 1) // 2]):
                best[i], rows[i] = best[(i - 1) // 2], rows[(i - 1) // 2]
                i = (i - 1) // 2
            best[i], rows[i] = s, d
        elif _worse(best[0], rows[0], s, d):  # sift down
            i = 0
            while 2 * i + 1 < k:
                child = 2 * i + 1
                if child + 1 < k and _worse(best[child + 1], rows[child + 1], best[child], rows[child]):
                    child += 1
                if not _worse(best[child], rows[child], s, d):
                    break
                best[i], rows[i] = best[child], rows[child]
                i = child
            best[i], rows[i] = s, d
    return size


@compiled
def _worse(s: float, d: int, other: float, e: int) -> bool:
    return s < other or (s == other and d > e)
