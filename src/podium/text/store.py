"""Store: the documents of an index and their terms, in one SQLite file. The only place that writes to it.

    meta(key, value)                     analyser, fields, and a count of changes
    document(n, id, stored, text)        stored: short values as JSON; text: the text fields, JSON, packed if long
    token(n, counts, ids)                the terms of a document, field by field, and how many each field has
    term(t, term, flagged)               the vocabulary
    deleted(n)                           numbers of documents that are gone; a number is never used again
    link(source, target) · visit(v, page, seconds, next) · vector(n, values)

Each change is one transaction: after a crash, all of it is there or nothing.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.errors import DataError, IndexFileError
from podium.graph.visits import Visit
from podium.text import connection
from podium.text.analyser import Analyser
from podium.text.connection import connect, in_words
from podium.text.document import Document
from podium.text.writer import Writer, unpacked

_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE document(n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, stored TEXT NOT NULL, text BLOB NOT NULL);
CREATE TABLE token(n INTEGER PRIMARY KEY, counts BLOB NOT NULL, ids BLOB NOT NULL);
CREATE TABLE term(t INTEGER PRIMARY KEY, term TEXT NOT NULL, flagged INTEGER NOT NULL, UNIQUE(term, flagged));
CREATE TABLE deleted(n INTEGER PRIMARY KEY);
CREATE TABLE link(source TEXT NOT NULL, target TEXT NOT NULL, PRIMARY KEY(source, target)) WITHOUT ROWID;
CREATE TABLE visit(v INTEGER PRIMARY KEY, page TEXT NOT NULL, seconds REAL NOT NULL, next TEXT);
CREATE TABLE vector(n INTEGER PRIMARY KEY, "values" BLOB NOT NULL);
"""
_BATCH = 1000
"""Documents that are written at once."""


@dataclass(frozen=True)
class Tokens:
    """The terms of documents, end to end."""

    numbers: NDArray[np.int64]  # (D,) rising
    counts: NDArray[np.int32]  # (D, F) terms of each field
    ids: NDArray[np.int32]  # all terms, document by document, field by field
    names: list[str]  # (D,) ids of the documents


