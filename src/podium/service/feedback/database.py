"""Feedback database: the tables of the SQLite file of feedback, judgments and experiments.

    meta(key, value)
    model(m, name, features)                                    the models that ranked, with the names of their features
    impression(n, request, at, model, query, user, documents, features, experiment, arms)     what was shown, best first
    event(n, kind, request, query, document, value, who, event, at)         click, purchase, dwell, skip, judgment
    experiment(name, kind, control, candidate, method, salt, min_pages, confidence, started, ended, why)
    shadow(n, experiment, request, at, kendall, overlap, difference, seconds)   a candidate compared with what was shown
    behaviour_cell, behaviour                              counts by day, see `podium.service.feedback.behaviour_tables`
    behaviour_value, behaviour_click     stored values and last clicks, see `podium.service.feedback.behaviour_fields`

Features are float32 vectors. Format 1 had no experiments, format 2 spelled the last kind of event in another way,
format 3 had no counts of behaviour, and format 4 no stored values. Such a file is brought to the newest format when it
is opened.
"""

from __future__ import annotations

import contextlib
import math
import os
import sqlite3
import time
from pathlib import Path

from podium.base.errors import DataError
from podium.base.sqlite import FAULTS, FileFormat
from podium.service.feedback.behaviour_fields import TABLES as _FIELDS
from podium.service.feedback.behaviour_tables import TABLES as _BEHAVIOUR
from podium.service.feedback.behaviour_tables import delete_days, lower_counted

_AT_ONCE = 500
"""Number of impressions deleted in one transaction."""
_TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE model(m INTEGER PRIMARY KEY, name TEXT NOT NULL, features TEXT NOT NULL, UNIQUE(name, features));
CREATE TABLE impression(
  n INTEGER PRIMARY KEY, request TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, model INTEGER NOT NULL,
  query TEXT NOT NULL, user BLOB, documents TEXT NOT NULL, features BLOB NOT NULL);
CREATE INDEX impression_user ON impression(user) WHERE user IS NOT NULL;
CREATE INDEX impression_at ON impression(at);
CREATE TABLE event(
  n INTEGER PRIMARY KEY, kind TEXT NOT NULL, request TEXT NOT NULL, query TEXT NOT NULL, document TEXT NOT NULL,
  value REAL, who TEXT NOT NULL, event TEXT NOT NULL, at INTEGER NOT NULL,
  UNIQUE(request, document, kind, query, who, event));
CREATE INDEX impression_query ON impression(query);
"""
_EXPERIMENTS = """
ALTER TABLE impression ADD COLUMN experiment TEXT;
ALTER TABLE impression ADD COLUMN arms TEXT;
CREATE INDEX impression_experiment ON impression(experiment, n) WHERE experiment IS NOT NULL;
CREATE TABLE experiment(
  name TEXT PRIMARY KEY, kind TEXT NOT NULL, control TEXT NOT NULL, candidate TEXT NOT NULL, method TEXT NOT NULL,
  salt TEXT NOT NULL, min_pages INTEGER NOT NULL, confidence REAL NOT NULL, started INTEGER NOT NULL, ended INTEGER,
  why TEXT);
CREATE TABLE shadow(
  n INTEGER PRIMARY KEY, experiment TEXT NOT NULL, request TEXT NOT NULL, at INTEGER NOT NULL, kendall REAL,
  overlap REAL NOT NULL, difference REAL NOT NULL, seconds REAL NOT NULL);
