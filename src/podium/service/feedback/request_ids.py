"""Request ids of clients (X-Request-Id), claimed so that each names one impression."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

from podium.service.feedback.database import FORMAT

_CLAIMED = 30_000
"""Number of ids in memory: more than impressions can wait to be written."""


class Claims:
    """Ids of the impressions of a store, and of those that are not written yet."""

    def __init__(self, path: Path) -> None:
        self._base = FORMAT.open(path)
        self._recent: dict[str, None] = {}  # not written yet, perhaps; the oldest first
        self._lock = threading.Lock()

    def take(self, names: Sequence[str]) -> bool:
        """Claim ids; False if an impression has one of them, or may have."""
        with self._lock:
            if any(name in self._recent for name in names):
                return False
            question = "SELECT 1 FROM impression WHERE request IN (SELECT value FROM json_each(?)) LIMIT 1"
            try:
                if self._base.execute(question, (json.dumps(names),)).fetchone():
                    return False
            except (sqlite3.Error, UnicodeDecodeError):
                return False
            self._recent.update(dict.fromkeys(names))
            while len(self._recent) > _CLAIMED:
                del self._recent[next(iter(self._recent))]
        return True

    def close(self) -> None:
        self._base.close()
