"""Similarity of the embeddings of documents and queries. Missing (NaN) if a document has no vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Flags
from podium.base.errors import DataError
from podium.base.registry import register
from podium.text.features.base import Context, Feature
from podium.text.retrieval.dense import cosines, exact_dots, query_vector, vectors_of

if TYPE_CHECKING:
    from podium.text.index.index import Index


class VectorFeature(Feature):
    """A feature of the vectors of query and document."""

    def check(self, index: Index) -> None:
        if not len(vectors_of(index).numbers):
            raise DataError(f"feature {self}: no document has a vector.", where=str(index.store.path))

    def lacks(self, record: Mapping[str, Any], index: Index) -> str | None:
        return "a vector" if record.get("vector") is None and index.encoder is None else None


@register
class Dot(VectorFeature):
    """The inner product of the vectors of query and document."""

    name = "dot"

    def values(self, context: Context) -> Array:
        has, dots, _, _ = _dots(context, self.name)
        return _spread(has, dots)


@register
class VectorCosine(VectorFeature):
    """The cosine of the vectors of query and document; 0 if one of them is 0."""

    name = "vector_cosine"

    def values(self, context: Context) -> Array:
        has, dots, norms, vector = _dots(context, self.name)
        return _spread(has, cosines(dots, norms, vector))


def _dots(context: Context, who: str) -> tuple[Flags, Array, Array, Array]:
    """Which documents have a vector; of these, inner products with the query's and norms; the query's vector."""
    vector = query_vector(context.index, context.query, f"feature {who}")
    has, rows, norms = context.vectors()
    return has, exact_dots(rows, vector), norms, vector


def _spread(has: Flags, values: Array) -> Array:
    spread = np.full(len(has), np.nan)
    spread[has] = values
    return spread
