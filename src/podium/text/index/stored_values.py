"""Values of a field of all documents of an index, in the order of their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Ints
from podium.base.errors import UnknownNameError

if TYPE_CHECKING:
    from podium.text.index.index import Index


def document_numbers(index: Index) -> Ints:
    """The numbers of all documents, rising."""  # (N,)

    def make() -> Ints:
        parts = [segment.numbers[~segment.dead] for segment in index.segments]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    return index.kept("document_numbers", make)


def place(rising: Ints, numbers: Ints) -> Ints:
    """Indices of numbers in a sorted array; −1 for those that it lacks."""
    if not len(rising):
        return np.full(len(numbers), -1)
    at = np.minimum(np.searchsorted(rising, numbers), len(rising) - 1)
    return np.where(rising[at] == numbers, at, -1)


def field_values(index: Index, field: str) -> list[Any]:
    """The value of a field of each document, in the order of numbers.

    None if a document has none; an empty text or list counts as none.
    """
    numbers = document_numbers(index)
    values: list[Any] = [None] * len(numbers)
    row = {n: k for k, n in enumerate(numbers.tolist())}
    for n, value in index.store.stored(field):
        if n in row and value not in ("", []):
            values[row[n]] = value
    return values


def known_values(index: Index, field: str) -> list[Any]:
    """As `field_values`; a field that no document has is an error."""
    values = field_values(index, field)
    if field not in index.fields and values and all(value is None for value in values):
        names = index.store.stored_fields()
        if field not in names:
            raise UnknownNameError("stored field", field, (*names, *index.fields))
    return values
