"""Columns of a dictionary query → document → number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, Ints
from podium.base.columns import exact_float, id_text
from podium.base.errors import DataError
from podium.parsing.ids import Ids


def nested_columns(nested: Mapping[str, Mapping[str, float]], what: str) -> tuple[NDArray[Any], Ints, Ids, Array]:
    """Query ids, offsets, document ids and numbers; `what` is the word for the numbers in error messages."""
    nested = _checked(nested, what)
    offsets = np.cumsum([0, *map(len, nested.values())], dtype=np.int64)
    documents = Ids.of([name for documents in nested.values() for name in documents])
    numbers = np.array([value for documents in nested.values() for value in documents.values()], dtype=np.float64)
    return np.array(list(nested), dtype=object), offsets, documents, numbers


def _checked(nested: Mapping[str, Mapping[str, float]], what: str) -> dict[str, dict[str, float]]:
    """A dictionary of dictionaries with ids as text and finite numbers."""
    checked: dict[str, dict[str, float]] = {}
    for query, documents in nested.items():
        if not isinstance(documents, Mapping):
            raise DataError(f"query {query!r}: expected a dictionary document → {what}; got {documents!r}.")
        numbers = checked[_new_id(query, checked, "query")] = {}
        for document, value in documents.items():
            name = _new_id(document, numbers, f"query {query!r}: document")
            try:
                numbers[name] = exact_float(value)
            except ValueError:
                numbers[name] = math.nan
            if not math.isfinite(numbers[name]):
                raise DataError(
                    f"query {query!r}, document {document!r}: the {what} must be a finite number; got {value!r}."
                )
    return checked


def _new_id(value: object, earlier: Mapping[str, Any], what: str) -> str:
    """An id as text, which no earlier key of the dictionary has."""
    try:
        name = id_text(value)
    except ValueError as error:
        raise DataError(f"{what} {error}") from None
    if name in earlier:
        raise DataError(f"{what} {name!r} is there twice, once as {value!r}. Keep one of them.")
    return name
