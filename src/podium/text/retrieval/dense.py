"""Search by vectors: exact, over all documents that have one; and both kinds of search together.

>>> from podium.text.retrieval.retrieval import Retrieval
>>> Retrieval.parse("vectors(similarity=dot)"), Retrieval.parse("hybrid(words=ql(mu=1000.0))")
(vectors(similarity=dot), hybrid(words=ql(mu=1000.0)))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, IncompatibleError
from podium.base.registry import param, register
from podium.text.query import Query
from podium.text.retrieval.retrieval import BM25, MOST, Retrieval, Where

if TYPE_CHECKING:
    from podium.text.index.index import Index

_BLOCK = 65_536
"""Documents whose scores are computed at once in single precision."""
_ROWS = 4096
"""The same in double precision."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of those documents of an index that have one."""

    numbers: Ints  # (V,) rising
    values: NDArray[np.float32]  # (V, w)
    norms: Array  # (V,)


def vectors_of(index: Index) -> Vectors:
    """The vectors of an index, read once for each state of it."""

    def make() -> Vectors:
        numbers, values = list[int](), np.empty((0, 0), np.float32)
        for n, row in index.store.vectors():
            if n in known:
                values = values if numbers else np.empty((len(known), len(row)), np.float32)
                values[len(numbers)] = row
                numbers.append(n)
        values = values[: len(numbers)]
        return Vectors(np.array(numbers, np.int64), values, exact_norms(values))

    known = {n for segment in index.segments for n in segment.numbers[~segment.dead].tolist()}
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


def exact_dots(rows: NDArray[np.float32], vector: Array) -> Array:
    """Inner products in double precision, the same for equal rows wherever they are."""  # (n,)
    return _by_blocks(rows, lambda some: some * vector)


def exact_norms(rows: NDArray[Any]) -> Array:
    """Lengths in double precision."""  # (n,)
    return np.asarray(np.sqrt(_by_blocks(rows, lambda some: np.square(some, dtype=np.float64))))


def _by_blocks(rows: NDArray[Any], terms: Callable[[NDArray[Any]], Array]) -> Array:
    """The sum of the terms of each row."""
    sums = [terms(rows[a : a + _ROWS]).sum(axis=1) for a in range(0, len(rows), _ROWS)]
    return np.concatenate([np.empty(0), *sums])


def cosines(dots: Array, norms: Array, vector: NDArray[Any]) -> Array:
    """Cosines from inner products; 0 where a vector is 0."""
    size = norms * exact_norms(vector[None])[0]
    return np.asarray(np.divide(dots, size, out=np.zeros(len(dots)), where=size > 0))


@register
class VectorRetrieval(Retrieval):
    """The documents whose vectors are most similar to that of the query, by cosine or by inner product.

    All vectors are looked at, in blocks: single precision tells which may be among the best, double precision gives
    their scores. Documents without a vector are not found. The cosine with a vector of zeros is 0.
    """

    name = "vectors"
    similarity: Literal["cosine", "dot"] = "cosine"

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        known, vector = vectors_of(index), query_vector(index, query, f"retrieval {self.name}")
        if not len(known.numbers):
            raise DataError("no document has a vector, so there is nothing to search.", where=str(index.store.path))
        allowed = None if where is None else where(known.numbers)
        return best_of(known, vector, k, similarity=self.similarity, allowed=allowed)


def best_of(
    known: Vectors, vector: Array, k: int, *, similarity: str, allowed: Any = None, block: int = _BLOCK
) -> tuple[Array, Ints]:
    """The scores and numbers of the k most similar vectors, best first; of equal ones, the lower number first."""
    scores, numbers = np.empty(0), np.empty(0, np.int64)
    for start in range(0, len(known.numbers), block):
        rows = slice(start, min(start + block, len(known.numbers)))
        low, high = _range(known, rows, vector, similarity)
        if allowed is not None:
            low, high = np.where(allowed[rows], low, -np.inf), np.where(allowed[rows], high, -np.inf)
        some = start + np.flatnonzero((high >= _kth(np.append(scores, low), k)) & (high > -np.inf))
        exact = exact_dots(known.values[some], vector)
        if similarity == "cosine":
            exact = cosines(exact, known.norms[some], vector)
        scores, numbers = np.append(scores, exact), np.append(numbers, known.numbers[some])
        order = np.lexsort((numbers, -scores))[:k]
        scores, numbers = scores[order], numbers[order]
    return scores, numbers


def _range(known: Vectors, rows: slice, vector: Array, similarity: str) -> tuple[Array, Array]:
    """From where to where the scores of documents may lie, as far as single precision can tell."""
    size = float(exact_norms(vector[None])[0])
    unit = (vector / size if size > 0 else vector).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        cosine = cosines((known.values[rows] @ unit).astype(np.float64), known.norms[rows], unit)
    sound = np.isfinite(cosine)
    cosine = np.where(sound, cosine, 0.0)
    room = np.where(sound, 4.0 * (len(vector) + 2) * float(np.finfo(np.float32).eps), 2.0)
    scale = size * known.norms[rows] if similarity == "dot" else 1.0
    return (cosine - room) * scale, (cosine + room) * scale


def _kth(scores: Array, k: int) -> float:
    """The k-th highest score; −∞ if there are fewer."""
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) if len(scores) >= k else -np.inf


@register
class Hybrid(Retrieval):
    """Words and vectors together, by reciprocal rank fusion: Σ 1/(damping + rank) over the lists that have a document.

    Each list has `depth` documents, or k where that is more.
    Reference: Cormack, Clarke and Büttcher, Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods, SIGIR 2009.
    """

    name = "hybrid"
    words: Retrieval = BM25()
    vectors: Retrieval = VectorRetrieval()
    depth: int = param(default=100, least=1, most=10_000)
    damping: float = param(default=60.0, least=0, most=MOST)

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        found: dict[int, float] = {}
        for one in (self.words, self.vectors):
            scores, numbers = one.best(index, query, max(self.depth, k), where)
            for rank, n in enumerate(numbers[np.lexsort((numbers, -scores))].tolist(), 1):
                found[n] = found.get(n, 0.0) + 1.0 / (self.damping + rank)
        numbers = np.fromiter(found, np.int64, len(found))
        fused = np.fromiter(found.values(), np.float64, len(found))
        order = np.lexsort((numbers, -fused))[:k]
        return fused[order], numbers[order]
