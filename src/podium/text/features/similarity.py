"""Similarity of vectors of words: weights ln(1 + c) · ln(N/df) for query and document alike, without stop words."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from podium.compiled import compiled
from podium.registry import param, register
from podium.text.features.base import WHOLE, Array, Context, Feature
from podium.text.latent import latent
from podium.text.word_vectors import norms, term_weights


@register
class Cosine(Feature):
    """The cosine of the vectors of query and document; 0 where one of them is 0."""

    name = "cosine"
    field: str = WHOLE

    def values(self, context: Context) -> Array:
        field, column = context.field(self.field), context.column(self.field)
        weight = term_weights(context.index, column)[context.query.terms]
        query = np.log1p(field.times) * weight
        size = np.linalg.norm(query)
        if size == 0.0:
            return np.zeros(len(context))
        lengths = norms(context.index, column)[context.rows]
        dots = np.log1p(field.counts) @ (query * weight)
        return np.asarray(np.divide(dots, size * lengths, out=np.zeros(len(context)), where=lengths > 0))


@register
class PRF(Feature):
    """Pseudo relevance feedback: the cosine to the mean vector of the k best documents of the first stage.

    The mean is weighted by their scores. 0 without a first stage.
    """

    name = "prf"
    of_candidates = True
    field: str = WHOLE
    k: int = param(default=5, least=1)

    def values(self, context: Context) -> Array:
        found, scores = np.zeros(len(context)), context.first_scores
        if scores is None or not len(scores):
            return found
        best = np.lexsort((np.arange(len(scores)), -scores))[: self.k]
        weights = term_weights(context.index, context.column(self.field))
        centre, counts = _scratch(len(weights))
        size = _feedback(*context.tokens(self.field), best, scores[best], weights, centre, counts, found)
        lengths = norms(context.index, context.column(self.field))[context.rows]
        return np.asarray(np.divide(found, size * lengths, out=np.zeros(len(context)), where=size * lengths > 0))


@register
class LSI(Feature):
    """The cosine in the space of the first `rank` singular vectors of the matrix of all documents."""

    name = "lsi"
    field: str = WHOLE
    rank: int = param(default=100, least=1)

    def values(self, context: Context) -> Array:
        query, column = context.query, context.column(self.field)
        space = latent(context.index, column, self.rank)
        weights = np.log1p(query.times) * term_weights(context.index, column)[query.terms]
        point = weights @ space.axes[query.terms].astype(np.float64)
        size = np.linalg.norm(point)
        if size <= 1e-12:
            return np.zeros(len(context))
        return np.asarray(space.documents[context.rows].astype(np.float64) @ (point / size))


def _scratch(size: int) -> tuple[Any, Any]:
    """Zeros for every term, kept by each thread: who writes to them puts zeros back."""
    if getattr(_THREAD, "size", -1) < size:
        _THREAD.size, _THREAD.centre, _THREAD.counts = size, np.zeros(size), np.zeros(size, np.int32)
    return _THREAD.centre, _THREAD.counts


_THREAD = threading.local()


@compiled
def _feedback(
    tokens: Any, starts: Any, ends: Any, best: Any, scores: Any, weights: Any, centre: Any, counts: Any, found: Any
) -> float:
    """The inner product of each document's vector with Σ score × vector over the best; returns the sum's length."""
    for b in range(len(best)):
        _count(tokens, starts[best[b]], ends[best[b]], counts)
        for p in range(starts[best[b]], ends[best[b]]):
            t = tokens[p]
            if counts[t] > 0:
                centre[t] += scores[b] * np.log1p(counts[t]) * weights[t]
                counts[t] = 0
    for k in range(len(starts)):
        for p in range(starts[k], ends[k]):
            if centre[tokens[p]] != 0.0:
                counts[tokens[p]] += 1
        for p in range(starts[k], ends[k]):
            t = tokens[p]
            if counts[t] > 0:
                found[k] += np.log1p(counts[t]) * weights[t] * centre[t]
                counts[t] = 0
    total = 0.0
    for b in best:
        for p in range(starts[b], ends[b]):
            total += centre[tokens[p]] ** 2
            centre[tokens[p]] = 0.0
    return np.sqrt(total)  # type: ignore[no-any-return]


@compiled
def _count(tokens: Any, start: int, end: int, counts: Any) -> None:
    for p in range(start, end):
        counts[tokens[p]] += 1
