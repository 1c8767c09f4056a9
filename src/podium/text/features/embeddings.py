"""Similarity of the embeddings of documents and queries. Missing (NaN) if a document has no vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError
from podium.base.registry import register
from podium.text.features.base import Context, Feature
from podium.text.index.stored_values import place
from podium.text.retrieval.dense import cosines, exact_dots, query_vector, vectors_of

if TYPE_CHECKING:
    from podium.text.index.index import Index


class VectorFeature(Feature):
    """A feature of the vectors of query and document."""

    def check(self, index: Index) -> None:
        if not len(vectors_of(index).numbers):
            raise DataError(f"feature {self}: no document has a vector.", where=str(index.store.path))


@register
class Dot(VectorFeature):
    """The inner product of the vectors of query and document."""

    name = "dot"

    def values(self, context: Context) -> Array:
        at, dots, _ = _dots(context, self.name)
        return _spread(context, at, dots)


@register
class VectorCosine(VectorFeature):
    """The cosine of the vectors of query and document; 0 if one of them is 0."""

    name = "vector_cosine"

    def values(self, context: Context) -> Array:
        at, dots, vector = _dots(context, self.name)
        return _spread(context, at, cosines(dots, vectors_of(context.index).norms[at[at >= 0]], vector))


def _dots(context: Context, who: str) -> tuple[Ints, Array, Array]:
    """Indices of the documents' vectors (−1 for none), inner products of those that have one, the query's vector."""
    vectors = vectors_of(context.index)
    vector = query_vector(context.index, context.query, f"feature {who}")
    at = place(vectors.numbers, context.numbers)
    return at, exact_dots(vectors.values[at[at >= 0]], vector), vector


def _spread(context: Context, at: Ints, values: Array) -> Array:
    spread = np.full(len(context), np.nan)
    spread[at >= 0] = values
    return spread
