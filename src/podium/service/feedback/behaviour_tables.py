"""Counts of what users did, by day, in the feedback database, for the behaviour features of served models.

    behaviour_cell(c, name, counted, until)   counts that models need: query-document, document/rank, field:brand, …
    behaviour(cell, key, day, rank, shown, clicks, dwells, dwell)        events of a key on a day; rank 0: of all ranks

Only counts that a served model needs are kept. An impression is counted once, in the order of arrival: `counted` is the
number of the last one, so that those which were there before the model are counted too, a few with each transaction.
Until number `until` is reached, a cell is incomplete and its features are missing. Events of a counted impression
change its counts within their own transaction. The rules of what counts when are in `podium.clicks.behaviour.base`.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from podium.clicks.behaviour.base import DAY, EVERYTHING, RANKS, field_of, is_seen
from podium.service.feedback.behaviour_events import Page, Shown, shown
from podium.service.feedback.behaviour_events import pages as read_pages
from podium.service.feedback.behaviour_fields import Keys, add_clicks, delete_clicks, keep_values, kept_values

TABLES = """
CREATE TABLE IF NOT EXISTS behaviour_cell(
  c INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, counted INTEGER NOT NULL, until INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS behaviour(
  cell INTEGER NOT NULL, key BLOB NOT NULL, day INTEGER NOT NULL, rank INTEGER NOT NULL, shown INTEGER NOT NULL,
  clicks INTEGER NOT NULL, dwells INTEGER NOT NULL, dwell INTEGER NOT NULL,
  PRIMARY KEY(cell, key, day, rank)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS behaviour_day ON behaviour(day);
"""
NAMES = "behaviour features"
"""Key of the names of all features that were ever served, in the table meta."""
_AT_ONCE = 100
"""Impressions that are counted with one transaction, besides its own."""
_DELETED = 20_000
"""Largest number of old counts that are deleted at once."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A kind of counts, with the number of the last impression that it counted."""

    c: int
    name: str
    counted: int

    @property
    def field(self) -> str | None:
        """Stored field of documents that it needs."""
        return field_of(self.name)


def key_of(by: str, query: str, user: bytes | None, document: str) -> bytes | None:
    """Key of an event; None if it has none: its user is not known."""
    if by.startswith("user") and user is None:
        return None
    parts = {
        EVERYTHING: [],
        "document": [document],
        "query": [query],
        "query-document": [query, document],
        "user": [],
        "user-document": [document],
    }[by]
    digest = hashlib.blake2b(user if by.startswith("user") and user is not None else b"", digest_size=12)
    for text in parts:
        word = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:%s" % (len(word), word))
    return digest.digest()


def require(base: sqlite3.Connection, cells: Iterable[str], names: Iterable[str]) -> None:
    """Keep these counts from now on, also of the impressions that are there."""
    newest, wanted = _newest(base), list(cells)
    base.executemany(
        "INSERT OR IGNORE INTO behaviour_cell(name, counted, until) VALUES(?,0,?)", [(name, newest) for name in wanted]
    )
    base.executemany("UPDATE behaviour_cell SET until=? WHERE name=?", [(newest, name) for name in wanted])
    text = json.dumps(sorted({*served_names(base), *names}))
    base.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?,?)", (NAMES, text))


def served_names(base: sqlite3.Connection) -> list[str]:
    """Names of the behaviour features that were served with this store."""
    row = base.execute("SELECT value FROM meta WHERE key=?", (NAMES,)).fetchone()
    return [] if row is None else [str(name) for name in json.loads(row[0])]


def is_behind(base: sqlite3.Connection, keys: Keys | None = None) -> bool:
    """Whether there are impressions that are not counted yet, and can be."""
    return any(cell.counted < _newest(base) for cell in _cells(base) if cell.field is None or keys is not None)


def advance(base: sqlite3.Connection, more: int = 0, keys: Keys | None = None) -> bool:
    """Count impressions that are not counted yet, a few of them and `more`; returns whether some are left.

    Without the `keys` of stored fields, or while they cannot be read, counts of fields wait.
    """
    cells = [cell for cell in _cells(base) if cell.field is None or keys is not None]
    newest, left = _newest(base) if cells else 0, False
    for cell in (cell for cell in cells if cell.counted < newest):
        pages = list(read_pages(base, "n>? ORDER BY n LIMIT ?", (cell.counted, _AT_ONCE + more)))
        if cell.field is not None and keys is not None and not keep_values(base, cell.field, pages, keys):
            continue
        for page in pages:
            _add(base, [cell], page, shown(base, page))
        last = pages[-1].n if pages else newest
        base.execute("UPDATE behaviour_cell SET counted=? WHERE c=?", (last, cell.c))
        left |= last < newest
    return left


class Changed:
    """Events of one document of an impression before an event is written; `apply` counts those after it instead."""

    def __init__(self, base: sqlite3.Connection, request: str, document: str) -> None:
        self.base = base
        cells = _cells(base)
        self.page = next(iter(read_pages(base, "request=?", (request,))), None) if cells else None
        self.cells = [cell for cell in cells if self.page is not None and self.page.n <= cell.counted]
        self.document = document
        self.before = self._events()

    def _events(self) -> list[Shown]:
        return [] if self.page is None or not self.cells else shown(self.base, self.page, self.document)

    def apply(self) -> None:
        """Replace the old counts by those of now."""
        after = self._events()
        if self.page is not None and after != self.before:
            _add(self.base, self.cells, self.page, self.before, sign=-1)
            _add(self.base, self.cells, self.page, after)


def forget(base: sqlite3.Connection, user: bytes) -> None:
    """Take the impressions of a user out of all counts, before they are deleted."""
    cells = _cells(base)
    for page in read_pages(base, "user=?", (user,)):
        _add(base, [cell for cell in cells if page.n <= cell.counted], page, shown(base, page), sign=-1)
    for cell in cells:  # clicks of impressions that are deleted already
        base.execute("DELETE FROM behaviour_click WHERE cell=? AND user=?", (cell.c, user))


def delete_days(base: sqlite3.Connection, before: float) -> int:
    """Delete some counts of days that ended before a time in ms; returns their number."""
    counts = base.execute(
        "DELETE FROM behaviour WHERE (cell, key, day, rank) IN "
        f"(SELECT cell, key, day, rank FROM behaviour WHERE day<? ORDER BY day LIMIT {_DELETED})",
        (before // DAY,),
    ).rowcount
    return counts + delete_clicks(base, before, _DELETED)


def lower_counted(base: sqlite3.Connection) -> None:
    """After a deletion: the next impression may get a number that was used before, and must be counted."""
    base.execute("UPDATE behaviour_cell SET counted=min(counted, ?1), until=min(until, ?1)", (_newest(base),))


def _cells(base: sqlite3.Connection) -> list[Cell]:
    return [Cell(*row) for row in base.execute("SELECT c, name, counted FROM behaviour_cell ORDER BY c")]


def _newest(base: sqlite3.Connection) -> int:
    return int(base.execute("SELECT coalesce(max(n), 0) FROM impression").fetchone()[0])


def _add(
    base: sqlite3.Connection, cells: Sequence[Cell], page: Page, documents: Sequence[Shown], *, sign: int = 1
) -> None:
    """Add the events of documents of an impression to cells; with sign −1 take them out."""
    rows = []
    for cell in cells:
        values = None if cell.field is None else kept_values(base, cell.field, page)
        if is_seen(cell.name):
            add_clicks(base, cell.c, page, documents, values or (), sign=sign)
            continue
        by, _, ranked = cell.name.partition("/")
        for item in documents:
            key = key_of(by, page.query, page.user, item.document) if values is None else values[item.rank - 1]
            rank = min(item.rank, RANKS) if ranked else 0
            if key is not None:
                rows += [(cell.c, key, day, rank, *(sign * n for n in ns)) for day, ns in item.by_day(page.at).items()]
    base.executemany(
        "INSERT INTO behaviour(cell, key, day, rank, shown, clicks, dwells, dwell) VALUES(?,?,?,?,?,?,?,?) "
        "ON CONFLICT(cell, key, day, rank) DO UPDATE SET shown=shown+excluded.shown, clicks=clicks+excluded.clicks, "
        "dwells=dwells+excluded.dwells, dwell=dwell+excluded.dwell",
        rows,
    )
    if sign < 0:
        base.executemany(
            "DELETE FROM behaviour WHERE cell=? AND key=? AND day=? AND rank=? AND shown=0 AND clicks=0 AND dwells=0",
            [row[:4] for row in rows],
        )
