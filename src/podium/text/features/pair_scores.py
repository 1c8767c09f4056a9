"""Pair features: any function of the texts of query and document, such as a cross-encoder, with its scores on disk.

    register_pair_feature("cross_encoder", function, version=1, cache="scores.db")    # the feature cross_encoder_v1

A score is kept under the function's name and version, the query, and the document's id and a digest of its text, so
that a document that changes is scored again. Each batch is written when it is done: what is interrupted goes on there.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arguments import whole_number
from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.files import write_aside
from podium.base.registry import register
from podium.base.sqlite import FAULTS, FileFormat
from podium.text.features.base import Context, Feature

Scorer = Callable[[str, list[str]], ArrayLike]
"""From the text of a query and a list of texts to a number for each text."""
_KEY = "name = ? AND query = ? AND document = ? AND digest = ?"
FORMAT = FileFormat(
    noun="cache of scores", name="podium cache of scores", application=0x706F6473,  # "pods"
    upgrades=(), make="Name a file that is not there yet.", repair="Delete it: scores are computed again.",
    error=lambda message, where: DataError(message, where=where),
)  # fmt: skip


def register_pair_feature(
    name: str, function: Scorer, *, version: int, cache: str | os.PathLike[str], batch: int = 64
) -> type[Feature]:
    """Register the feature NAME_vVERSION: a function of the text of a query and a list of texts of documents.

    The text of a document is that of its searched fields, a line for each. `batch` is the largest number of texts in a
    call. `cache` is a file that keeps the scores; give a new version if the function changes.
    """
    called = f"{name}_v{whole_number(version, 'version', least=0)}"
    scores = Scores(called, function, cache, batch=whole_number(batch, "batch", least=1))

    def values(self: Feature, context: Context) -> Array:
        fields, documents = context.index.fields, context.documents()
        texts = ["\n".join(str(document[name]) for name in fields if name in document) for document in documents]
        return scores.of(context.query.text, [str(document.get("id", "")) for document in documents], texts)

    about: dict[str, Any] = {"name": called, "values": values, "__doc__": function.__doc__ or f"{name}, a function."}
    about["__module__"] = getattr(function, "__module__", None) or __name__
    return register(type(f"Feature_{called}", (Feature,), about))


class Scores:
    """The scores of a function of query and text, from a file as far as it has them."""

    def __init__(self, name: str, function: Scorer, cache: str | os.PathLike[str], *, batch: int) -> None:
        self.name, self.function, self.path, self.batch = name, function, Path(cache), batch
        self._lock = threading.Lock()

    @functools.cached_property
    def _base(self) -> sqlite3.Connection:
        if not self.path.exists():
            with write_aside(self.path) as file:
                file.write(_empty())
        base = FORMAT.open(self.path)
        weakref.finalize(self, base.close)
        return base

    def of(self, query: str, ids: Sequence[str], texts: Sequence[str]) -> Array:
        """The score of each text; `ids` are those of their documents, "" for a text without one."""  # (n,)
        digests = [hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest() for text in texts]
        keys = [(self.name, query, id, digest) for id, digest in zip(ids, digests, strict=True)]
        with self._lock:
            try:
                kept = [self._base.execute(f"SELECT value FROM score WHERE {_KEY}", key).fetchone() for key in keys]
                values = np.array([np.nan if row is None else row[0] for row in kept], np.float64)
                missing = np.flatnonzero([row is None for row in kept]).tolist()
                for start in range(0, len(missing), self.batch):
                    part = missing[start : start + self.batch]
                    values[part] = self._scored(query, [texts[k] for k in part])
                    self._write([(*keys[k], float(values[k])) for k in part])
            except FAULTS as error:
                raise FORMAT.in_words(self.path, error) from error
        return values

    def _scored(self, query: str, texts: list[str]) -> Array:
        values = np.asarray(self.function(query, texts), np.float64)
        if values.shape != (len(texts),) or not np.isfinite(values).all():
            got = f"shape {values.shape}" if values.shape != (len(texts),) else "some that are not finite"
            raise DataError(f"feature {self.name}: {len(texts)} finite numbers expected for a batch, got {got}.")
        return values

    def _write(self, rows: list[tuple[Any, ...]]) -> None:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            self._base.executemany("INSERT OR REPLACE INTO score VALUES(?, ?, ?, ?, ?)", rows)
        except BaseException:
            self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")


def _empty() -> bytes:
    """The bytes of a file without scores."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as base:
        base.execute(f"PRAGMA application_id={FORMAT.application}")
        base.execute(f"PRAGMA user_version={FORMAT.version}")
        base.execute(
            "CREATE TABLE score(name TEXT, query TEXT, document TEXT, digest BLOB, value REAL NOT NULL, "
            "PRIMARY KEY(name, query, document, digest)) WITHOUT ROWID"
        )
        return bytes(base.serialize())
