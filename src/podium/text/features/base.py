"""Feature: a number for each document of a query. Its repr is the name of the column.

    >>> from podium.text.features import Feature
    >>> Feature.parse("bm25(field=title,k1=0.9)")
    bm25(field=title,k1=0.9)

A new one is a registered subclass, in a plug-in or a script, or a function given to `register_feature`.

A feature of one field has a kernel, which sees that field of all n documents and the m terms of the query:

    kernel(counts, times, sizes, terms, totals, params, out)

counts[i, t] is c, the occurrences of term t in document i; times[t] its occurrences in the query; sizes[0, i] is |d|,
and sizes[1, i] the number of different terms of d; terms[0, t] is df, terms[1, t] cf; totals is (N, |C|); params are
the numeric fields of the feature in their order. It adds to `out`, n zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Literal, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints, Singles
from podium.base.errors import DataError, UnknownNameError
from podium.base.registry import Named, field_types, register
from podium.jit.compiled import address, compiled, function_at
from podium.text.context import Context, View
from podium.text.index.index import WHOLE, Index

_SIGNATURE = "void(f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[::1], f8[::1])"
_MOST = 4
"""Numeric fields that a feature of one field may have."""


class Feature(Named):
    """A number for each document of a query; NaN if it is missing."""

    kind: ClassVar[str] = "feature"
    home: ClassVar[str] = "podium.text.features"
    of_query: ClassVar[bool] = False
    """Whether it is equal for all documents of a query."""
    of_candidates: ClassVar[bool] = False
    """Whether it depends on the other documents of the query."""

    def values(self, context: Context) -> Array:
        """The feature of each document."""  # (n,)
        raise NotImplementedError

    def lacks(self, record: Mapping[str, Any], index: Index) -> str | None:
        """What the feature needs and a text that is not in the index lacks, given as a dict; None for nothing."""
        return None

    def check(self, index: Index) -> None:
        """Raise a clear error if the index lacks the field."""
        field = getattr(self, "field", WHOLE)
        if field not in (*index.fields, WHOLE):
            raise UnknownNameError("field", field, (*index.fields, WHOLE))


class FieldFeature(Feature):
    """A feature of one field, or of the whole document, with a kernel."""

    field: str
    """Field whose words count; `whole` is all fields together."""
    kernel: ClassVar[Any]

    def sees(self) -> Hashable:
        """Key of the counts; features with the same key share them."""
        return "words"

    def view(self, context: Context) -> View | None:
        """The counts in the documents; None if there is nothing to count, and all values are 0."""
        return context.words

    def values(self, context: Context) -> Array:
        table = np.zeros((1, len(context)))
        Columns([self], [0], context.column).fill(context, table)
        return table[0]  # type: ignore[no-any-return]


class Columns:
    """Features of fields that share counts, and the rows of a table that they fill."""

    def __init__(self, features: Sequence[FieldFeature], rows: Sequence[int], column: Callable[[str], int]) -> None:
        self.first, self.rows = features[0], np.array(rows, np.int64)
        self.kernels = np.array([address(type(feature).kernel, _SIGNATURE) for feature in features], np.int64)
        self.fields = np.array([column(feature.field) for feature in features], np.int64)
        self.params = np.zeros((len(features), _MOST))
        for row, feature in zip(self.params, features, strict=True):
            values = _params(feature)
            row[: len(values)] = values

    def fill(self, context: Context, table: Array) -> None:
        """Fill rows of `table`, (d, n) zeros."""
        view = self.first.view(context)
        if view is not None:
            _fill(self.kernels, self.rows, self.fields, self.params, *view, context.sizes, context.totals, table)


class Plan:
    """Features grouped so that a few calls of compiled code compute them."""

    def __init__(self, features: Sequence[Feature], index: Index) -> None:
        self.features, groups = tuple(features), dict[Hashable, list[int]]()
        for row, feature in enumerate(self.features):
            if isinstance(feature, FieldFeature):
                feature.check(index)
                groups.setdefault(feature.sees(), []).append(row)
        names = (*index.fields, WHOLE)
        self.columns = [
            Columns([self.features[row] for row in rows], rows, names.index)  # type: ignore[misc]
            for rows in groups.values()
        ]
        self.rest = [(row, other) for row, other in enumerate(self.features) if not isinstance(other, FieldFeature)]

    def matrix(self, context: Context) -> Singles:
        """The features of all documents of a query."""  # (n, d)
        table = np.zeros((len(self.features), len(context)))
        for columns in self.columns:
            columns.fill(context, table)
        for row, feature in self.rest:
            table[row] = feature.values(context)
        return np.ascontiguousarray(table.T, np.float32)


def register_feature(name: str, function: Callable[..., ArrayLike]) -> type[Feature]:
    """Register a custom feature: a function (query, documents, index) → a number for each document.

    `query` is the text, `documents` are dicts as they were added to the index.
    """

    def values(self: Feature, context: Context) -> Array:
        numbers = np.asarray(function(context.query.text, context.documents(), context.index), np.float64)
        if numbers.shape != (len(context),):
            raise DataError(f"feature {name}: {len(context)} numbers expected, got shape {numbers.shape}.")
        return numbers

    about: dict[str, Any] = {"name": name, "values": values, "__doc__": function.__doc__ or f"{name}, a function."}
    about["__module__"] = getattr(function, "__module__", __name__)
    return register(type(f"Feature_{name}", (Feature,), about))


def _params(feature: Feature) -> list[float]:
    """The numeric fields in their order; a choice between words is its index."""
    numbers = []
    for name, kind in field_types(type(feature)).items():
        value = getattr(feature, name)
        if get_origin(kind) is Literal:
            numbers.append(float(get_args(kind).index(value)))
        elif isinstance(value, int | float):
            numbers.append(float(value))
    return numbers


_kernel_at = function_at(_SIGNATURE)


@compiled
def _fill(
    kernels: Ints, rows: Ints, fields: Ints, params: Array, counts: Array, times: Array, terms: Array, sizes: Array,
    totals: Array, out: Array,
) -> None:  # fmt: skip
    for k in range(len(kernels)):
        f = fields[k]
        _kernel_at(kernels[k])(counts[f], times, sizes[f], terms[f], totals[f], params[k], out[rows[k]])


__all__ = ["WHOLE", "Array", "Context", "Feature", "FieldFeature", "Plan", "View", "register_feature"]
