"""Writer: adds documents to a store, within a transaction that the store began."""

from __future__ import annotations

import bisect
import itertools
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.errors import DataError
from podium.text.index.blocks import Block, blocks_of
from podium.text.index.schema import insert, sound_rows

if TYPE_CHECKING:
    from podium.base.arrays import Singles
    from podium.text.collection.indexed_document import Document
    from podium.text.index.store import Store


class Writer:
    """Adds documents to the tables of a store, within a transaction."""

    def __init__(self, store: Store, base: sqlite3.Connection, *, replace: bool) -> None:
        self.store, self.base, self.replace = store, base, replace
        first = max(largest(base, "document", "n"), largest(base, "deleted", "n")) + 1
        self.first, self.next, self.written = first, first, 0
        self.replaced = list[int]()
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
        rows, links, vectors = [], [], []
        for n, document in enumerate(documents, self.next):
            rows.append((n, document.id))
            links += [(document.id, target) for target in document.links]
            if document.vector is not None:
                vectors.append((n, self._vector(document).tobytes()))
        blocks = [block.row() for block in self._blocks(documents)]
        insert(self.base, "term", self.new)
        try:
            insert(self.base, "document", rows)
        except sqlite3.IntegrityError:  # a repeated id
            self.base.execute("DELETE FROM document WHERE n >= ?", (self.next,))
            self._check_ids(documents)
            raise
        insert(self.base, "block", blocks)
        insert(self.base, "link", links, verb="INSERT OR IGNORE")
        insert(self.base, "vector", vectors)
        self.new.clear()
        self.next += len(rows)
        self.written += len(rows)

    def finish(self) -> None:
        """Remove replaced documents from their blocks, each of which is written once, whatever their order was."""
        empty_places(self.base, self.replaced, n_fields=len(self.store.fields))

    def _blocks(self, documents: Sequence[Document]) -> Iterator[Block]:
        """The texts and terms of documents; new words get their terms."""
        uncut, fields = self.store.analyser.uncut, self.store.fields
        parts = [uncut(document.text.get(field, "")) for document in documents for field in fields]
        counts = np.fromiter(map(len, parts), np.int32, len(parts))
        words = itertools.chain.from_iterable(parts)
        ids = np.fromiter(map(self.words.__getitem__, words), np.int32, int(counts.sum()))
        stored, texts = [_stored(document) for document in documents], [_text(document.text) for document in documents]
        return blocks_of(self.next, stored, texts, counts.reshape(len(documents), len(fields)), ids)

    def _check_ids(self, documents: Sequence[Document]) -> None:
        """Raise an error for an id that exists; with `replace`, remove its document."""
        seen, replaced = set[str](), list[tuple[str, int]]()
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
                replaced.append((document.id, row[0]))
        remove(self.base, replaced)
        self.replaced += [n for _, n in replaced]

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
    """Remove documents, given by id and number; `empty_places` removes their texts and terms."""
    rows = [(n,) for _, n in documents]
    for table in ("document", "vector"):
        base.executemany(f"DELETE FROM {table} WHERE n = ?", rows)
    base.executemany("DELETE FROM link WHERE source = ?", [(id,) for id, _ in documents])
    insert(base, "deleted", rows)


def empty_places(base: sqlite3.Connection, numbers: Sequence[int], *, n_fields: int) -> None:
    """Remove the texts and terms of documents from their blocks."""
    rising, at = sorted(numbers), 0
    while at < len(rising):
        [row] = block_rows(base, rising[at])
        block = Block.read(row, n_fields)
        end = bisect.bisect_left(rising, block.first + len(block), lo=at)
        block, at = block.without(set(rising[at:end])), end
        base.execute("DELETE FROM block WHERE n = ?", (block.first,))
        if any(block.texts):
            insert(base, "block", [block.row()])


def block_rows(base: sqlite3.Connection, n: int) -> Iterator[tuple[Any, ...]]:
    """The row of the block of a document; raises ValueError if it is damaged."""
    rows = base.execute("SELECT * FROM block WHERE n <= ? AND n + size > ? ORDER BY n DESC LIMIT 1", (n, n))
    return sound_rows(rows, "block")


class _Numbers(dict[str, int]):
    """The number of the term of each word; a function computes it for a new word."""

    def __init__(self, learn: Callable[[str], int]) -> None:
        super().__init__()
        self._learn = learn

    def __missing__(self, word: str) -> int:
        number = self[word] = self._learn(word)
        return number


def _stored(document: Document) -> bytes:
    if not document.stored:
        return b"{}"
    try:
        return json.dumps(document.stored, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise DataError(
            f"document {document.id!r}: stored fields must be numbers, texts, or lists of them ({error}).",
            where=document.where,
        ) from None


_encode = json.JSONEncoder().encode


def _text(text: Mapping[str, str]) -> bytes:
    return _encode(text).encode()
