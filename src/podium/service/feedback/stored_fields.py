"""Stored fields of documents in the index of the service, for behaviour features; any thread may ask."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from podium.base.errors import PodiumError
from podium.clicks.behaviour.stored_values import date_of, number_of, value_key
from podium.text.index.store import Store

_CACHED = 200_000
"""Largest number of values in memory."""


class StoredValue(NamedTuple):
    """A value as a key, a number and a date; what it is not is missing."""

    key: bytes | None
    number: float
    date: float


_NOTHING = StoredValue(None, math.nan, math.nan)


class StoredFields:
    """Reader of stored fields as they are now, with a connection of its own, so that searches do not wait."""

    def __init__(self, path: str | Path) -> None:
        self._store, self._lock = Store(path), threading.Lock()
        self._values: dict[tuple[str, str], StoredValue] = {}
        self._names: set[str] = set()
        self._there: set[str] = set()
        self._absent: set[str] = set()
        self._state: str | None = None

    def values(self, field: str, ids: Sequence[str]) -> list[StoredValue]:
        """Value of a field of each document; a document that is not in the index has none."""
        with self._lock, self._store.renewed():
            self._follow()
            self._names.add(field)
            return [self._values.get((field, id)) or self._read(field, id) for id in ids]

    def keys(self, field: str, ids: Sequence[str]) -> list[bytes | None] | None:
        """Key of the value of a field of each document; None if the index cannot be read now."""
        try:
            return [value.key for value in self.values(field, ids)]
        except PodiumError:  # whoever searches hears of it
            return None

    def lacking(self, fields: Iterable[str]) -> str | None:
        """A field that no document has; None if there are documents with each, or there were."""
        missing = set(fields) - self._there
        if not missing:
            return None
        with self._lock, self._store.renewed():
            self._follow()
            if missing <= self._absent:
                return min(missing)
            sought = set(missing)
            for document in self._store.documents():
                sought.difference_update(document)
                if not sought:
                    break
            self._there |= missing - sought
            self._absent |= sought
            return min(sought, default=None)

    def close(self) -> None:
        with self._lock:
            self._store.close()

    def _follow(self) -> None:
        """Forget the values if the index was changed."""
        state = self._store.states()[-1]
        if state != self._state or len(self._values) > _CACHED:
            self._values, self._absent, self._state = {}, set(), state

    def _read(self, field: str, id: str) -> StoredValue:
        """Read all fields that are asked for at once: a document costs more than its fields."""
        document = self._store.document(id)
        if document is None:
            return _NOTHING
        for name in self._names:
            value = document.get(name)
            number, date = number_of(value), date_of(value)
            self._values[name, id] = StoredValue(
                value_key(value), math.nan if number is None else number, math.nan if date is None else date
            )
        return self._values[field, id]
