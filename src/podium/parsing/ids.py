"""Ids: many ids in one array of bytes; an id becomes text when it is needed.

    >>> ids = Ids.of(["b", "a", "é"])
    >>> len(ids), ids[1], ids[[2, 0]].tolist()
    (3, 'a', ['é', 'b'])

A run of a million lines would otherwise hold a million Python strings, and making them takes longer than evaluating
it. Ids are UTF-8; other bytes are kept, as lone surrogates in the text. They are ordered by their bytes, as in
trec_eval; for valid UTF-8 that is also the order of their text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from podium.base.arrays import AnyArray, Array, Bytes, Flags, Ints, Words
from podium.base.errors import DataError
from podium.jit.compiled import compiled
from podium.jit.memory import address_of, place_of, put_word, swapped, word
from podium.jit.sorting import merge_sort
from podium.jit.tiers import is_small
from podium.parsing.plain_ids import find_words, number_words, rank_words, repeated_words
from podium.parsing.words import SPARE, copy, is_space, masked, same


@dataclass(frozen=True, eq=False)
class Ids:
    """Id i is text[starts[i]:ends[i]]."""

    text: Bytes  # and SPARE more bytes
    starts: Ints  # (N,)
    ends: Ints  # (N,)
    hashes: Words | None = None  # (N,) by `text_hash`, if they are computed already

    def __post_init__(self) -> None:
        """Refuse ids outside of the text: compiled code does not check."""
        first, last = self.starts.min(initial=0), self.ends.max(initial=0)
        if first < 0 or last + SPARE > max(len(self.text), SPARE) or (self.starts > self.ends).any():
            raise DataError(f"ids from {first} to {last} are outside of a text of {len(self.text) - SPARE} bytes.")

    @classmethod
    def of(cls, names: Iterable[Any]) -> Ids:
        """Make ids of any objects, by their str()."""
        if isinstance(names, Ids):
            return names
        words = [encoded(name) for name in (names.tolist() if isinstance(names, np.ndarray) else names)]
        return cls.from_bytes(words)

    @classmethod
    def from_bytes(cls, words: list[bytes]) -> Ids:
        """Make ids of their bytes."""
        bounds = np.zeros(len(words) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=bounds[1:])
        return cls(np.frombuffer(b"".join([*words, bytes(SPARE)]), np.uint8), bounds[:-1], bounds[1:])

    @classmethod
    def joined(cls, parts: list[Ids]) -> Ids:
        """Concatenate ids."""
        shifts = np.cumsum([0, *(len(part.text) for part in parts)])
        starts, ends = (
            np.concatenate([getattr(part, name) + shift for part, shift in zip(parts, shifts[:-1], strict=True)])
            for name in ("starts", "ends")
        )
        return cls(np.concatenate([part.text for part in parts]), starts, ends)

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tolist())

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> str: ...
    @overload
    def __getitem__(self, key: slice | AnyArray | list[int]) -> Ids: ...
    def __getitem__(self, key: int | np.integer[Any] | slice | AnyArray | list[int]) -> str | Ids:
        starts, ends = self.starts[key], self.ends[key]
        if isinstance(key, int | np.integer):
            return decoded(self.text[starts:ends].tobytes())
        return Ids(self.text, starts, ends, None if self.hashes is None else self.hashes[key])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.tolist(), dtype=object).astype(object if dtype is None else dtype)

    def __eq__(self, other: object) -> Any:
        """Compare id by id, like an array of text."""
        return np.asarray(self) == (np.asarray(other) if isinstance(other, Ids) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [repr(name) for name in self[:3]]
        return f"Ids([{', '.join(shown)}{', …' if len(self) > 3 else ''}])"

    def tolist(self) -> list[str]:
        """All ids as text."""
        if not len(self):
            return []
        first = int(self.starts.min())
        text = self.text[first : int(self.ends.max())].tobytes()
        spans = zip((self.starts - first).tolist(), (self.ends - first).tolist(), strict=True)
        if text.isascii():
            plain = text.decode("ascii")
            return [plain[a:b] for a, b in spans]
        return [decoded(text[a:b]) for a, b in spans]

    def words(self) -> list[bytes]:
        """All ids as bytes."""
        first = int(self.starts.min(initial=len(self.text)))
        text = self.text[first : int(self.ends.max(initial=0))].tobytes()
        return [text[a:b] for a, b in zip((self.starts - first).tolist(), (self.ends - first).tolist(), strict=True)]

    def codes(self) -> tuple[Ints, Ints]:
        """Number the ids by first appearance; also the row where each number appears first."""
        if is_small(len(self)):
            codes, firsts = (np.array(numbers, np.int64) for numbers in number_words(self.words()))
            return codes, firsts
        codes, firsts = np.empty(len(self), np.int64), np.empty(len(self), np.int64)
        n = number_bytes(self.text, self.starts, self.ends, codes, firsts)
        return codes, firsts[:n]

    def hashed(self) -> Words:
        """A 64-bit hash of each id."""
        if self.hashes is not None:
            return self.hashes
        hashes = np.empty(len(self), np.uint64)
        _hash_all(self.text, self.starts, self.ends, hashes)
        return hashes

    def repeats(self, offsets: Ints) -> Ints:
        """Rows whose id is also in an earlier row of their query; rows offsets[q]:offsets[q+1] are query q."""
        if is_small(len(self)):
            return np.array(repeated_words(self.words(), offsets.tolist()), np.int64)
        marks = np.zeros(len(self), np.bool_)
        any_found = _repeats(self.text, self.starts, self.ends, self.hashed(), offsets, marks)
        return np.flatnonzero(marks) if any_found else np.empty(0, np.int64)

    def find_in(self, known: Ids, known_offsets: Ints, offsets: Ints) -> Ints:
        """The row of `known` with the same id in the same query (N,); −1 if there is none."""
        if is_small(len(self) + len(known)):
            matches = find_words(self.words(), offsets.tolist(), known.words(), known_offsets.tolist())
            return np.array(matches, np.int64)
        rows = np.empty(len(self), np.int64)
        own, others = ((ids.text, ids.starts, ids.ends, ids.hashed()) for ids in (self, known))
        _find(*own, offsets, *others, known_offsets, rows)
        return rows

    def ranks(self) -> Ints:
        """Dense rank of each id in the order of bytes, from 0; equal ids share it."""
        if is_small(len(self)):
            return np.array(rank_words(self.words()), np.int64)
        ranks = np.empty(len(self), np.int64)
        rank_bytes(self.text, self.starts, self.ends, ranks)
        return ranks

    def first_unwritable(self) -> int:
        """Index of the first id that is empty or has white space, which a column of text cannot hold; −1 if none."""
        if is_small(len(self)):
            return next((row for row, word in enumerate(self.words()) if word.split() != [word]), -1)
        return int(_first_unwritable(self.text, self.starts, self.ends))


def encoded(name: object) -> bytes:
    """An id as bytes."""
    return str(name).encode("utf-8", "surrogateescape")


def decoded(name: bytes) -> str:
    """An id as text."""
    return name.decode("utf-8", "surrogateescape")


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that was there before; None if all differ.

    >>> first_repeated(["a", "b", "b", "a"])
    'b'
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def lines(columns: list[Ids]) -> bytes:
    """Text with a line per row: its id in each column, separated by blanks."""
    if is_small(len(columns) * len(columns[0])):
        return b"".join([b" ".join(row) + b"\n" for row in zip(*(column.words() for column in columns), strict=True)])
    size = sum(int((column.ends - column.starts).sum()) + len(column) for column in columns)
    out = np.empty(size + SPARE, np.uint8)
    parts = [(c.text, np.ascontiguousarray(c.starts), np.ascontiguousarray(c.ends)) for c in columns]
    _write_lines(np.array([[address_of(part) for part in column] for column in parts]), len(columns[0]), out)
    return out[:size].tobytes()


def id_keys(ids: Ids | NDArray[Any], best_first: Ints, ends: Ints, *, offsets: Ints) -> Array:
    """Keys that break ties by id: numbers in the order of the ids for tied rows, else 0; see `sorting.break_ties`."""
    if is_small(len(best_first)):
        places = np.arange(len(best_first)) - np.repeat(offsets[:-1], np.diff(offsets))
        joined = ends > places + 1  # with the next place
        tied = best_first[joined | np.append(False, joined[:-1])]
    else:
        tied = np.empty(len(best_first), np.int64)
        tied = tied[: _tied_rows(best_first, ends, offsets, tied)]
    keys = np.zeros(len(best_first))
    keys[tied] = Ids.of(ids[tied]).ranks()
    return keys


@compiled
def _tied_rows(best_first: Ints, ends: Ints, offsets: Ints, tied: Ints) -> int:
    """Fill the start of `tied` with the rows that share their score with another; return their number."""
    n = 0
    for q in range(len(offsets) - 1):
        for p in range(offsets[q], offsets[q + 1]):
            joined = ends[p] > p - offsets[q] + 1  # with the next place
            if joined or (p > offsets[q] and ends[p - 1] == ends[p]):
                tied[n] = best_first[p]
                n += 1
    return n


_HASH_1, _HASH_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_29, _32 = np.uint64(29), np.uint64(32)


@compiled
def text_hash(start: int, end: int) -> Any:
    """A 64-bit hash of a text."""
    h = np.uint64(end - start) * _HASH_1
    while start < end:
        h = (h ^ masked(word(start), end - start)) * _HASH_2
        h ^= h >> _32
        start += 8
    h *= _HASH_1
    return h ^ (h >> _29)


@compiled
def _table_size(n: int) -> int:
    """Size of a hash table: a power of two ≥ 2n, or ≥ 4n if that fits into the first-level cache (fewer collisions)."""
    size = 4
    while size < (4 if n <= 1024 else 2) * n:
        size *= 2
    return size


@compiled
def _slot(
    table: Words, size: int, h: int, start: int, end: int, base: int, starts: Ints, ends: Ints, first: int
) -> Any:
    """Place of an id in the first `size` places of a hash table, or the free place for it.

    A place holds the upper half of the hash, and below it the row plus one, counted from `first`; 0: free.
    """
    at = np.int64(h & np.uint64(size - 1))
    while table[at] != 0:
        if table[at] >> _32 == h >> _32:
            row = first + np.int64(table[at] & np.uint64(0xFFFFFFFF)) - 1
            if same(start, end, base + starts[row], base + ends[row]):
                return at
        at = (at + 1) & (size - 1)
    return at


@compiled
def _entry(h: int, row: int) -> Any:
    return (h >> _32) << _32 | np.uint64(row + 1)


@compiled
def number_bytes(text: Bytes, starts: Ints, ends: Ints, codes: Ints, firsts: Ints) -> int:
    """Fill `codes` with numbers of ids by first appearance, `firsts` with the rows of these; return how many."""
    size = _table_size(len(starts))
    table, base, n = np.zeros(size, np.uint64), place_of(text), 0
    for row in range(len(starts)):
        a, b = base + starts[row], base + ends[row]
        h = text_hash(a, b)
        at = _slot(table, size, h, a, b, base, starts, ends, 0)
        if table[at] == 0:
            table[at] = _entry(h, row)
            codes[row], firsts[n] = n, row
            n += 1
        else:
            codes[row] = codes[np.int64(table[at] & np.uint64(0xFFFFFFFF)) - 1]
    return n


@compiled
def _largest(offsets: Ints) -> int:
    most = 0
    for q in range(len(offsets) - 1):
        most = max(most, offsets[q + 1] - offsets[q])
    return most


@compiled
def _hash_all(text: Bytes, starts: Ints, ends: Ints, hashes: Words) -> None:
    base = place_of(text)
    for row in range(len(starts)):
        hashes[row] = text_hash(base + starts[row], base + ends[row])


@compiled
def _repeats(text: Bytes, starts: Ints, ends: Ints, hashes: Words, offsets: Ints, marks: Flags) -> bool:
    table, base, repeated = np.zeros(_table_size(_largest(offsets)), np.uint64), place_of(text), False
    for q in range(len(offsets) - 1):
        size = _table_size(offsets[q + 1] - offsets[q])
        for at in range(size):
            table[at] = 0
        for row in range(offsets[q], offsets[q + 1]):
            h = hashes[row]
            at = _slot(table, size, h, base + starts[row], base + ends[row], base, starts, ends, offsets[q])
            if table[at] == 0:
                table[at] = _entry(h, row - offsets[q])
            else:
                marks[row] = repeated = True
    return repeated


@compiled
def _find(
    text: Bytes, starts: Ints, ends: Ints, hashes: Words, offsets: Ints,
    known_text: Bytes, known_starts: Ints, known_ends: Ints, known_hashes: Words, known_offsets: Ints, out: Ints,
) -> None:  # fmt: skip
    table = np.zeros(_table_size(_largest(known_offsets)), np.uint64)
    base, known_base = place_of(text), place_of(known_text)
    for q in range(len(offsets) - 1):
        first = known_offsets[q]
        size = _table_size(known_offsets[q + 1] - first)
        for at in range(size):
            table[at] = 0
        for row in range(first, known_offsets[q + 1]):
            a, b, h = known_base + known_starts[row], known_base + known_ends[row], known_hashes[row]
            table[_slot(table, size, h, a, b, known_base, known_starts, known_ends, first)] = _entry(h, row - first)
        for row in range(offsets[q], offsets[q + 1]):
            a, b = base + starts[row], base + ends[row]
            at = _slot(table, size, hashes[row], a, b, known_base, known_starts, known_ends, first)
            out[row] = first + np.int64(table[at] & np.uint64(0xFFFFFFFF)) - 1 if table[at] != 0 else -1


@compiled
def _less(a: int, a_end: int, b: int, b_end: int) -> bool:
    """Whether text a comes before text b in the order of bytes."""
    sizes = a_end - a < b_end - b
    while a < a_end and b < b_end:
        x, y = swapped(masked(word(a), a_end - a)), swapped(masked(word(b), b_end - b))
        if x != y:
            return x < y  # type: ignore[no-any-return]
        a += 8
        b += 8
    return sizes


@compiled
def rank_bytes(text: Bytes, starts: Ints, ends: Ints, ranks: Ints) -> None:
    """Fill `ranks` with the dense rank of each id, from 0."""
    n, rank, spans = len(starts), 0, (place_of(text), starts, ends)
    order = merge_sort(np.arange(n), np.empty(n, np.int64), _precedes, spans)
    for k in range(n):
        rank += _precedes(spans, order[max(k - 1, 0)], order[k])
        ranks[order[k]] = rank


@compiled
def _precedes(spans: tuple[int, Ints, Ints], x: int, y: int) -> bool:
    """Whether id x comes before id y in the order of bytes."""
    base, starts, ends = spans
    return _less(base + starts[x], base + ends[x], base + starts[y], base + ends[y])


@compiled
def _first_unwritable(text: Bytes, starts: Ints, ends: Ints) -> int:
    for row in range(len(starts)):
        good = starts[row] < ends[row]
        for c in text[starts[row] : ends[row]]:
            good &= not is_space(c)
        if not good:
            return row
    return -1


@compiled
def _write_lines(columns: Ints, n: int, out: Bytes) -> None:
    at = place_of(out)
    for row in range(n):
        for column in columns:
            text, place = column[0], 8 * row
            at = copy(text + np.int64(word(column[1] + place)), text + np.int64(word(column[2] + place)), at)
            put_word(at, np.uint64(32))
            at += 1
        put_word(at - 1, np.uint64(10))