class Store:
    """The file of an index, open for reading; `add` and `delete` write."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._base = connect(self.path)
        self._lock = threading.RLock()
        self._terms: dict[tuple[str, bool], int] = {}
        try:
            with self._worded(), self._sound():
                known = dict(self._base.execute("SELECT key, value FROM meta"))
                self.analyser = Analyser.parse(known["analyser"])
                self.fields: tuple[str, ...] = tuple(json.loads(known["fields"]))
                self.key: str = known["key"]
                self.changes()
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, analyser: Analyser, fields: Sequence[str]) -> Store:
        """A new store without documents. A store that holds documents is never replaced."""
        target = Path(path)
        if target.exists() and target.stat().st_size > 0:
            with contextlib.closing(cls(target)) as known:
                if len(known) or known.changes():
                    raise DataError("exists already. Add to it, or delete it first.", where=str(target))
        values = {
            "analyser": repr(analyser),
            "fields": json.dumps(list(fields)),
            "key": os.urandom(8).hex(),
            "changes": "0",
        }
        aside = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}.part")
        try:
            with contextlib.closing(sqlite3.connect(aside, isolation_level=None)) as base:
                base.execute("PRAGMA journal_mode=WAL")
                base.execute(f"PRAGMA application_id={connection.APPLICATION}")
                base.execute(f"PRAGMA user_version={connection.VERSION}")
                base.executescript(f"BEGIN; {_SCHEMA}")
                base.executemany("INSERT INTO meta VALUES(?, ?)", values.items())
                base.execute("COMMIT")
            for end in ("-wal", "-shm"):
                target.with_name(target.name + end).unlink(missing_ok=True)
            aside.replace(target)  # it is there as a whole or not at all
        except (sqlite3.Error, OSError) as error:
            raise IndexFileError(f"{target}: cannot be written ({error}). Choose another place.") from None
        finally:
            for end in ("", "-wal", "-shm"):
                aside.with_name(aside.name + end).unlink(missing_ok=True)
        return cls(target)

    def close(self) -> None:
        self._base.close()

    def changes(self) -> int:
        """How often the store was changed."""
        with self._worded():
            return _counter(self._base)

    def __len__(self) -> int:
        with self._worded():
            return int(self._base.execute("SELECT count(*) FROM document").fetchone()[0])

    def add(self, documents: Iterable[Document], *, replace: bool = False) -> int:
        """Add documents in one transaction, and return how many."""
        with self._changing():
            first = max(self._largest("document", "n"), self._largest("deleted", "n")) + 1
            writer = Writer(self, first, replace=replace)
            rest = iter(documents)
            while batch := list(itertools.islice(rest, _BATCH)):
                writer.write(batch)
        return writer.written

    def delete(self, ids: Sequence[str]) -> None:
        """Delete documents in one transaction; an unknown id is an error, and then none is deleted."""
        with self._changing():
            numbers = {one: self.number(one) for one in ids}
            unknown = [one for one, n in numbers.items() if n is None]
            if unknown:
                raise DataError(f"no document {unknown[0]!r}, so nothing was deleted.", where=str(self.path))
            self._remove([(one, n) for one, n in numbers.items() if n is not None])

    def number(self, id: str) -> int | None:
        """The number of a document."""
        with self._worded():
            found = self._base.execute("SELECT n FROM document WHERE id = ?", (id,)).fetchone()
        return None if found is None else int(found[0])

    def document(self, id: str) -> dict[str, Any] | None:
        """All fields of a document, as it was given."""
        with self._worded():
            row = self._base.execute("SELECT id, stored, text FROM document WHERE id = ?", (id,)).fetchone()
        with self._sound():
            return None if row is None else {"id": row[0], **json.loads(row[1]), **unpacked(row[2])}

    def documents(self) -> Iterator[dict[str, Any]]:
        """All documents, as they were given, in the order in which they were added."""
        with self._worded():
            for id, stored, text in self._base.execute("SELECT id, stored, text FROM document ORDER BY n"):
                with self._sound():
                    found = {"id": id, **json.loads(stored), **unpacked(text)}
                yield found

    def stored(self, field: str) -> Iterator[tuple[int, Any]]:
        """The number of each document and its value of a field; None where it has none."""
        with self._worded():
            if field in self.fields:
                for n, text in self._base.execute("SELECT n, text FROM document ORDER BY n"):
                    yield n, unpacked(text).get(field)
                return
            ask = "SELECT n, value, type FROM document LEFT JOIN json_each(stored) ON key = ? ORDER BY n"
            for n, value, kind in self._base.execute(ask, (field,)):
                if kind in ("array", "object"):
                    yield n, json.loads(value)
                else:
                    yield n, bool(value) if kind in ("true", "false") else value

    def stored_fields(self) -> list[str]:
        """The names of all stored fields."""
        with self._worded():
            ask = "SELECT DISTINCT key FROM document, json_each(stored) ORDER BY key"
            return [name for (name,) in self._base.execute(ask)]

    def tokens(self, *, after: int = -1) -> Tokens:
        """The terms of the documents with numbers above `after`."""
        with self._worded():
            ask = "SELECT n, counts, ids, id FROM token JOIN document USING (n) WHERE n > ? ORDER BY n"
            rows = self._base.execute(ask, (after,)).fetchall()
        with self._sound():
            counts = np.frombuffer(b"".join(row[1] for row in rows), "<i4").reshape(len(rows), len(self.fields))
            ids = np.frombuffer(b"".join(row[2] for row in rows), "<i4")
        if counts.sum() != len(ids):
            raise IndexFileError(f"{self.path}: damaged: {len(ids)} terms where {counts.sum()} were counted.")
        with self._worded():
            size = self._largest("term", "t") + 1
        if (len(ids) and not 0 <= ids.min() <= ids.max() < size) or (counts < 0).any():
            raise IndexFileError(f"{self.path}: damaged: a document has a term that is not in the vocabulary.")
        return Tokens(np.array([row[0] for row in rows], np.int64), counts, ids, [row[3] for row in rows])

    def deleted(self) -> NDArray[np.int64]:
        """The numbers of deleted documents."""
        with self._worded():
            return np.array([n for (n,) in self._base.execute("SELECT n FROM deleted ORDER BY n")], np.int64)

    def flags(self) -> NDArray[np.bool_]:
        """Whether each term is flagged as a stop word or too short."""
        with self._worded():
            found = np.zeros(self._largest("term", "t") + 1, np.bool_)
            for (t,) in self._base.execute("SELECT t FROM term WHERE flagged"):
                found[t] = True
        return found

    def term_ids(self, words: Sequence[str]) -> list[int]:
        """The numbers of the terms of words; −1 for a term that no document has."""
        found = []
        for term in map(self.analyser.term, words):
            if term not in self._terms:
                with self._worded():
                    row = self._base.execute("SELECT t FROM term WHERE term = ? AND flagged = ?", term).fetchone()
                if row is None:
                    found.append(-1)
                    continue
                self._terms[term] = int(row[0])
            found.append(self._terms[term])
        return found

    def term(self, t: int) -> str:
        """A term by its number."""
        with self._worded():
            return str(self._base.execute("SELECT term FROM term WHERE t = ?", (int(t),)).fetchone()[0])

    def links(self) -> list[tuple[str, str]]:
        with self._worded():
            return self._base.execute("SELECT source, target FROM link").fetchall()

    def add_links(self, links: Iterable[tuple[str, str]]) -> None:
        """Add links between documents in one transaction."""
        with self._changing():
            self._base.executemany("INSERT OR IGNORE INTO link VALUES(?, ?)", links)

    def visits(self) -> list[Visit]:
        with self._worded():
            return [Visit(*row) for row in self._base.execute("SELECT page, seconds, next FROM visit ORDER BY v")]

    def add_visits(self, visits: Iterable[Visit]) -> None:
        """Add visits, after those that are there, in one transaction."""
        with self._changing():
            self._base.executemany("INSERT INTO visit(page, seconds, next) VALUES(?, ?, ?)", visits)

    def vectors(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """The number and the vector of each document that has one, in order."""
        with self._worded():
            for n, values in self._base.execute('SELECT n, "values" FROM vector ORDER BY n'):
                with self._sound():
                    found = np.frombuffer(values, "<f4")
                yield n, found

    def set_vectors(self, vectors: Iterable[tuple[str, NDArray[np.float32]]], *, encoder: str | None = None) -> int:
        """Give documents their vectors in one transaction, and return how many. `encoder` is what made them."""
        written = 0
        with self._changing():
            for id, values in vectors:
                n = self.number(id)
                if n is None:
                    raise DataError(f"no document {id!r}, so no vector was stored.", where=str(self.path))
                self._base.execute("INSERT OR REPLACE INTO vector VALUES(?, ?)", (n, values.astype("<f4").tobytes()))
                written += 1
            widths = [w // 4 for (w,) in self._base.execute('SELECT DISTINCT length("values") FROM vector ORDER BY 1')]
            if len(widths) > 1:
                problem = f"vectors of {widths[0]} and of {widths[1]} numbers in one index, so none was stored."
                raise DataError(f"{problem} Make all of them with the same model.", where=str(self.path))
            self._base.execute("INSERT OR REPLACE INTO meta VALUES('encoder', ?)", (encoder or "",))
        return written

    def encoder(self) -> str | None:
        """The name of what made the vectors, if it is known."""
        with self._worded():
            found = self._base.execute("SELECT value FROM meta WHERE key = 'encoder'").fetchone()
        return (found[0] or None) if found else None

    def _largest(self, table: str, column: str) -> int:
        return int(self._base.execute(f"SELECT coalesce(max({column}), -1) FROM {table}").fetchone()[0])

    def _remove(self, documents: Sequence[tuple[str, int]]) -> None:
        """Remove documents, given by id and number."""
        rows = [(n,) for _, n in documents]
        for table in ("document", "token", "vector"):
            self._base.executemany(f"DELETE FROM {table} WHERE n = ?", rows)
        self._base.executemany("DELETE FROM link WHERE source = ?", [(id,) for id, _ in documents])
        self._base.executemany("INSERT INTO deleted VALUES(?)", rows)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """While this lasts, all reading sees one state, whatever other processes write."""
        with self._lock, self._worded():
            self._base.execute("BEGIN")
            try:
                yield
            finally:
                with contextlib.suppress(sqlite3.Error):
                    self._base.execute("COMMIT")

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """A transaction that counts as a change."""
        with self._lock, self._worded():
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield
                changes = _counter(self._base) + 1
                self._base.execute("UPDATE meta SET value = ? WHERE key = 'changes'", (str(changes),))
                self._base.execute("COMMIT")
            except BaseException:
                self._terms.clear()
                with contextlib.suppress(sqlite3.Error):
                    self._base.execute("ROLLBACK")
                raise
            with contextlib.suppress(sqlite3.Error):  # without waiting for readers
                self._base.execute("PRAGMA busy_timeout=0")
                self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._base.execute(f"PRAGMA busy_timeout={int(1000 * connection.WAIT)}")

    @contextmanager
    def _worded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise in_words(self.path, error) from error

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """Raise a clear error if a value of the file cannot be decoded."""
        try:
            yield
        except (sqlite3.Error, IndexFileError):
            raise
        except Exception as error:
            raise IndexFileError(f"{self.path}: damaged ({error!r}). Make it again, or restore a copy.") from error


def _counter(base: sqlite3.Connection) -> int:
    return int(base.execute("SELECT value FROM meta WHERE key = 'changes'").fetchone()[0])
