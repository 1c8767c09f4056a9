"""Collect the parsed lines of a TREC file into columns, grouped by query."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, Int32s, Ints
from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name
from podium.jit.tiers import tier
from podium.parsing.growing import Growing
from podium.parsing.ids import Ids, decoded
from podium.parsing.whole_lines import known_size, measured, whole_lines
from podium.parsing.words import SPARE


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a TREC file; rows offsets[q]:offsets[q+1] are query q."""

    query_ids: NDArray[Any]  # (Q,) text, by first appearance
    offsets: Ints  # (Q+1,)
    document_ids: Ids  # (N,)
    values: Array  # (N,)
    tag: str  # the last named column of the first line
    topics: list[str] | None = None  # (N,) the second column of qrels; None if it is the same in all lines
    ranks: Int32s | None = None  # (N,) the fourth column of a run; None if it is no whole number in every line


def read_columns(source: Source, names: list[str], *, value: str) -> Columns:
    """Read query, document and the number called `value` of each line of a file with these columns.

    With six columns, further words on a line are ignored.
    """
    lines = _Lines(source_name(source), names, value)
    with reading(source) as stream:
        size = known_size(source, stream)
        blocks, bytes_ahead = measured(whole_lines(stream, lines.name, size=size, ring=2), size)
        with tier(bytes_ahead // _BYTES_PER_STEP) as plain:
            if 0 < size <= _LARGE:
                lines.expect_bytes(size)
            for text, end in blocks:
                lines.read(text, end, plain=plain)
                if size > _LARGE:
                    lines.expect(1.05 * size / end)
                    size = 0
            return lines.finished()


class _Lines:
    """The lines read so far."""

    def __init__(self, name: str, columns: list[str], value: str) -> None:
        self.name, self.columns, self.value = name, columns, value
        self.line = 1  # the next
        self.tag: bytes | None = None
        self.hashed = True
        self.counts = np.zeros(5, np.int64)
        self.topics: list[bytes] | None = None  # the second column of qrels, once it is not 0
        kinds = (np.uint8, np.int64, np.uint64, np.float64, np.uint8, np.int64, np.int64, np.int64, np.int32)
        self.room = [Growing(kind) for kind in kinds]  # the buffers that `parse` fills

    def read(self, buffer: bytearray, end: int, *, plain: bool) -> None:
        """Append the lines of buffer[:end]: well-formed ones by the compiled parser, the others one by one."""
        rows = int(self.counts[0])
        if plain:
            self.hashed = False
            self._take_plain(bytes(memoryview(buffer)[:end]).split(b"\n")[:-1])
        else:
            self._take_compiled(buffer, end)
        if self.counts[_OTHER] and len(self.columns) == 4:
            self.topics = [b"0"] * rows if self.topics is None else self.topics
            self.topics += second_words(bytes(memoryview(buffer)[:end]))

    def _take_compiled(self, buffer: bytearray, end: int) -> None:
        from podium.formats.trec.trec_parser import parse

        at, text = 0, np.frombuffer(buffer, np.uint8)
        while at < end:
            if self.tag is not None:
                arrays = self._reserve(self._most_rows(end - at), end - at)
                at, self.line = parse(text, at, end, len(self.columns), self.line, self.counts, *arrays)
            if at < end:
                stop = buffer.index(b"\n", at)
                self._take_line(bytes(memoryview(buffer)[at:stop]))
                at = stop + 1

    def expect_bytes(self, size: int) -> None:
        """Allocate room for a file of this size; pages that are not written take no memory."""
        for column, needed in zip(self.room, self._sizes(self._most_rows(size), size, size), strict=True):
            column.expect(needed)
        self.room[_BOUNDS].array[0] = self.room[_QUERY_BOUNDS].array[0] = 0

    def expect(self, times: float) -> None:
        """Allocate room for this many times the present lines."""
        for column in self.room:
            column.expect(int(times * column.size))

    def finished(self) -> Columns:
        """All lines as columns, grouped by query."""
        if self.tag is None:
            raise DataError(f"no lines: expected {' '.join(self.columns)}.", where=self.name)
        rows = int(self.counts[0])
        self._reserve(0, 0)  # without spare rows
        text, bounds, hashes, values, *queries_read = (column.finished() for column in self.room)
        query_bytes, query_bounds, firsts, lines, ranks = queries_read
        queries = Ids(query_bytes, query_bounds[:-1], query_bounds[1:])
        codes, appear = queries.codes()
        documents = Ids(text, bounds[:-1], bounds[1:], hashes if self.hashed else None)
        sizes = np.diff(np.append(firsts, rows))
        offsets = np.cumsum([0, *np.bincount(codes, sizes)]).astype(np.int64)
        order = np.arange(0)
        if (np.diff(codes) < 0).any():  # lines of a query are not adjacent
            order = np.argsort(np.repeat(codes, sizes), kind="stable")
            documents, values = documents[order], values[order]
            ranks = ranks[order] if len(ranks) else ranks
        query_ids = np.array(queries[appear].tolist(), dtype=object)
        if self.topics is not None and len(set(self.topics)) > 1:
            topics = [decoded(self.topics[row]) for row in (order.tolist() if len(order) else range(rows))]
            return Columns(query_ids, offsets, documents, values, decoded(self.tag), topics)
        again = documents.repeats(offsets)
        if len(again):
            read = order[again] if len(order) else again  # in the order of the file
            row, first = again[read.argmin()], int(read.min())
            query = query_ids[np.searchsorted(offsets, row, side="right") - 1]
            k = np.searchsorted(firsts, first, side="right") - 1
            where = f"{self.name}:{lines[k] + first - firsts[k]}"
            raise DataError(f"document {documents[row]!r} stands twice in query {query!r}.", where=where)
        whole = ranks if len(ranks) and ranks.min() >= 0 else None
        return Columns(query_ids, offsets, documents, values, decoded(self.tag), ranks=whole)

    def _take_plain(self, block: list[bytes]) -> None:
        """Append lines, parsed in Python; the plain form of `trec_parser.parse`."""
        many, place = len(self.columns), self.columns.index(self.value)
        documents, values, lists = list[bytes](), list[float](), list[tuple[bytes, int, int]]()
        ranks = list[int]()
        query, due = b"", 0
        for line in block:
            words = line.split()
            try:
                number = float(words[place])
            except (IndexError, ValueError):
                number = math.nan
            ordinary = len(words) == many or (len(words) > many == 6)
            if self.tag is None or not ordinary or words[0][:1] == b"#" or not math.isfinite(number):
                self._append(documents, values, lists, ranks)
                documents, values, lists, ranks, due = [], [], [], [], 0
                self._take_line(line)
                continue
            if words[0] != query or self.line != due:
                query = words[0]
                lists.append((query, len(documents), self.line))
            self.counts[_OTHER] |= words[1] not in _NO_TOPIC
            documents.append(words[2])
            values.append(number)
            ranks.append(_rank(words[3]))
            self.line += 1
            due = self.line
        self._append(documents, values, lists, ranks)

    def _take_line(self, line: bytes) -> None:
        """Append one line, parsed in Python, or raise its error; the slow twin of `trec_parser.parse`."""
        words, where = line.split(), f"{self.name}:{self.line}"
        self.line += 1
        if not words or words[0].startswith(b"#"):
            return
        many, n = len(self.columns), len(words)
        if n < many or (n > many and many == 4):
            self._check_before()
            hint = _SWAPPED.get((many, n), "")
            raise DataError(f"expected {many} columns ({' '.join(self.columns)}); got {n}.{hint}", where=where)
        word = decoded(words[self.columns.index(self.value)])
        number = _number(word)
        self.counts[_OTHER] |= words[1] not in _NO_TOPIC
        self._append([words[2]], [number], [(words[0], 0, self.line - 1)], [_rank(words[3])])
        if not math.isfinite(number):
            self._check_before()
            raise DataError(f"the {self.value} must be a finite number; got {word!r}.", where=where)
        if self.tag is None:
            self.tag = words[many - 1]

    def _append(
        self, documents: list[bytes], numbers: list[float], lists: list[tuple[bytes, int, int]], ranks: list[int]
    ) -> None:
        """Append rows; a list is its query, its first row among these and the line of that."""
        if not documents:
            return
        row, name, at, query_end, _ = self.counts.tolist()
        text, query_bytes = b"".join(documents), b"".join([query for query, _, _ in lists])
        names, bounds, hashes, values, *queries = self._reserve(len(documents), len(text), len(query_bytes))
        query_text, query_bounds, query_rows, query_lines, room_of_ranks = queries
        end, last = row + len(documents), at + len(lists)
        names[name : name + len(text)] = np.frombuffer(text, np.uint8)
        values[row:end], bounds[row + 1 : end + 1] = numbers, name + np.cumsum([len(word) for word in documents])
        if len(self.columns) == 6:
            room_of_ranks[row:end] = ranks
        if self.hashed:
            hashes[row:end] = Ids.from_bytes(documents).hashed()
        query_text[query_end : query_end + len(query_bytes)] = np.frombuffer(query_bytes, np.uint8)
        query_rows[at:last], query_lines[at:last] = [row + first for _, first, _ in lists], [line for *_, line in lists]
        query_bounds[at + 1 : last + 1] = query_end + np.cumsum([len(query) for query, _, _ in lists])
        self.counts[:_OTHER] = end, name + len(text), last, query_end + len(query_bytes)

    def _reserve(self, rows: int, name_bytes: int, query_bytes: int | None = None) -> list[NDArray[Any]]:
        """The arrays that `parse` fills, with room for more rows and bytes of ids."""
        sizes = self._sizes(rows, name_bytes, name_bytes if query_bytes is None else query_bytes)
        return [column.reserve(size) for column, size in zip(self.room, sizes, strict=True)]

    def _sizes(self, rows: int, name_bytes: int, query_bytes: int) -> tuple[int, ...]:
        """The sizes of the arrays that `parse` fills, with room for more rows and bytes of ids."""
        row, name, lists, query_end, _ = self.counts.tolist()
        row, lists = row + rows, lists + rows
        of_documents = (name + name_bytes + SPARE, row + 1, row, row)
        of_ranks = row if len(self.columns) == 6 else 0
        return (*of_documents, query_end + query_bytes + SPARE, lists + 1, lists, lists, of_ranks)

    def _most_rows(self, size: int) -> int:
        """The largest number of lines in this many bytes."""
        return size // (2 * len(self.columns)) + 1

    def _check_before(self) -> None:
        """Raise the error of an earlier line if there is one: a document that is there twice, unless for topics."""
        if self.counts[0] and not (self.counts[_OTHER] and len(self.columns) == 4):
            self.tag = self.tag or b""
            self.finished()


def second_words(text: bytes) -> list[bytes]:
    """The second word of each line, but for blank lines and comments."""
    lines = (line.split(None, 2) for line in text.split(b"\n"))
    return [words[1] for words in lines if words and not words[0].startswith(b"#")]


_OTHER = 4  # place in `counts` of whether a second word is another than 0 or Q0
_NO_TOPIC = (b"0", b"Q0")
_BYTES_PER_STEP = 32  # a line takes a microsecond
_LARGE = 2**26  # bytes of a file; up to here, room is allocated for the most lines it could have
_BOUNDS, _QUERY_BOUNDS = 1, 5  # columns of `_Lines.room` that begin with 0
_SWAPPED = {
    (4, 6): " This looks like a run: give the qrels first and the run second.",
    (6, 4): " This looks like qrels: give the qrels first and the run second.",
}
"""Hints of errors, by the number of columns expected and found."""


def _rank(word: bytes) -> int:
    """The whole number of up to 9 digits in a word; −1 if it is none."""
    return int(word) if len(word) <= 9 and word.isdigit() else -1


def _number(word: str) -> float:
    """Parse a number; NaN if it is none."""
    try:
        return float(word)
    except ValueError:
        return math.nan
