"""Counts of what users did, by day, in the feedback database, for the behaviour features of served models.

    behaviour_cell(c, name, counted, until)          counts that models need, such as query-document, or document/rank
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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from podium.clicks.behaviour.base import DAY, EVERYTHING, RANKS

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
_Counts = dict[tuple[str, int, int], list[int]]  # (document, rank, day): shown, clicks, dwells, dwell in ms


@dataclass(frozen=True, slots=True)
class Page:
    """An impression, as far as it is counted."""

    n: int
    request: str
    at: int
    query: str
    user: bytes | None
    documents: list[str]


@dataclass(frozen=True, slots=True)
class Cell:
    """A kind of counts, with the number of the last impression that it counted."""

    c: int
    name: str
    counted: int


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
    newest = _newest(base)
    base.executemany(
        "INSERT OR IGNORE INTO behaviour_cell(name, counted, until) VALUES(?,0,?)", [(name, newest) for name in cells]
    )
    text = json.dumps(sorted({*served_names(base), *names}))
    base.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?,?)", (NAMES, text))


def served_names(base: sqlite3.Connection) -> list[str]:
    """Names of the behaviour features that were served with this store."""
    row = base.execute("SELECT value FROM meta WHERE key=?", (NAMES,)).fetchone()
    return [] if row is None else [str(name) for name in json.loads(row[0])]


def is_behind(base: sqlite3.Connection) -> bool:
    """Whether there are impressions that are not counted yet."""
    return any(cell.counted < _newest(base) for cell in _cells(base))


def advance(base: sqlite3.Connection, more: int = 0) -> bool:
    """Count impressions that are not counted yet, a few of them and `more`; returns whether some are left."""
    cells = _cells(base)
    newest, left = _newest(base) if cells else 0, False
    for cell in (cell for cell in cells if cell.counted < newest):
        pages = list(_pages(base, "n>? ORDER BY n LIMIT ?", (cell.counted, _AT_ONCE + more)))
        for page in pages:
            _add(base, [cell], page, _counts(base, page))
        last = pages[-1].n if pages else newest
        base.execute("UPDATE behaviour_cell SET counted=? WHERE c=?", (last, cell.c))
        left |= last < newest
    return left


class Changed:
    """Counts of one document of an impression before an event is written; `apply` makes them those after it."""

    def __init__(self, base: sqlite3.Connection, request: str, document: str) -> None:
        self.base = base
        cells = _cells(base)
        self.page = next(iter(_pages(base, "request=?", (request,))), None) if cells else None
        self.cells = [cell for cell in cells if self.page is not None and self.page.n <= cell.counted]
        self.document = document
        self.before = self._counts()

    def _counts(self) -> _Counts:
        if self.page is None or not self.cells:
            return {}
        return {key: n for key, n in _counts(self.base, self.page).items() if key[0] == self.document}

    def apply(self) -> None:
        """Replace the old counts by those of now."""
        after = self._counts()
        if self.page is not None and after != self.before:
            _add(self.base, self.cells, self.page, self.before, sign=-1)
            _add(self.base, self.cells, self.page, after)


def forget(base: sqlite3.Connection, user: bytes) -> None:
    """Take the impressions of a user out of all counts, before they are deleted."""
    for page in _pages(base, "user=?", (user,)):
        cells = [cell for cell in _cells(base) if page.n <= cell.counted]
        _add(base, cells, page, _counts(base, page), sign=-1)


def delete_days(base: sqlite3.Connection, before: float) -> int:
    """Delete some counts of days that ended before a time in ms; returns their number."""
    return base.execute(
        "DELETE FROM behaviour WHERE (cell, key, day, rank) IN "
        f"(SELECT cell, key, day, rank FROM behaviour WHERE day<? ORDER BY day LIMIT {_DELETED})",
        (before // DAY,),
    ).rowcount


def lower_counted(base: sqlite3.Connection) -> None:
    """After a deletion: the next impression may get a number that was used before, and must be counted."""
    base.execute("UPDATE behaviour_cell SET counted=min(counted, ?1), until=min(until, ?1)", (_newest(base),))


def _cells(base: sqlite3.Connection) -> list[Cell]:
    return [Cell(*row) for row in base.execute("SELECT c, name, counted FROM behaviour_cell ORDER BY c")]


def _newest(base: sqlite3.Connection) -> int:
    return int(base.execute("SELECT coalesce(max(n), 0) FROM impression").fetchone()[0])


def _pages(base: sqlite3.Connection, where: str, values: Sequence[object]) -> Iterator[Page]:
    """Impressions; a damaged list of documents is empty."""
    rows = base.execute(f"SELECT n, request, at, query, user, documents FROM impression WHERE {where}", values)
    for n, request, at, query, user, documents in rows.fetchall():
        try:
            ids = json.loads(documents)
        except (ValueError, TypeError):
            ids = []
        texts = ids if isinstance(ids, list) and all(isinstance(id, str) for id in ids) else []
        yield Page(n, request, at, query, user, texts)


def _counts(base: sqlite3.Connection, page: Page) -> _Counts:
    """Events of an impression, by document, rank and day."""
    if not page.query:
        return {}
    events = base.execute(
        "SELECT kind, document, value, at FROM event WHERE request=? AND kind IN ('click', 'dwell') ORDER BY n",
        (page.request,),
    ).fetchall()
    counts: _Counts = {}

    def count(document: str, rank: int, time: int, *amounts: int) -> None:
        row = counts.setdefault((document, rank, time // DAY), [0, 0, 0, 0])
        row[:] = [a + b for a, b in zip(row, amounts, strict=True)]

    for rank, document in enumerate(page.documents, 1):
        own = [event for event in events if event[1] == document] if events else []
        count(document, rank, page.at, 1, 0, 0, 0)
        times = [at for kind, _, _, at in own if kind == "click"]
        clicked = max(page.at, min(times)) if times else page.at
        if times:
            count(document, rank, clicked, 0, 1, 0, 0)
        spans = [float(value) for kind, _, value, _ in own if kind == "dwell" and value is not None]
        if spans:
            span = round(1000.0 * sum(spans))
            count(document, rank, clicked + span, 0, 0, 1, span)
    return counts


def _add(base: sqlite3.Connection, cells: Sequence[Cell], page: Page, counts: _Counts, *, sign: int = 1) -> None:
    """Add the events of an impression to cells; with sign −1 take them out."""
    rows = []
    for cell in cells:
        by, _, ranked = cell.name.partition("/")
        for (document, rank, day), amounts in counts.items():
            key = key_of(by, page.query, page.user, document)
            if key is not None:
                rows.append((cell.c, key, day, min(rank, RANKS) if ranked else 0, *(sign * n for n in amounts)))
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
