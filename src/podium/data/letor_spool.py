"""The lines of a LETOR file as they stream in, written to disk instead of memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from podium.data.letor_lines import DOCUMENT_ID, Lines
from podium.data.spool import MatrixSpool, TextSpool
from podium.data.table import Table
from podium.ids import Ids, decoded, encoded


class SpooledLines(Lines):
    """What has been read so far; labels and the bounds of texts are in memory, 8 bytes a document each."""

    def __init__(self, name: str, folder: Path, *, n_features: int | None) -> None:
        super().__init__(name, n_features=n_features, sparse=None)
        self.matrix = cast(Any, MatrixSpool(folder, n_features=n_features))
        self._comments, self._ids = TextSpool(folder, "comments"), TextSpool(folder, "ids")
        self._words = TextSpool(folder, "words")
        self._taken, self._any_text = 0, False
        self._with_id, self._with_word = 0, 0  # comments with `docid =`, and with a first word

    def dataset(self, *, group: list[int] | None) -> Table:
        data = super().dataset(group=group)
        if not self._any_text:
            return data
        self._comment([])
        data = replace(data, comments=cast(Any, self._comments.finished()))
        ids, words = self._ids.finished(), self._words.finished()
        if self._with_id == self.rows:
            return replace(data, document_ids=cast(Any, ids))
        if self._with_id or self._with_word < self.rows or _come_twice(words, data):
            return data
        return replace(data, document_ids=cast(Any, words))

    def _comment(self, comments: list[bytes]) -> None:
        skipped = self.rows - self._taken
        whole = [b""] * skipped + [comment.removesuffix(b"\r") for comment in comments]
        self._taken += len(whole)
        self._any_text = self._any_text or any(whole)
        self._comments.extend(whole)
        texts = list(map(decoded, whole))
        found = [match[1] if (match := DOCUMENT_ID.search(text)) else "" for text in texts]
        words = [(text.split(None, 1)[:1] or [""])[0] for text in texts]
        self._with_id += sum(map(bool, found))
        self._with_word += sum(map(bool, words))
        self._ids.extend(list(map(encoded, found)))
        self._words.extend(list(map(encoded, words)))


def _come_twice(ids: Ids, data: Table) -> bool:
    """Whether some query has an id twice."""
    rows = data.to_grouped(np.arange(data.n_documents))
    return len(ids[rows].repeats(data.grouped_offsets)) > 0
