"""Writer: adds documents to a store, within a transaction that the store began."""

from __future__ import annotations

import itertools
import json
import sqlite3
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.errors import DataError
from podium.text.index.schema import insert

if TYPE_CHECKING:
    from podium.base.arrays import Singles
    from podium.text.collection.indexed_document import Document
    from podium.text.index.store import Store

_LONG = 1000
"""Longer texts, in bytes, are compressed."""


class Writer:
    """Adds documents to the tables of a store, within a transaction."""

    def __init__(self, store: Store, base: sqlite3.Connection, *, replace: bool) -> None:
        self.store, self.base, self.replace = store, base, replace
        first = max(largest(base, "document", "n"), largest(base, "deleted", "n")) + 1
        self.first, self.next, self.written = first, first, 0
        self.words = _Numbers(self._learn)
        self.terms = {
            (term, bool(flagged)): t for t, term, flagged in base.execute("SELECT t, term, flagged FROM term")
        }
        self.size, self.new = largest(base, "term", "t") + 1, list[tuple[int, str, int]]()
        width = self.base.execute('SELECT length("values") FROM vector LIMIT 1').fetchone()
        self.width: int | None = None if width is None else width[0] // 4

    def write(self, documents: Sequence[Document]) -> None:
        if self.replace:
            self._check_ids(documents)
        tokens, rows, links, vectors = [], [], [], []
        uncut, number, fields = self.store.analyser.uncut, self.words.__getitem__, self.store.fields
        for n, document in enumerate(documents, self.next):
            parts = [uncut(document.text.get(field, "")) for field in fields]
            counts = [len(part) for part in parts]
            ids = np.fromiter(map(number, itertools.chain.from_iterable(parts)), "<i4", sum(counts))
            tokens.append((n, struct.pack(f"<{len(counts)}i", *counts), ids.tobytes()))
            rows.append((n, document.id, _stored(document), packed(document.text)))
            links += [(document.id, target) for target in document.links]
            if document.vector is not None:
                vectors.append((n, self._vector(document).tobytes()))
        insert(self.base, "term", self.new)
        try:
            insert(self.base, "document", rows)
        except sqlite3.IntegrityError:  # a repeated id
            self.base.execute("DELETE FROM document WHERE n >= ?", (self.next,))
            self._check_ids(documents)
            raise
        insert(self.base, "token", tokens)
        insert(self.base, "link", links, verb="INSERT OR IGNORE")
        insert(self.base, "vector", vectors)
        self.new.clear()
        self.next += len(rows)
        self.written += len(rows)

    def _check_ids(self, documents: Sequence[Document]) -> None:
        """Raise an error for an id that exists; with `replace`, remove its document."""
        seen: set[str] = set()
        for document in documents:
            row = self.base.execute("SELECT n FROM document WHERE id = ?", (document.id,)).fetchone()
            where = document.where or str(self.store.path)
            if document.id in seen or (row is not None and row[0] >= self.first):
                raise DataError(f"document {document.id!r} is given twice, so nothing was added.", where=where)
            if row is not None and not self.replace:
                words = "is there already. Use another id, or replace it (replace=True, --replace)."
                raise DataError(f"document {document.id!r} {words}", where=where)
            seen.add(document.id)
            if row is not None:
                remove(self.base, [(document.id, row[0])])

    def _learn(self, word: str) -> int:
        """The number of the term of a new word."""
        analyser = self.store.analyser
        term = analyser.term(analyser.cut(word))
        t = self.terms.get(term)
        if t is None:
            t = self.terms[term] = self.size
            self.new.append((t, term[0], int(term[1])))
            self.size += 1
        return t

    def _vector(self, document: Document) -> Singles:
        assert document.vector is not None
        if self.width is None:
            self.width = len(document.vector)
        if len(document.vector) != self.width:
            raise DataError(
                f"document {document.id!r}: its vector has {len(document.vector)} numbers; others have {self.width}.",
                where=document.where,
            )
        return document.vector.astype("<f4")


def largest(base: sqlite3.Connection, table: str, column: str) -> int:
    """The largest number in a column; −1 for none."""
    return int(base.execute(f"SELECT coalesce(max({column}), -1) FROM {table}").fetchone()[0])


def remove(base: sqlite3.Connection, documents: Sequence[tuple[str, int]]) -> None:
    """Remove documents, given by id and number."""
    rows = [(n,) for _, n in documents]
    for table in ("document", "token", "vector"):
        base.executemany(f"DELETE FROM {table} WHERE n = ?", rows)
    base.executemany("DELETE FROM link WHERE source = ?", [(id,) for id, _ in documents])
    insert(base, "deleted", rows)


class _Numbers(dict[str, int]):
    """The number of the term of each word; a function computes it for a new word."""

    def __init__(self, learn: Callable[[str], int]) -> None:
        super().__init__()
        self._learn = learn

    def __missing__(self, word: str) -> int:
        number = self[word] = self._learn(word)
        return number


def _stored(document: Document) -> str:
    if not document.stored:
        return "{}"
    try:
        return json.dumps(document.stored, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"document {document.id!r}: stored fields must be numbers, texts, or lists of them ({error}).",
            where=document.where,
        ) from None


_encode = json.JSONEncoder().encode


def packed(text: Mapping[str, str]) -> bytes:
    plain = _encode(text).encode()
    return zlib.compress(plain, 1) if len(plain) > _LONG else plain


def unpacked(packed: bytes) -> dict[str, Any]:
    text: dict[str, Any] = json.loads(packed if packed[:1] == b"{" else zlib.decompress(packed))
    return text
