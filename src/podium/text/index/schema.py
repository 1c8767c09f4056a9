"""Schema: the tables of a store. Each row has a checksum; `meta` has the numbers of rows and its own checksum.

    meta(key, value)                     analyser, fields, changes, the last states, the rows of each table
    document(n, id)
    block(n, size, stored, texts, counts, ids)      stored values, texts and terms of consecutive documents: `blocks.py`
    term(t, term, flagged)               the vocabulary
    deleted(n)                           numbers of deleted documents; a number is never used again
    link(source, target) · visit(v, page, seconds, next) · vector(n, values)

SQLite detects damage to the structure of its file, not to values: `rows_of` does. Checksums are not computed within
statements, because a Python function there deadlocks threads that share a connection.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from podium.base.errors import IndexFileError
from podium.base.sqlite import FileFormat
from podium.text.index.blocks import Block, blocks_of

COLUMNS = {
    "document": ("n", "id"),
    "block": ("n", "size", "stored", "texts", "counts", "ids"),
    "term": ("t", "term", "flagged"),
    "deleted": ("n",),
    "link": ("source", "target"),
    "visit": ("v", "page", "seconds", "next"),
    "vector": ("n", '"values"'),
}
_COLUMNS_2 = {
    **{table: columns for table, columns in COLUMNS.items() if table != "block"},
    "document": ("n", "id", "stored", "text"),
    "token": ("n", "counts", "ids"),
}
"""Those of format 2."""
_META = "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
_DOCUMENTS = """
CREATE TABLE document(n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, sum);
CREATE TABLE block(n INTEGER PRIMARY KEY, size INTEGER NOT NULL, stored BLOB NOT NULL, texts BLOB NOT NULL,
    counts BLOB NOT NULL, ids BLOB NOT NULL, sum);
"""
_TABLES = """
CREATE TABLE term(t INTEGER PRIMARY KEY, term TEXT NOT NULL, flagged INTEGER NOT NULL, sum, UNIQUE(term, flagged));
CREATE TABLE deleted(n INTEGER PRIMARY KEY, sum);
CREATE TABLE link(source TEXT NOT NULL, target TEXT NOT NULL, sum, PRIMARY KEY(source, target)) WITHOUT ROWID;
CREATE TABLE visit(v INTEGER PRIMARY KEY, page TEXT NOT NULL, seconds REAL NOT NULL, next TEXT, sum);
CREATE TABLE vector(n INTEGER PRIMARY KEY, "values" BLOB NOT NULL, sum);
"""


_STATES = 64
"""States whose names are kept: segments of an older one are rebuilt."""


def empty(values: Mapping[str, str]) -> bytes:
    """The bytes of a file without documents; `values` go to meta."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as base:
        base.execute(f"PRAGMA application_id={FORMAT.application}")
        base.execute(f"PRAGMA user_version={FORMAT.version}")
        base.execute("BEGIN")
        for statement in (_META + _DOCUMENTS + _TABLES).split(";"):
            base.execute(statement)
        _count_rows(base, COLUMNS)
        about = {**values, "changes": "0", "states": json.dumps([_state()])}
        base.executemany("INSERT INTO meta VALUES(?, ?)", about.items())
        _seal(base)
        base.execute("COMMIT")
        raw = bytearray(base.serialize())
    raw[18:20] = b"\2\2"  # SQLite's read and write version 2: a write-ahead log, so that readers and a writer coexist
    return bytes(raw)


def insert(base: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]], *, verb: str = "INSERT") -> None:
    """Write rows with their checksums."""
    places = ", ".join("?" * (len(COLUMNS[table]) + 1))
    base.executemany(f"{verb} INTO {table} VALUES({places})", ((*row, row_sum(*row)) for row in rows))


def rows_of(base: sqlite3.Connection, table: str, where: str = "", *values: Any) -> Iterator[tuple[Any, ...]]:
    """Rows of a table in order; raises ValueError at a damaged one."""
    return sound_rows(base.execute(f"SELECT * FROM {table} {where} ORDER BY {COLUMNS[table][0]}", values), table)


def sound_rows(rows: Iterable[tuple[Any, ...]], table: str) -> Iterator[tuple[Any, ...]]:
    """Rows without their checksums; raises ValueError at a damaged one."""
    for row in rows:
        if row_sum(*row[:-1]) != row[-1]:
            raise ValueError(f"a row of {table} does not match its checksum")
        yield row[:-1]


def _add_checksums(base: sqlite3.Connection) -> None:
    """Upgrade a store of format 1: add checksums to its tables, within a transaction that has begun."""
    base.create_function("row_sum", -1, row_sum, deterministic=True)
    for table, columns in _COLUMNS_2.items():
        base.execute(f"ALTER TABLE {table} ADD COLUMN sum")
        base.execute(f"UPDATE {table} SET sum = row_sum({', '.join(columns)})")
    _count_rows(base, _COLUMNS_2)
    base.execute("INSERT INTO meta VALUES('states', ?)", (json.dumps([_state()]),))
    _seal(base)


