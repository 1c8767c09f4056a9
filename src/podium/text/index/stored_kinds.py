"""Kinds of the stored fields of an index, and which of them are numbers for ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from podium.text.collection.field_kinds import Kind, can_be_searched, field_kinds
from podium.text.collection.number_text import read_number

if TYPE_CHECKING:
    from podium.text.index.index import Index


@dataclass(frozen=True)
class StoredNumbers:
    """Stored fields that are numbers, and those that look like it and are left out."""

    fields: tuple[str, ...]
    left_out: dict[str, str]
    """Why each of them is left out."""


def stored_kinds(index: Index) -> dict[Kind, list[str]]:
    """The names of the stored fields, by their kind."""
    kinds: dict[Kind, list[str]] = {}
    for name, kind in _kinds(index).items():
        kinds.setdefault(kind, []).append(name)
    return kinds


def stored_numbers(index: Index) -> StoredNumbers:
    """The stored fields that hold a number or a date in every document that has them, and differ between documents."""

    def make() -> StoredNumbers:
        left_out: dict[str, str] = {name: kind for name, kind in _kinds(index).items() if kind in ("ids", "lists")}
        ranges: dict[str, tuple[float, float]] = {}
        numbers = {name for name, kind in _kinds(index).items() if kind in ("numbers", "dates")}
        for document in index.store.all_stored():
            for name in numbers.intersection(document):
                value = _number(document[name])
                if value is None:
                    left_out.setdefault(name, f"not a number in all documents: {document[name]!r:.40}")
                elif value == value:
                    low, high = ranges.get(name, (value, value))
                    ranges[name] = min(low, value), max(high, value)
        for name in sorted(numbers):
            low, high = ranges.get(name, (0.0, 0.0))
            if low == high:
                left_out.setdefault(name, "equal in all documents")
            elif not can_be_searched(name):
                left_out.setdefault(name, "such a name cannot be in that of a feature")
        return StoredNumbers(tuple(name for name in _kinds(index) if name in numbers - left_out.keys()), left_out)

    return index.kept("stored numbers", make)


def _kinds(index: Index) -> dict[str, Kind]:
    return index.kept("stored kinds", lambda: field_kinds(index.store.all_stored()))


def _number(value: Any) -> float | None:
    """A stored value as a number, NaN if it is missing; None if it is none."""
    if value in (None, "", []):
        return float("nan")
    if isinstance(value, str):
        return read_number(value)
    return float(value) if isinstance(value, (int, float)) else None