CREATE INDEX shadow_experiment ON shadow(experiment);
CREATE INDEX shadow_request ON shadow(request);
CREATE INDEX shadow_at ON shadow(at);
"""
_JUDGMENTS = """
DROP INDEX IF EXISTS event_at;
DROP INDEX IF EXISTS event_judged;
UPDATE event SET kind='judgment' WHERE kind NOT IN ('click', 'purchase', 'dwell', 'skip');
CREATE INDEX event_at ON event(at) WHERE kind<>'judgment';
CREATE INDEX event_judged ON event(query) WHERE kind='judgment';
"""


def _execute(base: sqlite3.Connection, statements: str) -> None:
    """Execute statements within the transaction that has begun."""
    for statement in statements.split(";\n"):
        base.execute(statement)


FORMAT = FileFormat(
    noun="file", name="feedback store of podium serve", application=0x706F6466,  # "podf"
    upgrades=(
        lambda base: _execute(base, _EXPERIMENTS), lambda base: _execute(base, _JUDGMENTS),
        lambda base: _execute(base, _BEHAVIOUR), lambda base: _execute(base, _FIELDS),
    ),
    make="podium serve --store FILE makes one.", repair="Restore a backup.",
    error=lambda message, where: DataError(message, where=where),
)  # fmt: skip


def open_store(path: Path, keep_bytes: int) -> sqlite3.Connection:
    """Open a store for writing; create it, or bring it to the newest format, if needed."""
    try:
        with contextlib.suppress(FileExistsError):  # private: only the owner may read what users did
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise DataError(f"cannot be used as a feedback store: {error.strerror}.", where=str(path)) from error
    base = FORMAT.connect(path)
    try:
        base.execute("PRAGMA journal_mode=WAL")
        base.execute("PRAGMA synchronous=FULL")
        base.execute("PRAGMA secure_delete=ON")
        base.execute("PRAGMA wal_autocheckpoint=1000")
        if keep_bytes:
            base.execute(f"PRAGMA max_page_count={max(64, keep_bytes // _page_bytes(base))}")
        base.execute("BEGIN IMMEDIATE")
        if base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            _execute(base, _TABLES)
            base.execute(f"PRAGMA application_id={FORMAT.application}")
            base.execute("PRAGMA user_version=1")
        base.execute("COMMIT")
    except FAULTS as error:
        base.close()
        raise FORMAT.in_words(path, error) from error
    FORMAT.check(path, base)
    return base


def delete_oldest(base: sqlite3.Connection, before: float) -> int:
    """Delete some impressions older than a time in ms, with their events; returns the number of deleted rows.

    If the time is infinite, the first in order of arrival are deleted. Events are deleted with their impression, never
    before it; events of unknown requests with impressions of their age. Judgments stay; one that named only its request
    then names its query.
    """
    order = "n" if before == math.inf else "at"
    rows = base.execute(
        f"SELECT request, n, at FROM impression WHERE at<? ORDER BY {order} LIMIT {_AT_ONCE}", (before,)
    ).fetchall()
    ids = [row[:1] for row in rows]
    base.executemany(
        "UPDATE OR IGNORE event SET query=(SELECT i.query FROM impression AS i WHERE i.request=event.request) "
        "WHERE request=? AND kind='judgment' AND query=''",
        ids,
    )
    base.executemany("DELETE FROM event WHERE request=? AND kind<>'judgment'", ids)
    base.executemany("DELETE FROM shadow WHERE request=?", ids)
    base.executemany("DELETE FROM impression WHERE n=?", [row[1:2] for row in rows])
    until = max(row[2] for row in rows) if before == math.inf and rows else min(before, time.time() * 1000)
    others = base.execute(
        "DELETE FROM event WHERE n IN (SELECT n FROM event AS e WHERE kind<>'judgment' AND at<? AND NOT EXISTS "
        "(SELECT 1 FROM impression AS i WHERE i.request=e.request) ORDER BY at LIMIT 500)",
        (until,),
    )
    shadows = base.execute(
        "DELETE FROM shadow WHERE n IN (SELECT n FROM shadow WHERE at<? ORDER BY at LIMIT 500)", (until,)
    )
    lower_counted(base)
    return len(rows) + others.rowcount + shadows.rowcount + delete_days(base, until)


def _page_bytes(base: sqlite3.Connection) -> int:
    return int(base.execute("PRAGMA page_size").fetchone()[0])


def used_bytes(base: sqlite3.Connection) -> int:
    """Size of a database in bytes, without free pages."""
    pages, free = (base.execute(f"PRAGMA {word}").fetchone()[0] for word in ("page_count", "freelist_count"))
    return int((pages - free) * _page_bytes(base))
