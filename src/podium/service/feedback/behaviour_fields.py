"""Stored values of shown documents, and the last clicks of users, in the feedback database.

    behaviour_value(n, field, keys)              keys of a field of the documents of an impression, when it was counted
    behaviour_click(cell, user, at, value, n, rank)                clicks of users on documents with a value of a field

An impression keeps the values that its documents had when it was counted: its later events, and its end, change the
same counts, whatever the index holds by then.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from podium.clicks.behaviour.base import DAY
from podium.service.feedback.behaviour_events import Page, Shown

Keys = Callable[[str, Sequence[str]], "list[bytes | None] | None"]
"""Keys of a stored field of documents; None if they cannot be read now."""
TABLES = """
CREATE TABLE IF NOT EXISTS behaviour_value(
  n INTEGER NOT NULL, field TEXT NOT NULL, keys BLOB NOT NULL, PRIMARY KEY(n, field)) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS behaviour_value_end AFTER DELETE ON impression
  BEGIN DELETE FROM behaviour_value WHERE n=old.n; END;
CREATE TABLE IF NOT EXISTS behaviour_click(
  cell INTEGER NOT NULL, user BLOB NOT NULL, at INTEGER NOT NULL, value BLOB NOT NULL, n INTEGER NOT NULL,
  rank INTEGER NOT NULL, PRIMARY KEY(cell, user, at, value, n, rank)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS behaviour_click_at ON behaviour_click(at);
"""
_SIZE = 12
_NONE = bytes(_SIZE)
"""In the place of the key of a document without a value."""


def keep_values(base: sqlite3.Connection, field: str, pages: Sequence[Page], keys: Keys) -> bool:
    """Keep the values of the documents of impressions that have none yet; returns whether they could be read."""
    new = [page for page in pages if not _is_kept(base, field, page)]
    values = keys(field, [document for page in new for document in page.documents])
    if values is None:
        return False
    of_document = iter(values)
    rows = [(page.n, field, b"".join(next(of_document) or _NONE for _ in page.documents)) for page in new]
    base.executemany("INSERT INTO behaviour_value(n, field, keys) VALUES(?,?,?)", rows)
    return True


def kept_values(base: sqlite3.Connection, field: str, page: Page) -> list[bytes | None]:
    """Keys of the values of the documents of an impression, by rank."""
    row = base.execute("SELECT keys FROM behaviour_value WHERE n=? AND field=?", (page.n, field)).fetchone()
    joined = b"" if row is None else bytes(row[0])
    parts = [joined[at : at + _SIZE] for at in range(0, _SIZE * len(page.documents), _SIZE)]
    return [part if len(part) == _SIZE and part != _NONE else None for part in parts]


def add_clicks(
    base: sqlite3.Connection, cell: int, page: Page, documents: Sequence[Shown], values: Sequence[bytes | None],
    *, sign: int,
) -> None:  # fmt: skip
    """Add the clicks of an impression to those of its user; with sign −1 take them out."""
    if page.user is None:
        return
    rows = [
        (cell, page.user, item.clicked, value, page.n, item.rank)
        for item in documents
        if item.clicked is not None and (value := values[item.rank - 1]) is not None
    ]
    if sign > 0:
        base.executemany("INSERT OR IGNORE INTO behaviour_click VALUES(?,?,?,?,?,?)", rows)
    else:
        base.executemany(
            "DELETE FROM behaviour_click WHERE cell=? AND user=? AND at=? AND value=? AND n=? AND rank=?", rows
        )


def last_clicks(base: sqlite3.Connection, cell: int, user: bytes, since: int, until: int, most: int) -> list[bytes]:
    """Values of the last clicks of a user, the last one first."""
    rows = base.execute(
        "SELECT value FROM behaviour_click WHERE cell=? AND user=? AND at>=? AND at<? ORDER BY at DESC, value DESC "
        "LIMIT ?",
        (cell, user, since, until, most),
    )
    return [bytes(value) for (value,) in rows]


def delete_clicks(base: sqlite3.Connection, before: float, most: int) -> int:
    """Delete some clicks of days that ended before a time in ms; returns their number."""
    return base.execute(
        "DELETE FROM behaviour_click WHERE (cell, user, at, value, n, rank) IN "
        "(SELECT cell, user, at, value, n, rank FROM behaviour_click WHERE at<? ORDER BY at LIMIT ?)",
        (before // DAY * DAY, most),
    ).rowcount


def _is_kept(base: sqlite3.Connection, field: str, page: Page) -> bool:
    row = base.execute("SELECT 1 FROM behaviour_value WHERE n=? AND field=?", (page.n, field)).fetchone()
    return row is not None
