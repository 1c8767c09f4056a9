"""Segment: inverted index of a range of documents, as memory-mapped arrays for search and features.

All of it can be rebuilt from the store. Columns of per-field arrays are the fields in order, then the whole
document: all its fields one after another.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import AnyArray, Bytes, Flags, Int32s, Ints
from podium.jit.compiled import compiled
from podium.text.index.blocks import narrowed
from podium.text.index.compact import from_steps, packed_rows, steps, unpacked_rows

if TYPE_CHECKING:
    from podium.text.index.blocks import Tokens


@dataclass(frozen=True, eq=False)
class Segment:
    """D documents with F fields, T distinct terms, P postings and B distinct pairs of adjacent terms."""

    numbers: Ints  # (D,) in the store, rising
    id_bytes: Bytes  # the ids of all documents end to end, UTF-8
    id_ends: Ints  # (D+1,)
    tokens: Int32s  # the terms of all documents end to end
    bounds: Ints  # (D, F+1): field f of document d is tokens[bounds[d, f]:bounds[d, f + 1]]
    lengths: Int32s  # (D, F+1) terms that are not flagged
    distinct: Int32s  # (D, F+1) different terms among these
    terms: Int32s  # (T,) rising
    pointers: Ints  # (T+1,): postings pointers[k]:pointers[k+1] are of terms[k]
    rows: Int32s  # (P,) documents of the segment, rising within a term
    frequencies: Int32s  # (P, F) occurrences of the term in each field
    df: Int32s  # (T, F+1) documents with the term
    cf: Ints  # (T, F+1) occurrences
    pairs: Ints  # (B,) first term · 2³² + second, rising; those that several documents have
    pair_df: Int32s  # (B, F+1) documents with the pair
    dead: Flags  # (D,) deleted

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return sum(getattr(self, field.name).nbytes for field in fields(self))

    @functools.cached_property
    def alive(self) -> int:
        return int(len(self) - np.count_nonzero(self.dead))

    @functools.cached_property
    def totals(self) -> Ints:
        """Σ |d| over the documents that are not deleted, per field."""  # (F+1,)
        return np.asarray(self.lengths[~self.dead].sum(axis=0, dtype=np.int64))

    def ids(self, rows: Ints) -> list[str]:
        """The ids of documents."""
        names, starts, ends = self._names, self.id_ends[rows].tolist(), self.id_ends[rows + 1].tolist()
        if isinstance(names, str):
            return [names[start:end] for start, end in zip(starts, ends, strict=True)]
        return [names[start:end].decode() for start, end in zip(starts, ends, strict=True)]

    @functools.cached_property
    def _names(self) -> str | bytes:
        """All ids end to end: as text if a letter is a byte, so that parts of it need no decoding."""
        names = self.id_bytes.tobytes()
        return names.decode() if names.isascii() else names

    def places(self, terms: Int32s) -> Ints:
        """Indices of terms in the vocabulary of the segment; −1 for one that it lacks."""
        return find_terms(self.terms, terms)

    def save(self, folder: Path) -> dict[str, int]:
        """Write the arrays into a new folder, all or nothing, and return the checksums of the files.

        Only one process may do so at a time.
        """
        aside = folder.with_name(f".{folder.name}.part")
        aside.mkdir()
        for name in _SAVED:
            np.save(aside / f"{name}.npy", self._compact(name))
        aside.replace(folder)
        return {name: _file_sum(folder / f"{name}.npy") for name in _SAVED}

    def _compact(self, name: str) -> AnyArray:
        """An array as it is written."""
        array: AnyArray = getattr(self, name)
        if name == "rows":
            return packed_rows(self.rows, self.pointers)
        return steps(array) if name in _RISING else narrowed(array)

    @classmethod
    def load(cls, folder: Path, sums: Mapping[str, int], *, n_fields: int, n_terms: int) -> Segment:
        """Load the segment of a folder; raises ValueError or OSError if it is damaged."""
        if any(_file_sum(folder / f"{name}.npy") != sums[name] for name in _SAVED):
            raise ValueError("an array does not match its checksum")
        # plain views: slices of np.memmap are slow
        written = {name: np.load(folder / f"{name}.npy", mmap_mode="r").view(np.ndarray) for name in _SAVED}
        arrays: dict[str, AnyArray] = {
            name: from_steps(array, _KINDS[name]) if name in _RISING else array.astype(_KINDS[name], copy=False)
            for name, array in written.items()
            if name != "rows"
        }
        arrays["bounds"] = arrays["bounds"].reshape(-1, n_fields + 1)
        if len(arrays["pointers"]) == 0 or not 0 <= arrays["pointers"].min() <= arrays["pointers"].max() < 2**40:
            raise ValueError("not a sound segment")
        arrays["rows"] = unpacked_rows(written["rows"], arrays["pointers"])
        segment = cls(**arrays, dead=np.zeros(len(arrays["numbers"]), np.bool_))
        segment.check(n_fields, n_terms)
        return segment

    def check(self, n_fields: int, n_terms: int) -> None:
        """Raise ValueError if compiled code would read beyond an array."""
        columns = n_fields + 1
        shapes = {
            "bounds": (len(self), columns), "lengths": (len(self), columns), "distinct": (len(self), columns),
            "id_ends": (len(self) + 1,), "pointers": (len(self.terms) + 1,), "frequencies": (len(self.rows), n_fields),
            "df": (len(self.terms), columns), "cf": (len(self.terms), columns), "pair_df": (len(self.pairs), columns),
        }  # fmt: skip
        wrong = [name for name, shape in shapes.items() if getattr(self, name).shape != shape]
        limits: list[tuple[AnyArray, int]] = [
            (self.bounds.ravel(), len(self.tokens)),
            (self.pointers, len(self.rows)),
            (self.id_ends, len(self.id_bytes)),
        ]
        rising = all(len(x) == 0 or (x[0] == 0 and x[-1] == top and (np.diff(x) >= 0).all()) for x, top in limits)
        inside = _within(self.tokens, n_terms) and _within(self.rows, len(self)) and _within(self.terms, n_terms)
        ordered = all((np.diff(x) > 0).all() for x in (self.numbers, self.terms))
        wrong += [name for name, kind in _KINDS.items() if getattr(self, name).dtype != kind]
        if wrong or not rising or not inside or not ordered:
            raise ValueError("not a sound segment")

    def without(self, deleted: Ints) -> Segment:
        """The segment with documents of these numbers deleted, also from its statistics."""
        dead = np.isin(self.numbers, deleted, assume_unique=True)
        if (dead == self.dead).all():
            return self
        df, cf, pair_df = np.array(self.df), np.array(self.cf), np.array(self.pair_df)
        for row in np.flatnonzero(dead & ~self.dead).tolist():
            _subtract(row, self.tokens, self.bounds, self.terms, self.pairs, df, cf, pair_df)
        return replace(self, df=df, cf=cf, pair_df=pair_df, dead=dead)


_SAVED = tuple(field.name for field in fields(Segment) if field.name != "dead")
_RISING = ("numbers", "id_ends", "bounds", "terms", "pointers", "pairs")
_WIDE = ("numbers", "id_ends", "bounds", "pointers", "cf", "pairs")
_KINDS: dict[str, type[np.generic]] = {
    **{name: np.int64 if name in _WIDE else np.int32 for name in _SAVED},
    "id_bytes": np.uint8,
    "dead": np.bool_,
}


def _file_sum(file: Path) -> int:
    return zlib.crc32(np.memmap(file, np.uint8, mode="r").data)


def _within(values: AnyArray, end: int) -> bool:
    return len(values) == 0 or (int(values.min()) >= 0 and int(values.max()) < end)


def build(tokens: Tokens, flags: Flags) -> Segment:
    """Build the segment of documents from their terms; `flags` are those of terms."""
    D, F = tokens.counts.shape
    ids = np.ascontiguousarray(tokens.ids, np.int32)
    ends = np.zeros(D * F + 1, np.int64)
    np.cumsum(tokens.counts.ravel(), out=ends[1:])
    bounds = np.empty((D, F + 1), np.int64)
    bounds[:, :F], bounds[:, F] = ends[:-1].reshape(D, F), ends[F::F] if F else 0
    per_term = np.zeros(len(flags), np.int64)
    _count_documents(ids, bounds, per_term)
    terms = np.flatnonzero(per_term).astype(np.int32)
    pointers = np.zeros(len(terms) + 1, np.int64)
    np.cumsum(per_term[terms], out=pointers[1:])
    rows, frequencies = np.empty(pointers[-1], np.int32), np.zeros((pointers[-1], F), np.int32)
    lengths, distinct = np.zeros((D, F + 1), np.int32), np.zeros((D, F + 1), np.int32)
    place = np.zeros(len(flags), np.int64)
    place[terms] = pointers[:-1]
    _invert(ids, bounds, flags, place, rows, frequencies, lengths, distinct)
    df, cf = np.zeros((len(terms), F + 1), np.int32), np.zeros((len(terms), F + 1), np.int64)
    _term_statistics(pointers, frequencies, df, cf)
    pairs, pair_df = _pair_statistics(ids, bounds)
    names = [name.encode() for name in tokens.names]
    id_ends = np.zeros(D + 1, np.int64)
    np.cumsum([len(name) for name in names], out=id_ends[1:])
    return Segment(
        tokens.numbers, np.frombuffer(b"".join(names), np.uint8), id_ends, ids, bounds, lengths, distinct,
        terms, pointers, rows, frequencies, df, cf, pairs, pair_df, dead=np.zeros(D, np.bool_),
    )  # fmt: skip


@compiled
def _count_documents(ids: Int32s, bounds: Ints, counts: Ints) -> None:
    last = np.full(len(counts), -1, np.int64)
    for d in range(len(bounds)):
        for p in range(bounds[d, 0], bounds[d, -1]):
            if last[ids[p]] != d:
                last[ids[p]] = d
                counts[ids[p]] += 1


@compiled
def _invert(
    ids: Int32s,
    bounds: Ints,
    flags: Flags,
    place: Ints,
    rows: Int32s,
    frequencies: Int32s,
    lengths: Int32s,
    distinct: Int32s,
) -> None:
    """Fill postings and lengths; `place` is the index of each term's next posting."""
    F = bounds.shape[1] - 1
    document, field = np.full(len(place), -1, np.int64), np.full(len(place), -1, np.int64)  # of a term, so far
    for d in range(len(bounds)):
        for f in range(F):
            for p in range(bounds[d, f], bounds[d, f + 1]):
                t = ids[p]
                if document[t] != d:
                    document[t] = d
                    rows[place[t]] = d
                    place[t] += 1
                    distinct[d, F] += not flags[t]
                if field[t] != d * F + f:
                    field[t] = d * F + f
                    distinct[d, f] += not flags[t]
                frequencies[place[t] - 1, f] += 1
                if not flags[t]:
                    lengths[d, f] += 1
                    lengths[d, F] += 1


