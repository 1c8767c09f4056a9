"""Similarity of vectors of words: weights ln(1 + c) · ln(N/df) for query and document alike, without stop words."""

from __future__ import annotations

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
        lengths = norms(context.index, column)[_rows(context)]
        dots = np.log1p(field.counts) @ (query * weight)
        return np.asarray(np.divide(dots, size * lengths, out=np.zeros(len(context)), where=lengths > 0))


@register
class PRF(Feature):
    """Pseudo relevance feedback: the cosine to the mean vector of the k best documents of the first stage.

    The mean is weighted by their scores; each vector has length 1 before. 0 without a first stage.
    """

    name = "prf"
    of_candidates = True
    field: str = WHOLE
    k: int = param(default=5, least=1)

    def values(self, context: Context) -> Array:
        found, scores = np.zeros(len(context)), context.first_scores
        if scores is None or not len(scores):
            return found
        lengths = norms(context.index, context.column(self.field))[_rows(context)]
        best = np.lexsort((np.arange(len(scores)), -scores))[: self.k]
        share = np.zeros(len(context))
        share[best] = np.divide(scores[best], lengths[best], out=np.zeros(len(best)), where=lengths[best] > 0)
        weights = term_weights(context.index, context.column(self.field))
        centre, counts = np.zeros(len(weights)), np.zeros(len(weights), np.int32)
        context.each_segment(self.field, _add_vectors, weights, share, centre, counts)
        size = np.linalg.norm(centre)
        if size == 0.0:
            return found
        context.each_segment(self.field, _dots, weights, centre, counts, found)
        return np.asarray(np.divide(found, size * lengths, out=np.zeros(len(context)), where=lengths > 0))


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
        return np.asarray(space.documents[_rows(context)].astype(np.float64) @ (point / size))


def _rows(context: Context) -> Any:
    """The places of the documents in arrays over all documents of the index, segment after segment."""
    found, first, where = np.empty(len(context), np.int64), 0, {id(s): (at, rows) for s, at, rows in context._places}
    for segment in context.index.segments:
        if id(segment) in where:
            at, rows = where[id(segment)]
            found[at] = first + rows
        first += len(segment)
    return found


@compiled
def _add_vectors(
    tokens: Any, starts: Any, ends: Any, at: Any, weights: Any, share: Any, centre: Any, counts: Any
) -> None:
    """Add share × the vector of each document to the centre."""
    for k in range(len(starts)):
        if share[at[k]] == 0.0:
            continue
        for p in range(starts[k], ends[k]):
            counts[tokens[p]] += 1
        for p in range(starts[k], ends[k]):
            t = tokens[p]
            if counts[t] > 0:
                centre[t] += share[at[k]] * np.log1p(counts[t]) * weights[t]
                counts[t] = 0


@compiled
def _dots(tokens: Any, starts: Any, ends: Any, at: Any, weights: Any, centre: Any, counts: Any, found: Any) -> None:
    """The inner product of each document's vector with the centre."""
    for k in range(len(starts)):
        total = 0.0
        for p in range(starts[k], ends[k]):
            counts[tokens[p]] += 1
        for p in range(starts[k], ends[k]):
            t = tokens[p]
            if counts[t] > 0:
                total += np.log1p(counts[t]) * weights[t] * centre[t]
                counts[t] = 0
        found[at[k]] = total
