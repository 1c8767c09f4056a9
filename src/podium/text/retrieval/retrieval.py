"""Retrieval: the first stage. Documents that share a word with the query, scored from postings, the best k of them.

>>> from podium.text.retrieval.retrieval import Retrieval
>>> Retrieval.parse("bm25(k1=0.9,fields=[title^2,text])")
bm25(k1=0.9,fields=[title^2,text])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, Ints
from podium.base.errors import ParameterError, UnknownNameError
from podium.base.registry import Named, param, register
from podium.jit.compiled import compiled
from podium.text.index.segment import Segment, find_terms
from podium.text.query import Query

if TYPE_CHECKING:
    from podium.text.index.index import Index

Where = Callable[[Ints], NDArray[np.bool_]]
_ANY = np.empty(0, np.bool_)
MOST = 1e6
"""The largest weight of a field and the largest k1, and one over the smallest: scores stay numbers."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """What the collection says of a query's terms. Columns: the fields, then the whole document."""

    documents: int  # N
    totals: Array  # (F+1,) |C|, the number of terms of all documents
    df: Array  # (m, F+1)
    cf: Array  # (m, F+1)

    @property
    def averages(self) -> Array:
        """The mean length per field."""  # (F+1,)
        return self.totals / max(self.documents, 1)


class Totals(NamedTuple):
    """The same, of fields weighted and added up."""

    terms: float  # |C|
    cf: Array  # (m,)


class Scratch(NamedTuple):
    """Room for the scores of a query, used again by the next one: who leaves it puts zeros back."""

    scores: Array  # (D,) zeros
    seen: NDArray[np.bool_]  # (D,) whether a document has been touched: its score may stay 0
    touched: NDArray[np.int32]  # (D,) documents that have been touched

    @classmethod
    def of(cls, size: int) -> Scratch:
        return cls(np.zeros(size), np.zeros(size, np.bool_), np.empty(size, np.int32))


@dataclass(frozen=True, eq=False)
class Sums:
    """Where scores of the documents of a segment are added up. Counts and lengths are weighted sums over fields."""

    places: NDArray[np.int64]  # (m,) of the query's terms in the segment, −1 for none
    postings: tuple[Any, Any, Any]  # pointers, rows, counts
    lengths: Array  # (D,)
    dead: NDArray[np.bool_]
    scratch: Scratch
    kept: Callable[[Any, Callable[[], Array]], Array]
    """What a function gives, kept for the next query under a key."""


class Retrieval(Named):
    """A first stage: a way to find the best documents for a query."""

    kind: ClassVar[str] = "retrieval"
    home: ClassVar[str] = "podium.text.retrieval.dense"  # which imports this module

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        """The scores and the numbers of the k best documents, in any order; ties go to the lower number."""
        raise NotImplementedError


class WordRetrieval(Retrieval):
    """Scores documents from postings. A subclass says what one occurrence of a term is worth."""

    fields: tuple[str, ...]

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        weights, statistics, parts = self.weights(index.fields), index.statistics(query), []
        totals = Totals(float(statistics.totals[:-1] @ weights), statistics.cf[:, :-1] @ weights)
        for segment in index.segments if len(query.terms) else ():
            allowed = _ANY if where is None else where(segment.numbers)  # before scores are written to shared arrays
            sums = self._sums(index, segment, query, weights)
            scores, rows = np.empty(min(k, len(segment))), np.empty(min(k, len(segment)), np.int64)
            try:
                n = self.scores(sums, query, statistics, totals)
                size = take_best(*sums.scratch, n, allowed, scores, rows)
            except BaseException:  # Ctrl-C: the scores of this query must not stay
                sums.scratch.scores[:], sums.scratch.seen[:] = 0.0, False
                raise
            parts.append((scores[:size], segment.numbers[rows[:size]]))
        if not parts:
            return np.empty(0), np.empty(0, np.int64)
        return np.concatenate([scores for scores, _ in parts]), np.concatenate([numbers for _, numbers in parts])

    def _sums(self, index: Index, segment: Segment, query: Query, weights: Array) -> Sums:
        key = (id(segment), weights.tobytes())
        counts, lengths = index.kept_arrays(("weighted", *key), lambda: _weighted(segment, weights))

        def kept(more: Any, make: Callable[[], Array]) -> Array:
            return index.kept_arrays((self.name, *key, *more), lambda: (make(),))[0]

        return Sums(
            find_terms(segment.terms, query.terms), (segment.pointers, segment.rows, counts), lengths, segment.dead,
            index.scratch(len(segment)), kept,
        )  # fmt: skip

    def weights(self, fields: tuple[str, ...]) -> Array:
        """The weight of each field; 1 for all unless told."""  # (F,)
        if not self.fields:
            return np.ones(len(fields))
        found = np.zeros(len(fields))
        names = []
        for text in self.fields:
            name, caret, number = text.partition("^")
            if name not in fields:
                raise UnknownNameError("field", name, fields)
            found[fields.index(name)] = self._weight(text, number) if caret else 1.0
            names.append(name)
        if len(set(names)) < len(names) or not found.any():
            raise ParameterError(f"{self.name}: fields must differ, and not all weigh 0; got {self.fields}.")
        return found

    def _weight(self, text: str, number: str) -> float:
        try:
            weight = float(number)
        except ValueError:
            raise ParameterError(f"{self.name}: expected field^weight, got {text!r}.") from None
        if weight != 0 and not 1 / MOST <= weight <= MOST:  # NaN is not
            raise ParameterError(f"{self.name}: a weight is 0, or from {1 / MOST:g} to {MOST:g}; got {text!r}.")
        return weight + 0.0  # 0 for −0

    def scores(self, sums: Sums, query: Query, statistics: Statistics, totals: Totals) -> int:
        """Add to the scores of the documents of a segment; returns how many were touched, which it lists."""
        raise NotImplementedError


