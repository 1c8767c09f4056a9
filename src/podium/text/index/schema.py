"""Schema: the tables of a store. Each row has a checksum; `meta` has the numbers of rows and its own checksum.

    meta(key, value)                     analyser, fields, changes, the last states, the rows of each table
    document(n, id, stored, text)        stored: short values as JSON; text: the text fields, JSON, packed if long
    token(n, counts, ids)                the terms of a document, field by field, and how many each field has
    term(t, term, flagged)               the vocabulary
    deleted(n)                           numbers of deleted documents; a number is never used again
    link(source, target) · visit(v, page, seconds, next) · vector(n, values)

SQLite detects damage to the structure of its file, not to values: `rows_of` does. Checksums are not computed within
statements, because a Python function there deadlocks threads that share a connection.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from podium.base.errors import IndexFileError
from podium.base.sqlite import FileFormat

COLUMNS = {
    "document": ("n", "id", "stored", "text"),
    "token": ("n", "counts", "ids"),
    "term": ("t", "term", "flagged"),
    "deleted": ("n",),
    "link": ("source", "target"),
    "visit": ("v", "page", "seconds", "next"),
    "vector": ("n", '"values"'),
}
_META = "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
_TABLES = """
CREATE TABLE document(n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, stored TEXT NOT NULL, text BLOB NOT NULL, sum);
CREATE TABLE token(n INTEGER PRIMARY KEY, counts BLOB NOT NULL, ids BLOB NOT NULL, sum);
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
        for statement in (_META + _TABLES).split(";"):
            base.execute(statement)
        _count_rows(base)
        about = {**values, "changes": "0", "states": json.dumps([_state()])}
        base.executemany("INSERT INTO meta VALUES(?, ?)", about.items())
        _seal(base)
        base.execute("COMMIT")
        raw = bytearray(base.serialize())
    raw[18:20] = b"\2\2"  # SQLite's read and write version 2: a write-ahead log, so that readers and a writer coexist
    return bytes(raw)


def _add_checksums(base: sqlite3.Connection) -> None:
    """Upgrade a store of format 1: add checksums to its tables, within a transaction that has begun."""
    base.create_function("row_sum", -1, row_sum, deterministic=True)
    for table, columns in COLUMNS.items():
        base.execute(f"ALTER TABLE {table} ADD COLUMN sum")
        base.execute(f"UPDATE {table} SET sum = row_sum({', '.join(columns)})")
    _count_rows(base)
    base.execute("INSERT INTO meta VALUES('states', ?)", (json.dumps([_state()]),))
    _seal(base)


FORMAT = FileFormat(
    noun="index", name="podium index", application=0x706F6469,  # "podi"
    upgrades=(_add_checksums,),
    make="Make one: podium index DOCUMENTS -o FILE", repair="Make it again, or restore a copy.",
    error=lambda message, where: IndexFileError(f"{where}: {message}"),
)  # fmt: skip


def insert(base: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]], *, verb: str = "INSERT") -> None:
    """Write rows with their checksums."""
    places = ", ".join("?" * (len(COLUMNS[table]) + 1))
    base.executemany(f"{verb} INTO {table} VALUES({places})", ((*row, row_sum(*row)) for row in rows))


def rows_of(base: sqlite3.Connection, table: str, where: str = "", *values: Any) -> Iterator[tuple[Any, ...]]:
    """Rows of a table in order; raises ValueError at a damaged one."""
    for row in base.execute(f"SELECT * FROM {table} {where} ORDER BY {COLUMNS[table][0]}", values):
        if row_sum(*row[:-1]) != row[-1]:
            raise ValueError(f"a row of {table} does not match its checksum")
        yield row[:-1]


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
    checksum = zlib.crc32(ascii([(len(value),) if isinstance(value, bytes) else value for value in values]).encode())
    for value in values:
        if isinstance(value, bytes):
            checksum = zlib.crc32(value, checksum)
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


def _count_rows(base: sqlite3.Connection) -> None:
    """Count the rows of each table in meta, by triggers."""
    for table in COLUMNS:
        base.execute(f"INSERT INTO meta SELECT 'rows of {table}', count(*) FROM {table}")
        for verb, step in (("INSERT", "+ 1"), ("DELETE", "- 1")):
            base.execute(
                f"CREATE TRIGGER {table}_{verb} AFTER {verb} ON {table} BEGIN UPDATE meta SET value = "
                f"CAST(CAST(value AS INTEGER) {step} AS TEXT) WHERE key = 'rows of {table}'; END"
            )
