"""Feature: a number for each document of a query. Its repr is the column's name everywhere.

    >>> from podium.text.features import Feature
    >>> Feature.parse("bm25(field=title,k1=0.9)")
    bm25(field=title,k1=0.9)

A new one is a registered subclass, in a plug-in or a script, or a function given to `register_feature`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.errors import DataError, UnknownNameError
from podium.registry import Named, register
from podium.text.context import Context, Field
from podium.text.index import WHOLE, Index

Array = NDArray[np.float64]


class Feature(Named):
    """A number for each document of a query. NaN where it is missing."""

    kind: ClassVar[str] = "feature"
    home: ClassVar[str] = "podium.text.features"
    of_query: ClassVar[bool] = False
    """Whether it is the same for all documents of a query."""
    of_candidates: ClassVar[bool] = False
    """Whether it depends on the other documents of the query."""

    def values(self, context: Context) -> Array:
        """The feature of each document."""  # (n,)
        raise NotImplementedError

    def check(self, index: Index) -> None:
        """Raise a clear error if the index cannot give it."""
        field = getattr(self, "field", WHOLE)
        if field not in (*index.fields, WHOLE):
            raise UnknownNameError("field", field, (*index.fields, WHOLE))


class FieldFeature(Feature):
    """A feature of one field, or of the whole document."""

    field: str

    def values(self, context: Context) -> Array:
        return self.compute(context.field(self.field))

    def compute(self, field: Field) -> Array:
        """The feature of each document."""  # (n,)
        raise NotImplementedError


def matrix(context: Context, features: Sequence[Feature]) -> NDArray[np.float32]:
    """The features of all documents of a query."""  # (n, d)
    found = np.empty((len(context), len(features)), np.float32)
    for column, feature in enumerate(features):
        found[:, column] = feature.values(context)
    return found


def register_feature(name: str, function: Callable[..., ArrayLike]) -> type[Feature]:
    """Make a feature of a function (query, documents, index) → a number for each document.

    `query` is the text, `documents` are dicts as they were given to the index.
    """

    def values(self: Feature, context: Context) -> Array:
        index = context.index
        documents = [index.document(id) for id in index.ids(context.numbers)]
        found = np.asarray(function(context.query.text, documents, index), np.float64)
        if found.shape != (len(context),):
            raise DataError(f"feature {name}: {len(context)} numbers expected, got shape {found.shape}.")
        return found

    about: dict[str, Any] = {"name": name, "values": values, "__doc__": function.__doc__ or f"{name}, a function."}
    about["__module__"] = getattr(function, "__module__", __name__)
    return register(type(f"Feature_{name}", (Feature,), about))


__all__ = ["WHOLE", "Array", "Context", "Feature", "Field", "FieldFeature", "matrix", "register_feature"]
