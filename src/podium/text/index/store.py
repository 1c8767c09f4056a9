"""Store: the documents of an index and their terms, in one SQLite file (see `schema.py`), which only it writes.

Each change is one transaction: after a crash, all of it is there or nothing. An open store reads one state of the
file, the one at its opening, its last change or its last renewal, while other processes may write.
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
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base import sqlite
from podium.base.arrays import Flags, Ints, Singles
from podium.base.errors import DataError, IndexFileError
from podium.base.files import claimed, identity, write_aside
from podium.graph.visits import Visit
from podium.text.analyser import Analyser
from podium.text.index.blocks import Block, Tokens, lines_of, tokens_of, unpacked_lines
from podium.text.index.schema import COLUMNS, FORMAT, checked_meta, count_change, empty, insert, rows_of
from podium.text.index.writer import Writer, block_rows, empty_places, largest, remove

if TYPE_CHECKING:
    from podium.text.collection.indexed_document import Document

_BATCH = 1000
"""Documents per batch of writing."""


class Store:
    """The file of an index, open for reading; each change is one transaction."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.RLock()
        self._writing: sqlite3.Connection | None = None
        self._open()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        analyser: Analyser,
        fields: Sequence[str],
        id_field: str = "id",
        title_field: str = "title",
        weights: Sequence[float] | None = None,
    ) -> Store:
        """Create a store without documents. A store with documents is never replaced."""
        target = Path(path)
        values = {
            "analyser": repr(analyser),
            "fields": json.dumps(list(fields)),
            "id field": id_field,
            "title field": title_field,
            "weights": json.dumps([1.0] * len(fields) if weights is None else list(weights)),
            "key": os.urandom(8).hex(),
        }
        if not os.access(target.absolute().parent, os.W_OK):
            raise IndexFileError(f"{target}: cannot be written: no such folder, or read-only. Choose another place.")
        try:
            with claimed(target, wait=sqlite.WAIT):
                if target.exists() and (target.is_dir() or target.stat().st_size > 0):
                    _check_empty(target)
                for end in ("-wal", "-shm"):
                    target.with_name(target.name + end).unlink(missing_ok=True)
                with write_aside(target) as file:
                    file.write(empty(values))
        except (sqlite3.Error, OSError) as error:
            raise IndexFileError(f"{target}: cannot be written ({error}). Choose another place.") from None
        return cls(target)

    def _open(self) -> None:
        """Connect to the file, and hold its present state."""
        self._base, self._terms = FORMAT.open(self.path), dict[tuple[str, bool], int]()
        self._flags = np.empty(0, np.bool_)
        try:
            self._file = identity(self.path.resolve())
            self._hold()
            with self._worded(), self._sound():
                meta = checked_meta(self._base)
                self.analyser = Analyser.parse(meta["analyser"])
                self.fields: tuple[str, ...] = tuple(json.loads(meta["fields"]))
                self.id_field, self.title_field = meta.get("id field", "id"), meta.get("title field", "title")
                self.weights: tuple[float, ...] = tuple(json.loads(meta.get("weights", "[]"))) or (1.0,) * len(
                    self.fields
                )
                self.key: str = meta["key"]
                self.changes()
        except BaseException:
            self.close()
            raise

    def _hold(self) -> None:
        """Read the present state of the file, until the next call."""
        with self._worded():
            if self._base.in_transaction:
                self._base.execute("COMMIT")
            self._base.execute("BEGIN")
            self._base.execute("SELECT count(*) FROM meta").fetchone()  # the first read fixes the state

    @contextmanager
    def renewed(self) -> Iterator[None]:
        """See the changes of other processes, even if the file was replaced. Locked for other threads."""
        with self._lock:
            if identity(self.path.resolve()) == self._file:
                self._hold()
            else:
                self.close()
                self._open()
            yield

    def close(self) -> None:
        self._base.close()

    def changes(self) -> int:
        """The number of changes of the store."""
        with self._worded():
            return int(self._base.execute("SELECT value FROM meta WHERE key = 'changes'").fetchone()[0])

    def states(self) -> list[str]:
        """The names of the last states, the present one last; names are unique across stores."""
        with self._worded(), self._sound():
            return [str(state) for state in json.loads(checked_meta(self._base)["states"])]

    def rows(self, table: str) -> int:
        """The number of rows of a table, counted as they were written."""
        with self._worded(), self._sound():
            return int(checked_meta(self._base)[f"rows of {table}"])

    def __len__(self) -> int:
        with self._worded():
            return int(self._base.execute("SELECT count(*) FROM document").fetchone()[0])

    def add(self, documents: Iterable[Document], *, replace: bool = False) -> int:
        """Add documents in one transaction, and return their number."""
        with self.changing() as base:
            writer = Writer(self, base, replace=replace)
            rest = iter(documents)
            while batch := list(itertools.islice(rest, _BATCH)):
                writer.write(batch)
            with self._sound():
                writer.finish()
        return writer.written

    def delete(self, ids: Sequence[str]) -> None:
        """Delete documents in one transaction; an unknown id is an error, and then none is deleted."""
        with self.changing() as base:
            numbers = {id: _number(base, id) for id in ids}
            unknown = [id for id, n in numbers.items() if n is None]
            if unknown:
                raise DataError(f"no document {unknown[0]!r}, so nothing was deleted.", where=str(self.path))
            with self._sound():
                found = [(id, n) for id, n in numbers.items() if n is not None]
                remove(base, found)
                empty_places(base, [n for _, n in found], n_fields=len(self.fields))

    def number(self, id: str) -> int | None:
        """The number of a document."""
        with self._worded():
            return _number(self._base, id)

    def document(self, id: str) -> dict[str, Any] | None:
        """All fields of a document, as it was added."""
        n = self.number(id)
        if n is None:
            return None
        with self._worded(), self._sound():
            [(first, size, stored, texts, _, _)] = block_rows(self._base, n)
            return _document(id, *(unpacked_lines(packed, size)[n - first] for packed in (stored, texts)))

    def documents(self) -> Iterator[dict[str, Any]]:
        """All documents, as they were added and in that order."""
        return (_document(id, stored, text) for _, id, stored, text in self._lines("stored", "texts"))

    def stored(self, field: str) -> Iterator[tuple[int, Any]]:
        """The number of each document and its value of a field, None if it has none."""
        for n, _, line in self._lines("texts" if field in self.fields else "stored"):
            yield n, json.loads(line).get(field)

    def _lines(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """The number and the id of each document, and its lines in columns of its block."""
        at = [COLUMNS["block"].index(column) for column in columns]
        with self._sound():
            yield from lines_of(self._rows("document"), self._rows("block"), at)

    def stored_fields(self) -> list[str]:
        """The names of all stored fields."""
        return sorted(set[str]().union(*self.all_stored()))

    def all_stored(self) -> Iterator[dict[str, Any]]:
        """The stored fields of each document."""
        return (json.loads(stored) for _, _, stored in self._lines("stored"))

    def tokens(self, *, after: int = -1) -> Tokens:
        """The terms of the documents with numbers above `after`."""
        names = dict(self._rows("document", "WHERE n > ?", after))
        rows = self._rows("block", "WHERE n + size > ?", after + 1)
        with self._worded(), self._sound():
            blocks = (Block.read(row, len(self.fields)) for row in rows)
            return tokens_of(names, blocks, len(self.fields), largest(self._base, "term", "t") + 1, after=after)

    def deleted(self) -> Ints:
        """The numbers of deleted documents."""
        return np.array([n for (n,) in self._all("deleted")], np.int64)

    def flags(self) -> Flags:
        """Whether each term is a stop word or too short; raises an error if the vocabulary is damaged."""
        first = len(self._flags)  # terms are added and never changed: each is checked once
        new = list(self._rows("term", "WHERE t >= ?", first))
        with self._worded(), self._sound():
            checks = "ok" if first else self._base.execute("PRAGMA integrity_check('term')").fetchone()[0]
            numbers = [t for t, _, _ in new]
            if (
                checks != "ok"
                or numbers != list(range(first, first + len(new)))
                or first + len(new) != self.rows("term")
            ):
                raise ValueError(f"its vocabulary: {checks}")
        self._flags = np.append(self._flags, np.array([flagged for _, _, flagged in new], np.bool_))
        return self._flags

    def _all(self, table: str) -> list[Any]:
        """All rows of a table, in order; raises an error if some are missing."""
        rows = list(self._rows(table))
        with self._sound():
            if len(rows) != self.rows(table):
                raise ValueError(f"{len(rows)} rows of {table} where {self.rows(table)} were written")
        return rows

    def _rows(self, table: str, where: str = "", *values: Any) -> Iterator[Any]:
        """The rows of a table, in order; raises an error at a damaged one."""
        with self._worded(), self._sound():
            yield from rows_of(self._base, table, where, *values)

    def term_ids(self, words: Sequence[str]) -> list[int]:
        """The numbers of the terms of words; −1 for a term that no document has."""
        ids = []
        for term in map(self.analyser.term, words):
            if term not in self._terms:
                with self._worded():
                    row = self._base.execute("SELECT t FROM term WHERE term = ? AND flagged = ?", term).fetchone()
                if row is not None:
                    self._terms[term] = int(row[0])
            ids.append(self._terms.get(term, -1))
        return ids

    def term(self, t: int) -> str:
        """A term by its number."""
        with self._worded():
            return str(self._base.execute("SELECT term FROM term WHERE t = ?", (int(t),)).fetchone()[0])

    def vocabulary(self) -> list[tuple[int, str]]:
        """The number and the letters of each term."""
        return [(t, term) for t, term, _ in self._rows("term")]

    def links(self) -> list[tuple[str, str]]:
        return self._all("link")

    def add_links(self, links: Iterable[tuple[str, str]]) -> None:
        """Add links between documents in one transaction."""
        with self.changing() as base:
            insert(base, "link", links, verb="INSERT OR IGNORE")

    def visits(self) -> list[Visit]:
        return [Visit(*row[1:]) for row in self._all("visit")]

    def add_visits(self, visits: Iterable[Visit]) -> None:
        """Append visits in one transaction."""
        with self.changing() as base:
            first = largest(base, "visit", "v") + 1
            rows = ((v, visit.page, float(visit.seconds), visit.next) for v, visit in enumerate(visits, first))
            insert(base, "visit", rows)

    def vectors(self) -> Iterator[tuple[int, Singles]]:
        """The number and the vector of each document that has one, in order."""
        for n, values in self._all("vector"):
            with self._sound():
                vector = np.frombuffer(values, "<f4")
            yield n, vector

    def set_vectors(self, vectors: Iterable[tuple[str, Singles]], *, encoder: str | None = None) -> int:
        """Set vectors of documents in one transaction, and return their number; `encoder` is the encoder's name."""
        written = 0
        with self.changing() as base:
            for id, values in vectors:
                n = _number(base, id)
                if n is None:
                    raise DataError(f"no document {id!r}, so no vector was stored.", where=str(self.path))
                base.execute("DELETE FROM vector WHERE n = ?", (n,))
                insert(base, "vector", [(n, values.astype("<f4").tobytes())])
                written += 1
            widths = [w // 4 for (w,) in base.execute('SELECT DISTINCT length("values") FROM vector ORDER BY 1')]
            if len(widths) > 1:
                problem = f"vectors of {widths[0]} and of {widths[1]} numbers in one index, so none was stored."
                raise DataError(f"{problem} Make all of them with the same model.", where=str(self.path))
            base.execute("INSERT OR REPLACE INTO meta VALUES('encoder', ?)", (encoder or "",))
        return written

    def encoder(self) -> str | None:
        """The name of the vectors' encoder, if there is one."""
        with self._worded():
            row = self._base.execute("SELECT value FROM meta WHERE key = 'encoder'").fetchone()
        return (row[0] or None) if row else None

    @property
    def is_changing(self) -> bool:
        """Whether a transaction is under way."""
        return self._writing is not None

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, counted as a change: all of the block takes effect at its end, or nothing."""
        with self._lock:
            if self._writing is not None:  # within a larger one, which may go on if this fails
                with sqlite.part(self._writing):
                    yield self._writing
                return
            with self._writer() as base:
                try:
                    yield base
                    with self._worded():
                        if base.total_changes:
                            count_change(base)
                        base.execute("COMMIT")
                except BaseException:
                    with contextlib.suppress(sqlite3.Error):
                        base.execute("ROLLBACK")
                    raise
                with contextlib.suppress(sqlite3.Error):  # without waiting for readers
                    self._hold()
                    base.execute("PRAGMA busy_timeout=0")
                    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _writer(self) -> Iterator[sqlite3.Connection]:
        """A connection for writing with a transaction begun; other processes cannot write meanwhile."""
        if not sqlite.changeable(self.path):
            raise FORMAT.in_words(self.path, sqlite3.OperationalError("readonly"))
        with claimed(self.path, wait=sqlite.WAIT), contextlib.closing(FORMAT.open(self.path)) as base, self._worded():
            base.execute("BEGIN IMMEDIATE")
            with self._sound():
                if checked_meta(base)["key"] != self.key:
                    raise IndexFileError(f"{self.path}: was replaced by another index meanwhile. Open it again.")
            self._writing = base
            try:
                yield base
            finally:
                self._writing = None

    @contextmanager
    def _worded(self) -> Iterator[None]:
        try:
            yield
        except sqlite.FAULTS as error:
            raise FORMAT.in_words(self.path, error) from error

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """Raise a clear error if a value of the file cannot be decoded."""
        try:
            yield
        except (sqlite3.Error, IndexFileError):
            raise
        except Exception as error:
            raise IndexFileError(f"{self.path}: damaged ({error!r}). Make it again, or restore a copy.") from error


def _check_empty(target: Path) -> None:
    """Raise an error if a file is a store with documents, or no store."""
    with contextlib.closing(Store(target)) as store:
        if len(store) or store.changes():
            raise DataError("exists already. Add to it, or delete it first.", where=str(target))


def _document(id: str, stored: bytes, text: bytes) -> dict[str, Any]:
    """A document as it was added, from its lines in a block."""
    fields = {"id": id, **json.loads(stored), **json.loads(text)}
    fields["id"] = id  # a stored field may be called so too
    return fields


def _number(base: sqlite3.Connection, id: str) -> int | None:
    try:
        row = base.execute("SELECT n FROM document WHERE id = ?", (id,)).fetchone()
    except UnicodeEncodeError:  # half a character, as of bytes that are not UTF-8: no id has one
        return None
    return None if row is None else int(row[0])
