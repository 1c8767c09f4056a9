"""Blocks: the texts and terms of consecutive documents, packed together, so that short ones take little space.

>>> unpacked_lines(packed_lines([b"{}", b""]), 2)
[b'{}', b'']
>>> unpacked_numbers(packed_numbers(np.array([3, 70000]))).tolist()
[3, 70000]
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from podium.base.arrays import AnyArray, Int32s, Ints

_BYTES = 16_384
"""Bytes of text from which a block is full: a document is read by unpacking its block."""
_DOCUMENTS = 256
"""Documents from which a block is full."""


@dataclass(frozen=True, eq=False)
class Block:
    """Documents from number `first` on; a deleted one has empty lines and no terms."""

    first: int
    stored: list[bytes]
    """Stored fields as JSON, a line for each document."""
    texts: list[bytes]
    """Text fields as JSON."""
    counts: Int32s  # (size, F) terms of each field
    ids: Int32s  # their terms, document by document, field by field

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def read(cls, row: Sequence[Any], n_fields: int) -> Block:
        """The block of a row of its table; raises ValueError if it is damaged."""
        first, size, stored, texts, counts, ids = row
        numbers = unpacked_numbers(counts)
        if len(numbers) != size * n_fields or (numbers < 0).any():
            raise ValueError("a block has other numbers of terms than documents")
        terms = unpacked_numbers(ids)
        if numbers.sum() != len(terms):
            raise ValueError("a block has other terms than their numbers say")
        lines = unpacked_lines(stored, size), unpacked_lines(texts, size)
        return cls(first, *lines, numbers.reshape(size, n_fields), terms)

    def row(self) -> tuple[Any, ...]:
        """The row of its table."""
        lines, numbers = (packed_lines(self.stored), packed_lines(self.texts)), (self.counts.ravel(), self.ids)
        return self.first, len(self), *lines, *map(packed_numbers, numbers)

    def without(self, numbers: set[int]) -> Block:
        """The block without the documents of these numbers; their places stay."""
        kept = np.array([self.first + k not in numbers for k in range(len(self))])
        places = zip(self.stored, self.texts, kept.tolist(), strict=True)
        lines = [(stored, text) if alive else (b"", b"") for stored, text, alive in places]
        ids = self.ids[np.repeat(kept, self.counts.sum(axis=1))]
        stored, texts = (list(part) for part in zip(*lines, strict=True))
        return replace(self, stored=stored, texts=texts, counts=self.counts * kept[:, None].astype(np.int32), ids=ids)


def blocks_of(
    first: int, stored: Sequence[bytes], texts: Sequence[bytes], counts: Int32s, ids: Int32s
) -> Iterator[Block]:
    """Cut documents with consecutive numbers from `first` on into blocks."""
    ends = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
    start, size = 0, 0
    for k, text in enumerate(texts):
        size += len(text)
        if size >= _BYTES or k + 1 - start == _DOCUMENTS or k + 1 == len(texts):
            part = slice(start, k + 1)
            terms = ids[ends[start] : ends[k + 1]]
            yield Block(first + start, list(stored[part]), list(texts[part]), counts[part], terms)
            start, size = k + 1, 0


@dataclass(frozen=True)
class Tokens:
    """The terms of documents, end to end."""

    numbers: Ints  # (D,) rising
    counts: Int32s  # (D, F) terms of each field
    ids: Int32s  # all terms, document by document, field by field
    names: list[str]  # (D,) ids of the documents


def tokens_of(names: dict[int, str], blocks: Iterable[Block], n_fields: int, n_terms: int, *, after: int) -> Tokens:
    """The terms of the documents with these numbers, above `after`; raises ValueError if the blocks lack them."""
    numbers = np.fromiter(names, np.int64, len(names))
    counts, ids, covered = [np.empty((0, n_fields), np.int32)], [np.empty(0, np.int32)], 0
    for block in blocks:
        a, b = np.searchsorted(numbers, (block.first, block.first + len(block)))
        alive = np.zeros(len(block), np.bool_)
        alive[numbers[a:b] - block.first] = True
        dead = ~alive
        dead[: max(after + 1 - block.first, 0)] = False
        outside = len(block.ids) and not 0 <= block.ids.min() <= block.ids.max() < n_terms
        if outside or block.counts[dead].any():
            raise ValueError("documents and their terms do not agree")
        counts.append(block.counts[alive])
        ids.append(block.ids if alive.all() else block.ids[np.repeat(alive, block.counts.sum(axis=1))])
        covered += b - a
    if covered != len(names):
        raise ValueError("documents and their terms do not agree")
    return Tokens(numbers, np.concatenate(counts), np.concatenate(ids), list(names.values()))


def lines_of(names: Iterator[Any], rows: Iterable[Any], columns: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Each number and id of `names` with its lines in columns of the rows of blocks; ValueError if they lack one."""
    name = next(names, None)
    for row in rows:
        first, size = row[:2]
        lines = [unpacked_lines(row[column], size) for column in columns]
        while name is not None and name[0] < first + size:
            n, id = name
            if n < first or not lines[0][n - first]:
                raise ValueError(f"document {n} has no text")
            yield n, id, *(part[n - first] for part in lines)
            name = next(names, None)
    if name is not None:
        raise ValueError(f"document {name[0]} has no text")


def packed_lines(lines: Sequence[bytes]) -> bytes:
    """Lines in one, compressed."""
    return zlib.compress(b"\n".join(lines), 1)


def unpacked_lines(packed: bytes, size: int) -> list[bytes]:
    """The lines of `packed_lines`; raises ValueError if there are not `size` of them."""
    lines = zlib.decompress(packed).split(b"\n")
    if len(lines) != size:
        raise ValueError(f"{len(lines)} lines of a block where {size} were written")
    return lines


def packed_numbers(numbers: AnyArray) -> bytes:
    """Whole numbers of at least 0 in as few bytes each as the largest needs, after a byte that says how many."""
    narrow = narrowed(numbers)
    return bytes([narrow.dtype.itemsize]) + narrow.astype(narrow.dtype.newbyteorder("<")).tobytes()


def unpacked_numbers(packed: bytes) -> Int32s:
    """The numbers of `packed_numbers`."""
    return np.frombuffer(packed, f"<u{packed[0]}", offset=1).astype(np.int32)


def narrowed(numbers: AnyArray) -> AnyArray:
    """Whole numbers of at least 0 in the smallest unsigned type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))), copy=False)
