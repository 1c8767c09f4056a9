"""Writer: documents become rows of a store, within a transaction that the store began."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from podium.errors import DataError
from podium.text.document import Document

if TYPE_CHECKING:
    from podium.text.store import Store

_LONG = 1000
"""Bytes of text from which on it is packed."""


class Writer:
    """Writes documents within a transaction."""

    def __init__(self, store: Store, first: int, *, replace: bool) -> None:
        self.store, self.base, self.replace = store, store._base, replace
        self.first, self.next, self.written = first, first, 0
        self.words: dict[str, int] = {}
        self.terms = {
            (term, bool(flagged)): t for t, term, flagged in self.base.execute("SELECT t, term, flagged FROM term")
        }
        self.size, self.new = store._largest("term", "t") + 1, list[tuple[int, str, int]]()
        width = self.base.execute('SELECT length("values") FROM vector LIMIT 1').fetchone()
        self.width: int | None = None if width is None else width[0] // 4

    def write(self, documents: Sequence[Document]) -> None:
        self._check_ids(documents)
        tokens, rows, links, vectors = [], [], [], []
        for n, one in enumerate(documents, self.next):
            parts = [self._ids(one.text.get(field, "")) for field in self.store.fields]
            counts = np.array([len(part) for part in parts], "<i4")
            ids = np.array([t for part in parts for t in part], "<i4")
            tokens.append((n, counts.tobytes(), ids.tobytes()))
            rows.append((n, one.id, _stored(one), packed(one.text)))
            links += [(one.id, target) for target in one.links]
            if one.vector is not None:
                vectors.append((n, self._vector(one).tobytes()))
        self.base.executemany("INSERT INTO term VALUES(?, ?, ?)", self.new)
        self.base.executemany("INSERT INTO document VALUES(?, ?, ?, ?)", rows)
        self.base.executemany("INSERT INTO token VALUES(?, ?, ?)", tokens)
        self.base.executemany("INSERT OR IGNORE INTO link VALUES(?, ?)", links)
        self.base.executemany("INSERT INTO vector VALUES(?, ?)", vectors)
        self.new.clear()
        self.next += len(rows)
        self.written += len(rows)

    def _check_ids(self, documents: Sequence[Document]) -> None:
        """Refuse an id that is there already, or remove what it names."""
        seen: set[str] = set()
        for one in documents:
            known = self.base.execute("SELECT n FROM document WHERE id = ?", (one.id,)).fetchone()
            where = one.where or str(self.store.path)
            if one.id in seen or (known is not None and known[0] >= self.first):
                raise DataError(f"document {one.id!r} is given twice, so nothing was added.", where=where)
            if known is not None and not self.replace:
                words = "is there already. Use another id, or replace it (replace=True, --replace)."
                raise DataError(f"document {one.id!r} {words}", where=where)
            seen.add(one.id)
            if known is not None:
                self.store._remove([(one.id, known[0])])

    def _ids(self, text: str) -> list[int]:
        words, known = self.store.analyser.words(text), self.words
        try:
            return [known[word] for word in words]
        except KeyError:
            return [known[word] if word in known else self._learn(word) for word in words]

    def _learn(self, word: str) -> int:
        """The number of the term of a word that is met for the first time."""
        term = self.store.analyser.term(word)
        t = self.terms.get(term)
        if t is None:
            t = self.terms[term] = self.size
            self.new.append((t, term[0], int(term[1])))
            self.size += 1
        self.words[word] = t
        return t

    def _vector(self, document: Document) -> NDArray[np.float32]:
        assert document.vector is not None
        if self.width is None:
            self.width = len(document.vector)
        if len(document.vector) != self.width:
            raise DataError(
                f"document {document.id!r}: its vector has {len(document.vector)} numbers; others have {self.width}.",
                where=document.where,
            )
        return document.vector.astype("<f4")


def _stored(document: Document) -> str:
    try:
        return json.dumps(document.stored, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"document {document.id!r}: stored fields must be numbers, texts, or lists of them ({error}).",
            where=document.where,
        ) from None


def packed(text: Mapping[str, str]) -> bytes:
    plain = json.dumps(text).encode()
    return zlib.compress(plain, 1) if len(plain) > _LONG else plain


def unpacked(packed: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(packed if packed[:1] == b"{" else zlib.decompress(packed))
    return found
