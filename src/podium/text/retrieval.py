"""Retrieval: the first stage. Documents that share a word with the query, scored from postings, the best k of them.

>>> from podium.text.retrieval import Retrieval
>>> Retrieval.parse("bm25(k1=0.9,fields=[title^2,text])")
bm25(k1=0.9,fields=[title^2,text])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from podium.compiled import compiled
from podium.errors import ParameterError, UnknownNameError
from podium.registry import Named, param, register
from podium.text.query import Query
from podium.text.segment import Segment

Array = NDArray[np.float64]


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


class Retrieval(Named):
    """A way to score documents from postings. A subclass says what one occurrence of a term is worth."""

    kind: ClassVar[str] = "retrieval"
    home: ClassVar[str] = "podium.text.retrieval"
    fields: tuple[str, ...]

    def weights(self, fields: tuple[str, ...]) -> Array:
        """The weight of each field; 1 for all unless told."""  # (F,)
        if not self.fields:
            return np.ones(len(fields))
        found = np.zeros(len(fields))
        for text in self.fields:
            name, caret, number = text.partition("^")
            if name not in fields:
                raise UnknownNameError("field", name, fields)
            try:
                found[fields.index(name)] = float(number) if caret else 1.0
            except ValueError:
                raise ParameterError(f"{self.name}: expected field^weight, got {text!r}.") from None
        if (found < 0).any() or not found.any():
            raise ParameterError(f"{self.name}: weights of fields must not be negative, nor all 0; got {self.fields}.")
        return found

    def scores(
        self, segment: Segment, query: Query, places: Array, statistics: Statistics, weights: Array, scores: Array,
        touched: NDArray[np.int32],
    ) -> int:  # fmt: skip
        """Add to the scores of the documents of a segment; returns how many were touched, which it lists."""
        raise NotImplementedError


@register
class BM25(Retrieval):
    """Okapi BM25 with the idf of Lucene, never negative.

    Σ_t ln(1 + (N − df + ½)/(df + ½)) · c (k1 + 1) / (c + k1 (1 − b + b |d|/avg)), repeated query terms counted each
    time. With weights of fields, c and |d| are weighted sums over fields before BM25 is computed (BM25F with one b).
    """

    name = "bm25"
    k1: float = param(default=1.2, least=0)
    b: float = param(default=0.75, least=0, most=1)
    fields: tuple[str, ...] = ()

    def scores(
        self, segment: Segment, query: Query, places: Any, statistics: Statistics, weights: Array, scores: Array,
        touched: NDArray[np.int32],
    ) -> int:  # fmt: skip
        n, df = statistics.documents, statistics.df[:, -1]
        worth = query.times * np.log1p((n - df + 0.5) / (df + 0.5)) * (self.k1 + 1.0)
        average = float(statistics.averages[:-1] @ weights)
        found = _bm25(
            places, worth, segment.pointers, segment.rows, segment.frequencies, segment.lengths, segment.dead, weights,
            self.k1, self.b, 1.0 / average if average else 0.0, scores, touched,
        )  # fmt: skip
        return int(found)


@register
class QueryLikelihood(Retrieval):
    """Query likelihood with Dirichlet smoothing: Σ_t ln((c + μ p_t)/(|d| + μ)), p_t = cf/|C|, less what all share.

    Scores are relative to a document without any query term and of length 0, so that documents which are not in the
    postings need not be looked at. With weights of fields, c, |d|, cf and |C| are weighted sums over fields.
    Reference: Zhai and Lafferty, A study of smoothing methods for language models, 2001.
    """

    name = "ql"
    mu: float = param(default=2000.0, above=0)
    fields: tuple[str, ...] = ()

    def scores(
        self, segment: Segment, query: Query, places: Any, statistics: Statistics, weights: Array, scores: Array,
        touched: NDArray[np.int32],
    ) -> int:  # fmt: skip
        total = float(statistics.totals[:-1] @ weights)
        share = statistics.cf[:, :-1] @ weights / max(total, 1.0) * self.mu
        found = _query_likelihood(
            places, query.times, share, segment.pointers, segment.rows, segment.frequencies, segment.lengths,
            segment.dead, weights, self.mu, query.length, scores, touched,
        )  # fmt: skip
        return int(found)


@compiled
def _bm25(
    places: Any, worth: Array, pointers: Any, rows: Any, frequencies: Any, lengths: Any, dead: Any, weights: Array,
    k1: float, b: float, scale: float, scores: Array, touched: Any,
) -> int:  # fmt: skip
    F, n = len(weights), 0
    for m in range(len(places)):
        if places[m] < 0:
            continue
        for p in range(pointers[places[m]], pointers[places[m] + 1]):
            d = rows[p]
            c, length = 0.0, 0.0
            for f in range(F):
                c += weights[f] * frequencies[p, f]
                length += weights[f] * lengths[d, f]
            if c == 0.0 or dead[d]:
                continue
            if scores[d] == 0.0:
                touched[n] = d
                n += 1
            scores[d] += worth[m] * c / (c + k1 * (1.0 - b + b * length * scale))
    return n


@compiled
def _query_likelihood(
    places: Any, times: Array, share: Array, pointers: Any, rows: Any, frequencies: Any, lengths: Any, dead: Any,
    weights: Array, mu: float, length: float, scores: Array, touched: Any,
) -> int:  # fmt: skip
    F, n = len(weights), 0
    for m in range(len(places)):
        if places[m] < 0 or share[m] <= 0.0:
            continue
        for p in range(pointers[places[m]], pointers[places[m] + 1]):
            d = rows[p]
            c = 0.0
            for f in range(F):
                c += weights[f] * frequencies[p, f]
            if c == 0.0 or dead[d]:
                continue
            if scores[d] == 0.0:
                touched[n] = d
                n += 1
            scores[d] += times[m] * np.log1p(c / share[m])
    for k in range(n):
        d = touched[k]
        size = 0.0
        for f in range(F):
            size += weights[f] * lengths[d, f]
        scores[d] -= length * np.log1p(size / mu)
    return n


@compiled
def take_best(scores: Array, touched: Any, n: int, allowed: Any, best: Array, rows: Any) -> int:
    """The best of the touched documents, in no order, as a heap with the worst at the top; resets the scores.

    Of equal scores, the document with the lower number is better. `allowed` is empty, or says who may be taken.
    """
    size, k = 0, len(best)
    for at in range(n):
        d = touched[at]
        s = scores[d]
        scores[d] = 0.0
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
