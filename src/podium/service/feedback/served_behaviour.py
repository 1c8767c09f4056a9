"""Behaviour features of a request, from the counts in the feedback database: those of the batch, as of now."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from podium.base.arrays import Array, Singles
from podium.clicks.behaviour.base import DAY, BehaviourFeature, Measure, cell, decay, is_late
from podium.service.feedback.behaviour_tables import key_of
from podium.service.feedback.database import FORMAT

_KEYS = 500
"""Largest number of keys of a question to the database."""
_MEASURES = ("shown", "clicks", "dwells", "dwell")


class StoreCounts:
    """Counts of the events before now, of the documents of one request."""

    def __init__(
        self, base: sqlite3.Connection, at: int, query: str, user: bytes | None, documents: Sequence[str]
    ) -> None:
        self._base, self._today, self._query, self._user, self._documents = base, at // DAY, query, user, documents
        self._tables: dict[str, Array | None] = {}
        self._days: dict[str, int] = {}

    def expect(self, features: Sequence[BehaviourFeature]) -> None:
        """Prepare to read each kind of counts once, for the longest time that a feature asks for."""
        for feature in features:
            for name in feature.cells():
                self._days[name] = max(feature.days, self._days.get(name, 0))

    def count(self, measure: Measure, by: str, *, days: int, half_life: float = 0.0, rank: int | None = None) -> Array:
        """Events of the last days, weighted by their age; NaN if they are not counted, or the user is not known."""
        table = self._table(cell(by, rank is not None))
        if table is None:
            return np.full(len(self._documents), np.nan)
        weights, total = np.array(list(decay(days, half_life))), np.zeros(len(self._documents))
        table = table[table[:, 1] >= 1] if is_late(measure) else table
        rows = table[(table[:, 1] < days) & (table[:, 2] == (0 if rank is None else rank))]
        age = rows[:, 1].astype(np.int64)
        np.add.at(total, rows[:, 0].astype(np.int64), rows[:, 3 + _MEASURES.index(measure)] * weights[age])
        return total

    def last(self, by: str, *, days: int) -> Array:
        """Days since the last click; NaN if there was none in the last days."""
        table, last = self._table(cell(by, False)), np.full(len(self._documents), np.nan)
        if table is not None:
            rows = table[(table[:, 1] < days) & (table[:, 3 + _MEASURES.index("clicks")] > 0)]
            np.fmin.at(last, rows[:, 0].astype(np.int64), rows[:, 1])
        return last

    def _table(self, name: str) -> Array | None:
        """Rows of (document, age in days, rank, counts …), the youngest first; None if they cannot be read."""
        if name not in self._tables:
            self._tables[name] = self._read(name)
        return self._tables[name]

    def _read(self, name: str) -> Array | None:
        by = name.partition("/")[0]
        number = self._base.execute("SELECT c FROM behaviour_cell WHERE name=? AND counted>=until", (name,)).fetchone()
        if number is None or (by.startswith("user") and self._user is None):
            return None
        places: dict[bytes, list[int]] = {}
        for place, document in enumerate(self._documents):
            key = key_of(by, self._query, self._user, document)
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
            for key, day, *counts in self._base.execute(question, (*number, *part, self._today - days, self._today)):
                rows += [(place, self._today - day, *counts) for place in places[key]]
        table = np.array(rows, np.float64).reshape(len(rows), 3 + len(_MEASURES))
        return table[np.argsort(table[:, 1], kind="stable")]


class ServedBehaviour:
    """Reader of behaviour features; any thread may ask."""

    def __init__(self, path: Path) -> None:
        self._base = FORMAT.open(path)
        self._lock = threading.Lock()

    def features(
        self, wanted: Sequence[BehaviourFeature], *, query: str, user: bytes | None, documents: Sequence[str]
    ) -> tuple[Singles, int]:
        """Features of the documents of a request, and its time in ms: after every event that they count."""  # (n, d)
        with self._lock:
            self._base.execute("BEGIN")
            try:
                at = self._now()
                counts = StoreCounts(self._base, at, query, user, documents)
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
