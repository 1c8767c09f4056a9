"""What is known of all documents of an index at once: their numbers, and their values of a field."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.errors import UnknownNameError
from podium.text.index.index import Index


def document_numbers(index: Index) -> NDArray[np.int64]:
    """The numbers of all documents, rising."""  # (N,)

    def make() -> NDArray[np.int64]:
        parts = [segment.numbers[~segment.dead] for segment in index.segments]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    return index.kept("document_numbers", make)


def place(known: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where numbers lie among known ones, which rise; −1 for those that are not there."""
    if not len(known):
        return np.full(len(numbers), -1)
    at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return np.where(known[at] == numbers, at, -1)


def field_values(index: Index, field: str) -> list[Any]:
    """The value of a field of each document, in the order of numbers.

    None where a document has none; an empty text or list counts as none.
    """
    numbers = document_numbers(index)
    found: list[Any] = [None] * len(numbers)
    there = {n: k for k, n in enumerate(numbers.tolist())}
    for n, value in index.store.stored(field):
        if n in there and value not in ("", []):
            found[there[n]] = value
    return found


def known_values(index: Index, field: str) -> list[Any]:
    """The same; a field that no document has is an error."""
    found = field_values(index, field)
    if field not in index.fields and found and all(value is None for value in found):
        names = index.store.stored_fields()
        if field not in names:
            raise UnknownNameError("stored field", field, (*names, *index.fields))
    return found