@register
class BM25(WordRetrieval):
    """Okapi BM25 with the idf of Lucene, never negative.

    Σ_t ln(1 + (N − df + ½)/(df + ½)) · c (k1 + 1) / (c + k1 (1 − b + b |d|/avg)), repeated query terms counted each
    time. With weights of fields, c and |d| are weighted sums over fields before BM25 is computed (BM25F with one b).
    """

    name = "bm25"
    k1: float = param(default=1.2, least=0, most=MOST)
    b: float = param(default=0.75, least=0, most=1)
    fields: tuple[str, ...] = ()

    def scores(self, sums: Sums, query: Query, statistics: Statistics, totals: Totals) -> int:
        n, df = statistics.documents, statistics.df[:, -1]
        worth = query.times * np.log1p((n - df + 0.5) / (df + 0.5)) * (self.k1 + 1.0)
        average = totals.terms / max(n, 1)
        norms = sums.kept(
            (self.k1, self.b, average),
            lambda: self.k1 * (1.0 - self.b + self.b * sums.lengths / (average or 1.0)),
        )
        return int(_bm25(sums.places, worth, *sums.postings, sums.dead, norms, *sums.scratch))


@register
class QueryLikelihood(WordRetrieval):
    """Query likelihood with Dirichlet smoothing: Σ_t ln((c + μ p_t)/(|d| + μ)), p_t = cf/|C|, less what all share.

    Scores are relative to a document without any query term and of length 0, so that documents which are not in the
    postings need not be looked at. With weights of fields, c, |d|, cf and |C| are weighted sums over fields.
    Reference: Zhai and Lafferty, A study of smoothing methods for language models, 2001.
    """

    name = "ql"
    mu: float = param(default=2000.0, least=1 / MOST, most=1e9)
    fields: tuple[str, ...] = ()

    def scores(self, sums: Sums, query: Query, statistics: Statistics, totals: Totals) -> int:
        share = totals.cf / max(totals.terms, 1.0) * self.mu
        norms = sums.kept((self.mu,), lambda: np.log1p(sums.lengths / self.mu))
        times, length = query.times, float(query.times[share > 0].sum())
        arrays = (times, share, *sums.postings, sums.dead, norms, length, *sums.scratch)
        return int(_query_likelihood(sums.places, *arrays))


def _weighted(segment: Segment, weights: Array) -> tuple[Any, Array]:
    """How often terms occur, and how long documents are, fields weighted."""
    if (weights == 1.0).all():
        return segment.frequencies.sum(axis=1, dtype=np.int32), segment.lengths[:, -1].astype(np.float64)
    return (segment.frequencies @ weights).astype(np.float32), segment.lengths[:, :-1] @ weights


@compiled
def _bm25(
    places: Any, worth: Array, pointers: Any, rows: Any, counts: Any, dead: Any, norms: Array, scores: Array,
    seen: Any, touched: Any,
) -> int:  # fmt: skip
    n = 0
    for m in range(len(places)):
        if places[m] < 0:
            continue
        for p in range(pointers[places[m]], pointers[places[m] + 1]):
            d, c = rows[p], np.float64(counts[p])
            if c == 0.0 or dead[d]:
                continue
            if not seen[d]:  # the score of a document may stay 0
                seen[d] = True
                touched[n] = d
                n += 1
            scores[d] += worth[m] * c / (c + norms[d])
    return n


@compiled
def _query_likelihood(
    places: Any, times: Array, share: Array, pointers: Any, rows: Any, counts: Any, dead: Any, norms: Array,
    length: float, scores: Array, seen: Any, touched: Any,
) -> int:  # fmt: skip
    n = 0
    for m in range(len(places)):
        if places[m] < 0 or share[m] <= 0.0:
            continue
        for p in range(pointers[places[m]], pointers[places[m] + 1]):
            d, c = rows[p], np.float64(counts[p])
            if c == 0.0 or dead[d]:
                continue
            if not seen[d]:  # the score of a document may stay 0
                seen[d] = True
                touched[n] = d
                n += 1
            scores[d] += times[m] * np.log1p(c / share[m])
    for k in range(n):
        scores[touched[k]] -= length * norms[touched[k]]
    return n


@compiled
def take_best(scores: Array, seen: Any, touched: Any, n: int, allowed: Any, best: Array, rows: Any) -> int:
    """The best of the touched documents, in no order, as a heap with the worst at the top; resets the scores.

    Of equal scores, the document with the lower number is better. `allowed` is empty, or says who may be taken.
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