@compiled
def _term_statistics(pointers: Ints, frequencies: Int32s, df: Int32s, cf: Ints) -> None:
    F = frequencies.shape[1]
    for k in range(len(df)):
        for p in range(pointers[k], pointers[k + 1]):
            df[k, F] += 1
            for f in range(F):
                df[k, f] += frequencies[p, f] > 0
                cf[k, f] += frequencies[p, f]
                cf[k, F] += frequencies[p, f]


def _pair_statistics(ids: Int32s, bounds: Ints) -> tuple[Ints, Int32s]:
    """The pairs of adjacent terms that several documents have, and the number of documents with each, per field."""
    F = bounds.shape[1] - 1
    if len(ids) < 2:
        return np.empty(0, np.int64), np.empty((0, F + 1), np.int32)
    keys, rows, columns = _adjacent(ids, bounds)
    order = _order(keys, int(ids.max()) + 1)
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.empty(0, np.int64)
    df = np.zeros((len(starts), F + 1), np.int32)
    _count_pairs(np.append(starts, len(keys)), order, rows, columns, df)
    several = df[:, -1] > 1
    return keys[starts[several]], df[several]


@compiled
def _adjacent(ids: Int32s, bounds: Ints) -> tuple[Ints, Int32s, NDArray[np.int16]]:
    """All adjacent pairs, the document of each, and its field, which is F for a pair across fields."""
    D, F = len(bounds), bounds.shape[1] - 1
    n = 0
    for d in range(D):
        n += max(bounds[d, F] - bounds[d, 0] - 1, 0)
    keys, rows, columns = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.int16)
    k = 0
    for d in range(D):
        f = 0
        for p in range(bounds[d, 0], bounds[d, F] - 1):
            while p >= bounds[d, f + 1]:
                f += 1
            keys[k] = (np.int64(ids[p]) << 32) | np.int64(ids[p + 1])
            rows[k] = d
            columns[k] = f if p + 1 < bounds[d, f + 1] else F
            k += 1
    return keys, rows, columns


