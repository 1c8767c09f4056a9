"""TextContext: a query and texts that are not in the index, with the statistics of the index.

A text is a string or a dict of fields. The index does not change: a word that it lacks has no statistics, but counts in
lengths, windows and distances.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from podium.base.arrays import Array, Flags, Int32s, Ints, Singles
from podium.base.errors import DataError, IncompatibleError
from podium.jit.compiled import compiled
from podium.text.collection.indexed_document import Document
from podium.text.context import Context, slots_of
from podium.text.index.index import WHOLE, Index
from podium.text.query import Query
from podium.text.retrieval.dense import exact_norms, vectors_of
from podium.text.retrieval.lsi import fold_in, latent
from podium.text.retrieval.word_vectors import add_squares, term_weights

_WORDS, _LONG = 2**18, 64
"""The most words whose terms are cached for the next texts, and the letters of the longest of them."""
_AT_ONCE = 2**16
"""Words that are looked up at once."""


class TextContext(Context):
    """A query and texts; `candidates` finds documents of the first stage, for features that need them."""

    records: Sequence[Mapping[str, Any]]

    def __init__(
        self, index: Index, query: Query, records: Sequence[Mapping[str, Any]], candidates: Callable[[], Context]
    ) -> None:
        super().__init__(index, query, np.full(len(records), -1), candidates=candidates)
        self.records = records
        self._texts = [_fields(record, index, n) for n, record in enumerate(records, 1)]
        terms = _Terms(index)
        self._tokens, self._counts = terms.of(text.get(field, "") for text in self._texts for field in index.fields)
        self.new_terms = tuple(terms.new)

    @property
    def numbers(self) -> Ints:
        raise IncompatibleError("a feature needs documents of the index by their numbers, and texts are not in it.")

    @property
    def rows(self) -> Ints:
        return self.numbers

    def asking(self, query: Query) -> TextContext:
        assert self._candidates is not None
        return TextContext(self.index, query, self.records, self._candidates)

    def documents(self) -> list[dict[str, Any]]:
        return [dict(record) for record in self.records]

    def norms(self, column: int) -> Array:
        squares, weights = np.zeros(len(self)), term_weights(self.index, column)
        add_squares(*self._counted(column), weights, squares)
        return np.asarray(np.sqrt(squares))

    def latent(self, column: int, rank: int) -> Singles:
        space, weights = latent(self.index, column, rank), term_weights(self.index, column)
        return fold_in(space, weights, *self._counted(column))

    def vectors(self) -> tuple[Flags, Singles, Array]:
        fields, encode = self.index.fields, self.index.encoder
        vectors = [_document(record, ("vector",), n).vector for n, record in enumerate(self.records, 1)]
        if encode is not None:
            texts = ["\n".join(text[name] for name in fields if name in text) for text in self._texts]
            encoded = np.asarray(encode(texts), np.float32)
            vectors = [own if own is not None else encoded[k] for k, own in enumerate(vectors)]
        has = np.array([vector is not None for vector in vectors], np.bool_)
        width = vectors_of(self.index).values.shape[1]
        for n, vector in enumerate(vectors, 1):
            if vector is not None and len(vector) != width:
                raise DataError(
                    f"its vector has {len(vector)} numbers; those of the index have {width}.", where=f"text {n}"
                )
        rows = np.array([vector for vector in vectors if vector is not None], np.float32).reshape(-1, width)
        return has, rows, exact_norms(rows)

    def _counted(self, column: int) -> tuple[Ints, Int32s, Ints]:
        """The terms of a field that the index has and counts, rising in each text, with their counts: text k has
        terms[ends[k]:ends[k + 1]]."""
        field = (*self.index.fields, WHOLE)[column]

        def make(_: Int32s, __: Ints) -> tuple[Ints, Int32s, Ints]:
            tokens, starts, ends = self.tokens(field)
            size = int((ends - starts).sum())
            sums, terms, counts = np.empty(len(self) + 1, np.int64), np.empty(size, np.int32), np.empty(size, np.int64)
            n = _count_terms(tokens, starts, ends, self.index.flags, sums, terms, counts)
            return sums, terms[:n], counts[:n]

        return self.once(("terms", column), make)

    @functools.cached_property
    def _gathered(self) -> tuple[Int32s, Ints, Array, Ints]:
        n, columns = len(self), len(self.index.fields) + 1
        ends = np.zeros(len(self._counts) + 1, np.int64)
        np.cumsum(self._counts, out=ends[1:])
        bounds = np.empty((n, columns), np.int64)
        bounds[:, :-1], bounds[:, -1] = ends[:-1].reshape(n, columns - 1), ends[columns - 1 :: columns - 1]
        flags = np.append(self.index.flags, np.array([flagged for _, flagged in self.new_terms], np.bool_))
        sizes = np.zeros((columns, 2, n))
        _sizes(self._tokens, bounds, flags, slots_of(len(flags)), sizes)
        return self._tokens, bounds, sizes, np.full(n, -1)


class _Terms:
    """The terms of the words of texts; those that the index lacks get the numbers after its own."""

    def __init__(self, index: Index) -> None:
        self._index, self._own = index, dict[str, int]()
        self._cached: dict[str, int] = index.kept("terms of words", dict)
        self.new: dict[tuple[str, bool], int] = {}

    def of(self, texts: Iterable[str]) -> tuple[Int32s, list[int]]:
        """The terms of texts end to end, and how many each text has."""
        parts, counts, words = [np.empty(0, np.int32)], [], list[str]()
        for text in texts:
            own = self._index.analyser.uncut(text)
            counts.append(len(own))
            words += own
            if len(words) > _AT_ONCE:
                parts.append(self._numbers(words))
                words = []
        return np.concatenate([*parts, self._numbers(words)]), counts

    def _numbers(self, words: list[str]) -> Int32s:
        numbers = np.fromiter(map(self._cached.get, words, itertools.repeat(-1)), np.int32, len(words))
        for p in np.flatnonzero(numbers < 0).tolist():
            numbers[p] = self._number(words[p])
        return numbers

    def _number(self, word: str) -> int:
        if word not in self._own:
            store, size = self._index.store, len(self._index.flags)
            whole = store.analyser.cut(word)
            t = store.term_ids([whole])[0]
            if 0 <= t < size and len(word) <= _LONG and len(self._cached) < _WORDS:
                self._cached[word] = t
            if not 0 <= t < size:
                t = self.new.setdefault(store.analyser.term(whole), size + len(self.new))
            self._own[word] = t
        return self._own[word]


def _fields(record: Mapping[str, Any], index: Index, n: int) -> dict[str, str]:
    """The searched fields of a text."""
    used = {name: record[name] for name in index.fields if name in record}
    if all(type(value) is str for value in used.values()):
        return used
    return _document(record, index.fields, n, fields=index.fields).text


def _document(record: Mapping[str, Any], names: Sequence[str], n: int, *, fields: Sequence[str] = ()) -> Document:
    """Some fields of a text, checked as those of a document."""
    used = {name: record[name] for name in names if name in record}
    return Document.read({**used, "id": str(n)}, fields=fields, id="id", where=f"text {n}")


@compiled
def _count_terms(
    tokens: Int32s, starts: Ints, ends: Ints, flags: Flags, sums: Ints, terms: Int32s, counts: Ints
) -> int:
    """Count the terms of each text without flagged and new ones; returns how many counts there are."""
    n = 0
    for k in range(len(starts)):
        sums[k] = n
        words = np.sort(tokens[starts[k] : ends[k]])
        for p in range(len(words)):
            if words[p] >= len(flags) or flags[words[p]]:
                continue
            if n > sums[k] and terms[n - 1] == words[p]:
                counts[n - 1] += 1
            else:
                terms[n], counts[n] = words[p], 1
                n += 1
    sums[len(starts)] = n
    return n


@compiled
def _sizes(tokens: Int32s, bounds: Ints, flags: Flags, slots: Int32s, sizes: Array) -> None:
    """Lengths of the fields of texts without flagged terms, and the numbers of different terms among these."""
    F = bounds.shape[1] - 1
    for k in range(len(bounds)):
        for f in range(F):
            for p in range(bounds[k, f], bounds[k, f + 1]):
                t = tokens[p]
                if flags[t]:
                    continue
                sizes[f, 0, k] += 1.0
                sizes[f, 1, k] += slots[t] != f  # the last field with the term
                sizes[F, 0, k] += 1.0
                sizes[F, 1, k] += slots[t] < 0
                slots[t] = f
        for p in range(bounds[k, 0], bounds[k, F]):
            slots[tokens[p]] = -1
