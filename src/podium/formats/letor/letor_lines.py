"""Collect the parsed lines of a LETOR file into a table: in memory (`Lines`), or on disk (`SpooledLines`).

Memory: the arrays of the result, and a few reused buffers: one per thread that parses, and one more.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Ints
from podium.base.errors import DataError
from podium.base.threads import default_threads, pool
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.formats.letor.letor_matrix import Matrix
from podium.formats.letor.letor_parser import MOST_FEATURES, Document, parse, read_line, read_usual
from podium.formats.spool import MatrixSpool, TextSpool
from podium.parsing.growing import Growing
from podium.parsing.ids import Ids, decoded, encoded

_MOST_THREADS = 4  # parsing takes three quarters of the time; the rest is done by one thread
_DOCUMENT_ID = re.compile(r"\bdocid\s*=\s*(\S+)", re.IGNORECASE)


class Lines:
    """The lines read so far, in memory."""

    def __init__(self, name: str, *, n_features: int | None, sparse: bool | None) -> None:
        self.name = name
        self.rows, self.line = 0, 0
        self.with_qid: bool | None = None
        self.limit = MOST_FEATURES if n_features is None else n_features
        self.matrix = Matrix(n_features=n_features, sparse=sparse)
        self.labels = Growing(np.float64)
        self.queries: dict[bytes, int] = {}  # id → number, by first appearance
        self.runs: list[tuple[int, int]] = []  # first row and query number of rows with one id
        self.comments: list[str] | None = None
        self.threads = min(default_threads(), _MOST_THREADS)
        self._rooms: deque[_Room] = deque()

    def read(self, blocks: Iterable[tuple[bytearray, int]], *, plain: bool) -> Iterator[int]:
        """Read the lines of buffer[:end] of each block, `plain` in Python; yield `end` after each.

        Blocks are parsed on threads, up to `self.threads` of them ahead of the one that is taken, in the order of
        the file. A buffer must not be reused before that many others.
        """
        ahead: deque[_Block] = deque()
        for buffer, end in blocks:
            if plain:
                self._take_plain(bytes(memoryview(buffer)[:end]).split(b"\n")[:-1])
                yield end
                continue
            room = self._rooms.popleft() if self._rooms else _Room(len(buffer))
            block = _Block(buffer, end, room if room.size >= len(buffer) else _Room(len(buffer)))
            if self.threads > 1 and self.with_qid is not None:
                block.parsed = pool(self.threads).submit(self._parse, block, 0)
            ahead.append(block)
            if block.parsed is None or len(ahead) > self.threads:
                yield self._take_block(ahead.popleft())
        while ahead:
            yield self._take_block(ahead.popleft())

    def _parse(self, block: _Block, at: int) -> tuple[int, int, int]:
        """Parse from `at` to the end, or to a line that is not well-formed or does not fit into the arrays."""
        with_qid = -1 if self.with_qid is None else int(self.with_qid)
        text = np.frombuffer(block.buffer, np.uint8)
        return parse(text, at, block.end, with_qid, self.limit, *block.room.arrays)

    def _take_block(self, block: _Block) -> int:
        """Append the lines of a block: well-formed ones by the compiled parser, the others one by one."""
        at, buffer = 0, block.buffer
        while at < block.end:
            parsed = self._parse(block, at) if block.parsed is None else block.parsed.result()
            (at, rows, lines), block.parsed = parsed, None
            self.line += lines
            if rows:
                self._take(memoryview(buffer), block.room, rows)
            if at < block.end:
                stop = buffer.index(b"\n", at)
                self._take_line(bytes(memoryview(buffer)[at:stop]))
                at = stop + 1
        self._rooms.append(block.room)
        return block.end

    def dataset(self, *, group: list[int] | None) -> Table:
        """All lines as a dataset."""
        codes: Ints | None = None
        if self.with_qid:
            starts, numbers = np.array(self.runs, np.int64).T
            codes = np.repeat(numbers, np.diff(np.append(starts, self.rows)))
        comments = self.comments if self.comments is not None and any(self.comments) else None
        labels = self.labels.finished()
        unjudged = np.isnan(labels)
        data = Dataset.from_arrays(
            self.matrix.finished(),
            np.where(unjudged, 0.0, labels) if unjudged.any() else labels,
            qid=codes,
            group=group,
            document_ids=_document_ids(comments, codes),
            comments=None if comments is None else np.array(comments, dtype=object),
            source=self.name,
        )
        data = replace(data, labels=labels) if unjudged.any() else data
        if codes is None:
            return data
        names = [decoded(name) for name in self.queries]
        return replace(data, query_ids=np.array(names, dtype=object))

    def _take(self, text: memoryview, room: _Room, rows: int) -> None:
        """Append the rows that the compiled parser wrote to `room`."""
        spans = room.spans[:rows]
        for r in np.flatnonzero(spans[:, 0] >= 0).tolist() if self.with_qid else ():
            self._start_query(bytes(text[spans[r, 0] : spans[r, 1]]), self.rows + r)
        if self.comments is not None or (spans[:, 2] >= 0).any():
            places = spans[:, 2:4].tolist()
            self._comment([bytes(text[a:b]) if a >= 0 else b"" for a, b in places])
        count = int(room.ends[rows])
        self.labels.extend(room.labels[:rows])
        self.matrix.add(room.ends[: rows + 1], room.columns[:count], room.values[:count])
        self.rows += rows

    def _take_plain(self, block: list[bytes]) -> None:
        """Append lines, parsed in Python: usual ones together, the others one by one; the plain form of `parse`."""
        usual = list[Document]()
        for line in block:
            document = read_usual(line, self.limit) if self.with_qid else None
            if document is not None:
                usual.append(document)
                continue
            self._take_documents(usual)
            usual = []
            if not line.partition(b"#")[0].strip():
                self.line += 1
            else:
                self._take_line(line)
        self._take_documents(usual)

    def _take_documents(self, documents: list[Document]) -> None:
        """Append parsed lines with query ids."""
        if not documents:
            return
        qid = None
        for row, document in enumerate(documents, self.rows):
            if document.qid != qid:
                qid = document.qid
                self._start_query(document.qid or b"", row)
        if self.comments is not None or any(document.comment for document in documents):
            self._comment([document.comment for document in documents])
        self.labels.extend(np.array([document.label for document in documents]))
        self.matrix.add(
            np.cumsum([0, *(len(document.columns) for document in documents)]),
            np.fromiter(chain.from_iterable(document.columns for document in documents), np.int32),
            np.fromiter(chain.from_iterable(document.values for document in documents), np.float64).astype(np.float32),
        )
        self.rows += len(documents)
        self.line += len(documents)

    def _take_line(self, line: bytes) -> None:
        """Append one document, parsed in Python by `read_line`, or raise its error."""
        self.line += 1
        where = f"{self.name}:{self.line}"
        document = read_line(line, self.limit, where)
        if self.with_qid is None:
            self.with_qid = document.qid is not None
        if self.with_qid != (document.qid is not None):
            has, had = ("no qid", "have one") if self.with_qid else ("a qid", "have none")
            raise DataError(
                f"this line has {has}, but the lines before {had}. Give all lines a qid or none.", where=where
            )
        if document.qid is not None:
            self._start_query(document.qid, self.rows)
        if self.comments is not None or document.comment:
            self._comment([document.comment])
        self.labels.extend(np.array([document.label]))
        self.matrix.add(
            np.array([0, len(document.columns)], np.int64),
            np.array(document.columns, np.int32),
            np.array(document.values, np.float32),
        )
        self.rows += 1

    def _start_query(self, qid: bytes, row: int) -> None:
        number = self.queries.setdefault(qid, len(self.queries))
        if not self.runs or self.runs[-1][1] != number:
            self.runs.append((row, number))

    def _comment(self, comments: list[bytes]) -> None:
        if self.comments is None:
            self.comments = [""] * self.rows
        self.comments.extend(decoded(comment.removesuffix(b"\r")) for comment in comments)


class SpooledLines(Lines):
    """The lines read so far, on disk; labels and the bounds of texts are in memory, 8 bytes per document each."""

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
        ids = [match[1] if (match := _DOCUMENT_ID.search(text)) else "" for text in texts]
        words = [(text.split(None, 1)[:1] or [""])[0] for text in texts]
        self._with_id += sum(map(bool, ids))
        self._with_word += sum(map(bool, words))
        self._ids.extend(list(map(encoded, ids)))
        self._words.extend(list(map(encoded, words)))


@dataclass(eq=False)
class _Block:
    """Whole lines buffer[:end], and the result of parsing them in advance."""

    buffer: bytearray
    end: int
    room: _Room
    parsed: Future[tuple[int, int, int]] | None = None


class _Room:
    """Arrays for the numbers in `size` bytes of text: a pair ` 1:1` takes 4 or more, a line mostly more than 16."""

    def __init__(self, size: int) -> None:
        self.size, rows = size, size // 16 + 1
        self.labels = np.empty(rows, np.float64)
        self.ends = np.empty(rows + 1, np.int64)
        self.columns = np.empty(size // 4 + 1, np.int32)
        self.values = np.empty(size // 4 + 1, np.float32)
        self.spans = np.empty((rows, 4), np.int64)
        self.arrays = (self.labels, self.ends, self.columns, self.values, self.spans, np.zeros(2**16, np.bool_))


def _document_ids(comments: list[str] | None, codes: Ints | None) -> NDArray[Any] | None:
    """Document ids from comments, by the rules in `letor.py`; None if there are none."""
    if comments is None:
        return None
    matches = [_DOCUMENT_ID.search(comment) for comment in comments]
    if all(matches):
        return np.array([match[1] for match in matches if match], dtype=object)
    words = [comment.split(None, 1)[:1] for comment in comments]
    if any(matches) or not all(words):
        return None
    ids = [word[0] for word in words]
    queries = [0] * len(ids) if codes is None else codes.tolist()
    if len(set(zip(queries, ids, strict=True))) < len(ids):
        return None
    return np.array(ids, dtype=object)


def _come_twice(ids: Ids, data: Table) -> bool:
    """Whether a query has an id twice."""
    rows = data.to_grouped(np.arange(data.n_documents))
    return len(ids[rows].repeats(data.grouped_offsets)) > 0