@compiled
def _order(keys: Ints, size: int) -> Ints:
    """The order that sorts pairs, stably: by the second term, then by the first."""
    order, before = np.empty(len(keys), np.int64), np.arange(len(keys))
    for shift in (0, 32):
        ends = np.zeros(size + 1, np.int64)
        for k in range(len(keys)):
            ends[((keys[k] >> shift) & 0xFFFFFFFF) + 1] += 1
        for t in range(size):
            ends[t + 1] += ends[t]
        for place in before:
            term = (keys[place] >> shift) & 0xFFFFFFFF
            order[ends[term]] = place
            ends[term] += 1
        before, order = order, before
    return before


@compiled
def _count_pairs(starts: Ints, order: Ints, rows: Int32s, columns: NDArray[np.int16], df: Int32s) -> None:
    last = np.empty(df.shape[1], np.int64)
    for k in range(len(df)):
        last[:] = -1
        for at in range(starts[k], starts[k + 1]):
            row, f = rows[order[at]], columns[order[at]]
            if last[-1] != row:  # the last column counts pairs anywhere
                last[-1] = row
                df[k, -1] += 1
            if f < df.shape[1] - 1 and last[f] != row:
                last[f] = row
                df[k, f] += 1


@compiled
def _subtract(
    row: int,
    tokens: Int32s,
    bounds: Ints,
    terms: Int32s,
    pairs: Ints,
    df: Int32s,
    cf: Ints,
    pair_df: Int32s,
) -> None:
    """Subtract a document from the statistics."""
    F = bounds.shape[1] - 1
    for f in range(F + 1):
        first, last = (bounds[row, f], bounds[row, f + 1]) if f < F else (bounds[row, 0], bounds[row, F])
        field = np.sort(tokens[first:last])
        for p in range(len(field)):
            k = np.searchsorted(terms, field[p])
            if k < len(terms):
                cf[k, f] -= 1
                if p == 0 or field[p] != field[p - 1]:
                    df[k, f] -= 1
        keys = np.empty(max(last - first - 1, 0), np.int64)
        for p in range(len(keys)):
            keys[p] = (np.int64(tokens[first + p]) << 32) | np.int64(tokens[first + p + 1])
        keys = np.sort(keys)
        for p in range(len(keys)):
            k = np.searchsorted(pairs, keys[p])
            if k < len(pairs) and pairs[k] == keys[p] and (p == 0 or keys[p] != keys[p - 1]):
                pair_df[k, f] -= 1


@compiled
def find_terms(terms: Int32s, wanted: Int32s) -> Ints:
    """Indices of terms in the sorted vocabulary of a segment; −1 for one that it lacks."""
    places = np.empty(len(wanted), np.int64)
    for m in range(len(wanted)):
        at = np.searchsorted(terms, wanted[m])
        places[m] = at if at < len(terms) and terms[at] == wanted[m] else -1
    return places
