"""Behaviour features of a request, from the counts in the feedback database: those of the batch, as of now."""

from __future__ import annotations

import functools
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from podium.base.arrays import Array, Ints, Singles
from podium.clicks.behaviour.base import DAY, FIELD, BehaviourFeature, Measure, cell, decay, is_late, seen_cell
from podium.service.feedback.behaviour_fields import last_clicks
from podium.service.feedback.behaviour_tables import key_of
from podium.service.feedback.database import FORMAT
from podium.service.feedback.stored_fields import StoredValue

_KEYS = 500
"""Largest number of keys of a question to the database."""
_MEASURES = ("shown", "clicks", "dwells", "dwell")


class StoreCounts:
    """Counts of the events before now, of the documents of one request."""

    def __init__(
        self, base: sqlite3.Connection, at: int, query: str, user: bytes | None, documents: Sequence[str],
        stored: Mapping[str, Sequence[StoredValue]],
    ) -> None:  # fmt: skip
        self._base, self._at, self._query, self._user, self._documents = base, at, query, user, documents
        self._today, self._stored = at // DAY, stored
        self._tables: dict[str, Array | None] = {}
        self._days: dict[str, int] = {}
        self._keys = functools.cache(self._keys_of)

    def expect(self, features: Sequence[BehaviourFeature]) -> None:
        """Prepare to read each kind of counts once, for the longest time that a feature asks for."""
        for feature in features:
            for name, days in feature.cells().items():
                self._days[name] = max(days, self._days.get(name, 0))

    @property
    def times(self) -> Ints:
        return np.full(len(self._documents), self._at)

    @property
    def pages(self) -> Ints:
        return np.zeros(len(self._documents), np.int64)

    def count(self, measure: Measure, by: str, *, days: int, half_life: float = 0.0, rank: int | None = None) -> Array:
        """Events of the last days, weighted by their age; NaN if they are not counted, or a document has no key."""
        table = self._table(cell(by, rank is not None))
        if table is None:
            return np.full(len(self._documents), np.nan)
        weights, total = np.array(list(decay(days, half_life))), np.zeros(len(self._documents))
        table = table[table[:, 1] >= 1] if is_late(measure) else table
        rows = table[(table[:, 1] < days) & (table[:, 2] == (0 if rank is None else rank))]
        age = rows[:, 1].astype(np.int64)
        np.add.at(total, rows[:, 0].astype(np.int64), rows[:, 3 + _MEASURES.index(measure)] * weights[age])
        return np.where([key is None for key in self._keys(by)], np.nan, total)

    def last(self, by: str, *, days: int) -> Array:
        """Days since the last click; NaN if there was none in the last days."""
        table, last = self._table(cell(by, False)), np.full(len(self._documents), np.nan)
        if table is not None:
            rows = table[(table[:, 1] < days) & (table[:, 3 + _MEASURES.index("clicks")] > 0)]
            np.fmin.at(last, rows[:, 0].astype(np.int64), rows[:, 1])
        return last

    def share(self, field: str, *, clicks: int, days: int) -> Array:
        """Share of the document's value of a field among those of the user's last clicks; NaN if there were none."""
        number, share = self._number(seen_cell(field)), np.full(len(self._documents), np.nan)
        if number is None or self._user is None:
            return share
        since = (self._today - (days - 1)) * DAY
        last = Counter(last_clicks(self._base, number, self._user, since, self._at, clicks))
        for place, value in enumerate(self._stored[field]):
            if value.key is not None and last:
                share[place] = last[value.key] / last.total()
        return share

    def numbers(self, field: str) -> Array:
        return np.array([value.number for value in self._stored[field]], np.float64)

    def dates(self, field: str) -> Array:
        return np.array([value.date for value in self._stored[field]], np.float64)

    def _keys_of(self, by: str) -> list[bytes | None]:
        """Key of each document's counts; None if it has none."""
        if by.startswith(FIELD):
            return [value.key for value in self._stored[by.removeprefix(FIELD)]]
        return [key_of(by, self._query, self._user, document) for document in self._documents]

    def _number(self, name: str) -> int | None:
        """Number of a kind of counts; None if it is not complete."""
        row = self._base.execute("SELECT c FROM behaviour_cell WHERE name=? AND counted>=until", (name,)).fetchone()
        return None if row is None else int(row[0])

    def _table(self, name: str) -> Array | None:
        """Rows of (document, age in days, rank, counts …), the youngest first; None if they cannot be read."""
        if name not in self._tables:
            self._tables[name] = self._read(name)
        return self._tables[name]

    def _read(self, name: str) -> Array | None:
        number = self._number(name)
        if number is None:
            return None
        places: dict[bytes, list[int]] = {}
        for place, key in enumerate(self._keys(name.removesuffix("/rank"))):
            if key is not None:
                places.setdefault(key, []).append(place)
        keys, rows = list(places), []
        for start in range(0, len(keys), _KEYS):
            part = keys[start : start + _KEYS]
            question = (
                "SELECT key, day, rank, shown, clicks, dwells, dwell FROM behaviour WHERE cell=? AND key IN "
                f"({','.join('?' * len(part))}) AND day>? AND day<=?"
            )
            days = self._days.get(name, 1)
            for key, day, *counts in self._base.execute(question, (number, *part, self._today - days, self._today)):
                rows += [(place, self._today - day, *counts) for place in places[key]]
        table = np.array(rows, np.float64).reshape(len(rows), 3 + len(_MEASURES))
        return table[np.argsort(table[:, 1], kind="stable")]


class ServedBehaviour:
    """Reader of behaviour features; any thread may ask."""

    def __init__(self, path: Path) -> None:
        self._base = FORMAT.open(path)
        self._lock = threading.Lock()

    def features(
        self,
        wanted: Sequence[BehaviourFeature],
        *,
        query: str,
        user: bytes | None,
        documents: Sequence[str],
        stored: Mapping[str, Sequence[StoredValue]] | None = None,
    ) -> tuple[Singles, int]:
        """Features of the documents of a request, and its time in ms: after every event that they count.

        `stored`: the values of each document in the fields that the features need.
        """  # (n, d)
        with self._lock:
            self._base.execute("BEGIN")
            try:
                at = self._now()
                counts = StoreCounts(self._base, at, query, user, documents, stored or {})
                counts.expect(wanted)
                with np.errstate(over="ignore"):
                    X = np.array([feature.values(counts) for feature in wanted], np.float32).T
            finally:
                self._base.execute("ROLLBACK")
        return X, at

    def _now(self) -> int:
        """The time of now, or 1 ms after the newest event: an event at the time of a page is not before it."""
        newest = self._base.execute(
            "SELECT max(coalesce((SELECT max(at) FROM impression), 0), "
            "coalesce((SELECT max(at) FROM event WHERE kind<>'judgment'), 0))"
        ).fetchone()[0]
        return max(time.time_ns() // 1_000_000, int(newest) + 1)

    def close(self) -> None:
        self._base.close()
