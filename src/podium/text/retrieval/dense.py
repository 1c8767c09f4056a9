"""Dense retrieval: exact nearest neighbours over the vectors of documents; hybrid search of words and vectors.

>>> from podium.text.retrieval import Retrieval
>>> Retrieval.parse("vectors(similarity=dot)"), Retrieval.parse("hybrid(words=ql(mu=1000.0))")
(vectors(similarity=dot), hybrid(words=ql(mu=1000.0)))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from podium.base.arrays import AnyArray, Array, Flags, Ints, Singles
from podium.base.errors import DataError, IncompatibleError
from podium.base.registry import param, register
from podium.text.retrieval.base import MOST, Retrieval, Where
from podium.text.retrieval.bm25 import BM25
from podium.text.stages.joined_lists import ranked
from podium.text.stages.reciprocal_ranks import fused

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.query import Query

_BLOCK = 65_536
"""Documents per block in single precision."""
_ROWS = 4096
"""Documents per block in double precision."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of documents; documents without one are left out."""

    numbers: Ints  # (V,) rising
    values: Singles  # (V, w)
    norms: Array  # (V,)


def vectors_of(index: Index) -> Vectors:
    """The vectors of an index, read once for each of its states."""

    def make() -> Vectors:
        numbers, values = list[int](), np.empty((0, 0), np.float32)
        for n, row in index.store.vectors():
            if n in alive:
                values = values if numbers else np.empty((len(alive), len(row)), np.float32)
                values[len(numbers)] = row
                numbers.append(n)
        values = values[: len(numbers)]
        return Vectors(np.array(numbers, np.int64), values, exact_norms(values))

    alive = {n for segment in index.segments for n in segment.numbers[~segment.dead].tolist()}
    return index.kept("vectors", make)


def query_vector(index: Index, query: Query, who: str) -> Array:
    """The vector of a query; raises a clear error if it has none, or one that does not fit the documents."""  # (w,)
    if query.vector is None:
        raise DataError(
            f'{who} needs the vector of the query {query.text!r}. Give it: search(..., vector=…), a field "vector" of '
            "the query, or a function that makes it: index.encode_with(function)."
        )
    width = vectors_of(index).values.shape[1]
    if query.vector.ndim != 1 or not np.isfinite(query.vector).all():
        raise DataError(f"{who}: the vector of the query {query.text!r} must be a list of finite numbers.")
    if len(vectors_of(index).values) and len(query.vector) != width:
        raise IncompatibleError(
            f"{who}: the vector of the query {query.text!r} has {len(query.vector)} numbers; those of the documents "
            f"have {width}. Make both with the same model."
        )
    return query.vector.astype(np.float64)


def exact_dots(rows: Singles, vector: Array) -> Array:
    """Inner products in double precision, the same for equal rows wherever they are."""  # (n,)
    return _by_blocks(rows, lambda block: block * vector)


def exact_norms(rows: AnyArray) -> Array:
    """Euclidean norms in double precision."""  # (n,)
    return np.asarray(np.sqrt(_by_blocks(rows, lambda block: np.square(block, dtype=np.float64))))


def _by_blocks(rows: AnyArray, terms: Callable[[AnyArray], Array]) -> Array:
    """The sum of the terms of each row, block by block."""
    sums = [terms(rows[a : a + _ROWS]).sum(axis=1) for a in range(0, len(rows), _ROWS)]
    return np.concatenate([np.empty(0), *sums])


def cosines(dots: Array, norms: Array, vector: AnyArray) -> Array:
    """Cosines from inner products; 0 if a vector is 0."""
    size = norms * exact_norms(vector[None])[0]
    return np.asarray(np.divide(dots, size, out=np.zeros(len(dots)), where=size > 0))


@register
class VectorRetrieval(Retrieval):
    """Dense retrieval: the documents with the highest cosine or inner product of their vector and that of the query.

    Exhaustive and exact: single precision selects in blocks what may be among the best, double precision scores it.
    Documents without a vector are not returned. The cosine with a vector of zeros is 0.
    """

    name = "vectors"
    similarity: Literal["cosine", "dot"] = "cosine"
    """Similarity of two vectors: cosine or inner product."""

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        vectors, vector = vectors_of(index), query_vector(index, query, f"retrieval {self.name}")
        if not len(vectors.numbers):
            raise DataError("no document has a vector, so there is nothing to search.", where=str(index.store.path))
        allowed = None if where is None else where(vectors.numbers)
        return best_of(vectors, vector, k, similarity=self.similarity, allowed=allowed)


def best_of(
    vectors: Vectors, vector: Array, k: int, *, similarity: str, allowed: Flags | None = None, block: int = _BLOCK
) -> tuple[Array, Ints]:
    """The scores and numbers of the k most similar vectors, best first; of equal ones, the lower number first."""
    scores, numbers = np.empty(0), np.empty(0, np.int64)
    for start in range(0, len(vectors.numbers), block):
        rows = slice(start, min(start + block, len(vectors.numbers)))
        low, high = _range(vectors, rows, vector, similarity)
        if allowed is not None:
            low, high = np.where(allowed[rows], low, -np.inf), np.where(allowed[rows], high, -np.inf)
        close = start + np.flatnonzero((high >= _kth(np.append(scores, low), k)) & (high > -np.inf))
        exact = exact_dots(vectors.values[close], vector)
        if similarity == "cosine":
            exact = cosines(exact, vectors.norms[close], vector)
        scores, numbers = np.append(scores, exact), np.append(numbers, vectors.numbers[close])
        order = np.lexsort((numbers, -scores))[:k]
        scores, numbers = scores[order], numbers[order]
    return scores, numbers


def _range(vectors: Vectors, rows: slice, vector: Array, similarity: str) -> tuple[Array, Array]:
    """Lower and upper bounds of the scores of documents, from single precision."""
    size = float(exact_norms(vector[None])[0])
    unit = (vector / size if size > 0 else vector).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        cosine = cosines((vectors.values[rows] @ unit).astype(np.float64), vectors.norms[rows], unit)
    sound = np.isfinite(cosine)
    cosine = np.where(sound, cosine, 0.0)
    room = np.where(sound, 4.0 * (len(vector) + 2) * float(np.finfo(np.float32).eps), 2.0)
    scale = size * vectors.norms[rows] if similarity == "dot" else 1.0
    return (cosine - room) * scale, (cosine + room) * scale


def _kth(scores: Array, k: int) -> float:
    """The k-th highest score; −∞ if there are fewer."""
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) if len(scores) >= k else -np.inf


@register
class Hybrid(Retrieval):
    """Hybrid search: reciprocal rank fusion of words and vectors, Σ 1/(damping + rank) over the lists with a document.

    Each list has `depth` documents, or k if that is more.
    Reference: Cormack, Clarke and Büttcher, Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods, SIGIR 2009.
    """

    name = "hybrid"
    words: Retrieval = BM25()
    """Retrieval by words."""
    vectors: Retrieval = VectorRetrieval()
    """Retrieval by vectors."""
    depth: int = param(default=100, least=1, most=10_000)
    """Documents that each list has, or as many as are asked for if that is more."""
    damping: float = param(default=60.0, least=0, most=MOST)
    """Damping: the larger, the less the first ranks stand out."""

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        parts = (self.words, self.vectors)
        return fused((ranked(of, index, query, max(self.depth, k), where) for of in parts), self.damping, k)