def _pack_documents(base: sqlite3.Connection) -> None:
    """Upgrade a store of format 2, which had a row for the text and one for the terms of each document, to blocks."""
    n_fields = len(json.loads(_read_meta(base)["fields"]))
    for table in ("document", "token"):
        base.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
        for verb in ("INSERT", "DELETE"):
            base.execute(f"DROP TRIGGER {table}_{verb}")
        base.execute("DELETE FROM meta WHERE key = ?", (f"rows of {table}",))
    for statement in _DOCUMENTS.split(";"):
        base.execute(statement)
    _count_rows(base, ("document", "block"))
    rows = zip(
        sound_rows(base.execute("SELECT * FROM old_document ORDER BY n"), "document"),
        sound_rows(base.execute("SELECT * FROM old_token ORDER BY n"), "token"),
        strict=True,
    )
    try:
        while part := list(itertools.islice(rows, 1000)):
            insert(base, "document", [(n, id) for (n, id, _, _), _ in part])
            insert(base, "block", [block.row() for block in _blocks_of_rows(part, n_fields)])
    except (ValueError, TypeError, AttributeError, zlib.error) as error:
        raise sqlite3.DatabaseError(str(error)) from error
    base.execute("DROP TABLE old_document")
    base.execute("DROP TABLE old_token")
    _seal(base)


def _blocks_of_rows(rows: list[tuple[Any, Any]], n_fields: int) -> Iterator[Block]:
    """The blocks of rows of format 2; numbers of deleted documents between them have empty lines."""
    first = rows[0][0][0]
    size = rows[-1][0][0] - first + 1
    stored, texts, counts = [b""] * size, [b""] * size, np.zeros((size, n_fields), np.int32)
    for (n, _, fields, text), (m, in_fields, _) in rows:
        if n != m:
            raise ValueError("documents and their terms do not agree")
        stored[n - first] = fields.encode()
        texts[n - first] = text if text[:1] == b"{" else zlib.decompress(text)
        counts[n - first] = np.frombuffer(in_fields, "<i4")
    ids = np.frombuffer(b"".join(row[1][2] for row in rows), "<i4")
    return blocks_of(first, stored, texts, counts, ids)


FORMAT = FileFormat(
    noun="index", name="podium index", application=0x706F6469,  # "podi"
    upgrades=(_add_checksums, _pack_documents),
    make="Make one: podium index DOCUMENTS -o FILE", repair="Make it again, or restore a copy.",
    error=lambda message, where: IndexFileError(f"{where}: {message}"),
)  # fmt: skip


def count_change(base: sqlite3.Connection) -> None:
    """Record a change in meta, at the end of a transaction."""
    states = [*json.loads(_read_meta(base)["states"]), _state()][-_STATES:]
    base.execute("UPDATE meta SET value = value + 1 WHERE key = 'changes'")
    base.execute("UPDATE meta SET value = ? WHERE key = 'states'", (json.dumps(states),))
    _seal(base)


def checked_meta(base: sqlite3.Connection) -> dict[str, str]:
    """The values of meta; raises ValueError if they are damaged."""
    values = _read_meta(base)
    if values.get("sum") != str(_sum_of(values)):
        raise ValueError("meta does not match its checksum")
    return values


def row_sum(*values: object) -> int:
    """The checksum of a row."""
    if bytes not in map(type, values):
        return zlib.crc32(ascii(list(values)).encode())
    blobs = [value for value in values if type(value) is bytes]
    checksum = zlib.crc32(ascii([(len(value),) if type(value) is bytes else value for value in values]).encode())
    for blob in blobs:
        checksum = zlib.crc32(blob, checksum)
    return checksum


def _state() -> str:
    return os.urandom(8).hex()


def _read_meta(base: sqlite3.Connection) -> dict[str, str]:
    return dict(base.execute("SELECT key, value FROM meta ORDER BY key"))


def _seal(base: sqlite3.Connection) -> None:
    """Write the checksum of meta, after a change."""
    base.execute("INSERT OR REPLACE INTO meta VALUES('sum', ?)", (str(_sum_of(_read_meta(base))),))


def _sum_of(meta: Mapping[str, str]) -> int:
    return row_sum(*(word for key in sorted(meta) if key != "sum" for word in (key, meta[key])))


def _count_rows(base: sqlite3.Connection, tables: Iterable[str]) -> None:
    """Count the rows of tables in meta, by triggers."""
    for table in tables:
        base.execute(f"INSERT INTO meta SELECT 'rows of {table}', count(*) FROM {table}")
        for verb, step in (("INSERT", "+ 1"), ("DELETE", "- 1")):
            base.execute(
                f"CREATE TRIGGER {table}_{verb} AFTER {verb} ON {table} BEGIN UPDATE meta SET value = "
                f"CAST(CAST(value AS INTEGER) {step} AS TEXT) WHERE key = 'rows of {table}'; END"
            )
