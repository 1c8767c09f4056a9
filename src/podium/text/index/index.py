"""Index: search documents and compute their features.

    >>> import tempfile, os
    >>> from podium.text.index.index import Index
    >>> path = os.path.join(tempfile.mkdtemp(), "my.index")
    >>> docs = [{"id": "a", "title": "Heat", "text": "Heat transfer in slabs"}, {"id": "b", "text": "Cold slabs"}]
    >>> index = Index.create(path, docs)
    >>> index.search("slabs of heat", k=10).ids
    ['a', 'b']
    >>> index.delete(["a"])
    >>> index.search("heat").ids
    []
    >>> index.close()

Documents are in a SQLite file (`store.py`); arrays derived from it answer queries (`segment.py`). An open index shows
the state in which it was opened, until it is changed or `refresh` is called.
"""

from __future__ import annotations

import functools
import itertools
import os
import shutil
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from podium.base.arrays import AnyArray, Array, Flags, Int32s, Ints
from podium.base.errors import DataError, IncompatibleError, ParameterError, UnknownNameError
from podium.base.files import claimed
from podium.graph.visits import Visit, check_visit
from podium.jit.compiled import compiled
from podium.jit.tiers import tier
from podium.text.analyser import Analyser
from podium.text.collection.field_kinds import SAMPLE, check_searched, field_weights, searched_fields
from podium.text.collection.id_field import id_field
from podium.text.collection.indexed_document import Document
from podium.text.collection.plain_documents import plain_documents
from podium.text.index.array_cache import Arrays, Kept
from podium.text.index.encoding import Encoder, encoded, encoder_name, named_vectors
from podium.text.index.segment import Segment, find_terms
from podium.text.index.segments import read_segments
from podium.text.index.store import Store
from podium.text.query import Query, read_query
from podium.text.retrieval.base import Retrieval, Scratch, Statistics, Where
from podium.text.retrieval.bm25 import BM25

T = TypeVar("T")
WHOLE = "whole"
"""The name of all fields of a document taken together."""
LEAST_KEPT = 2**28
"""Bytes that searches may cache for later ones, at least."""


@dataclass(frozen=True, eq=False)
class Hits:
    """Search results: documents, best first."""

    ids: list[str]
    scores: Array
    numbers: Ints
    """Their numbers in the index."""

    def __len__(self) -> int:
        return len(self.ids)


class Index:
    """An index of documents, on disk. `create` makes a new one, `open` opens an existing one; both open its `store`."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._scratch = threading.local()
        self.encoder: Encoder | None = None
        self._encoder_name = ""
        try:
            self.refresh()
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        documents: Iterable[Any] = (),
        *,
        fields: Sequence[str] | None = None,
        analyser: Analyser | str | None = None,
        id: str | None = None,
        title: str | None = None,
    ) -> Index:
        """Create an index of `documents`: dicts with an id and text fields, or the rows of a data frame.

        `fields` are those that are searched: by default title and text, or without a text all that hold text, which
        the first documents say; numbers, dates, URLs and ids are not. All others are stored, for filters and features.
        Without a text, a word in the title counts as three elsewhere. `path` is a folder that does not exist yet.
        `id` names the field of ids if its name is not a usual one, `title` the one to show as a document's title;
        `analyser` says how text becomes terms, such as `english`.
        """
        if isinstance(fields, str):
            raise ParameterError(f"create: a list of fields is needed; got {fields!r}. Write [{fields!r}].")
        analyser = Analyser.parse(analyser) if isinstance(analyser, str) else analyser or Analyser()
        rest = plain_documents(documents)
        first = list(itertools.islice(rest, SAMPLE))
        of_ids, names = id_field(first, id), _searched(first, fields, id=id, title=title)
        with claimed(path):
            shown = title or "title"
            store = Store.create(
                path, analyser=analyser, fields=names, id_field=of_ids or "id", title_field=shown,
                weights=field_weights(names, title=shown),
            )  # fmt: skip
            index = cls(store)
            try:
                if first:
                    index._add(itertools.chain(first, rest), id=of_ids or "id", replace=False)
            except BaseException:
                index.close()
                remove_index(path)
                raise
        return index

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Index:
        """Open the index in the folder `path`."""
        return cls(Store(path))

    @property
    def fields(self) -> tuple[str, ...]:
        return self.store.fields

    @property
    def analyser(self) -> Analyser:
        return self.store.analyser

    def __len__(self) -> int:
        return sum(segment.alive for segment in self.segments)

    def __repr__(self) -> str:
        return f"Index({len(self)} documents, fields {', '.join(self.fields)}, {self.analyser}, {self.store.path})"

    def close(self) -> None:
        self.store.close()

    def refresh(self) -> None:
        """See the changes of other processes."""
        if self.store.is_changing:
            return  # at the end of the transaction
        with self.store.renewed():
            segments, flags, state = read_segments(self.store), self.store.flags(), self.store.states()[-1]
        size = sum(segment.nbytes for segment in segments)
        self._kept: dict[Hashable, Any] = {}  # keys hold ids of segments, so they must go before the segments do
        self._arrays = Kept(max(LEAST_KEPT, size))
        self.flags, self.segments, self.state = flags, segments, state

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights of the fields in a search that names none."""
        return self.store.weights

    @property
    def title(self) -> str:
        """The name of the field that is shown as a document's title."""
        return self.store.title_field

    def add(self, documents: Iterable[Any], *, replace: bool = False, id: str | None = None) -> int:
        """Add `documents`, all or none of them, and return their number. `replace` overwrites ids that exist.

        `id` names the field of ids: by default that of the index, or one with a usual name.
        """
        rest = plain_documents(documents)
        first = list(itertools.islice(rest, SAMPLE))
        if id is None and any(self.store.id_field in document for document in first):
            id = self.store.id_field
        of_ids = id_field(first, id) if first else None
        return self._add(itertools.chain(first, rest), id=of_ids or "id", replace=replace)

    def _add(self, documents: Iterable[Mapping[str, Any]], *, id: str, replace: bool) -> int:
        """Add documents with flat fields."""
        read = (Document.read(d, fields=self.fields, id=id, where=f"document {n}") for n, d in enumerate(documents, 1))
        added = self.store.add(read, replace=replace)
        self.refresh()
        return added

    def delete(self, ids: Iterable[str]) -> None:
        """Delete the documents with these `ids`, all or none of them."""
        if isinstance(ids, str):
            raise ParameterError(f"delete: a list of ids is needed; got {ids!r}. Write [{ids!r}].")
        self.store.delete([str(id) for id in ids])
        self.refresh()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make all changes within the block one transaction: all of them take place, or none."""
        with self.store.changing():
            yield
        self.refresh()

    def document(self, id: str) -> dict[str, Any]:
        """The document `id` as it was added, with its title as "title" if another field holds it."""
        document = self.store.document(str(id))
        if document is None:
            raise DataError(f"no document {id!r}.", where=str(self.store.path))
        return document if self.title == "title" else {"title": document.get(self.title), **document}

    def query(self, text: str, *, vector: Sequence[float] | AnyArray | None = None, syntax: bool = False) -> Query:
        """Analyse `text` as a query. Its vector is `vector`, or else that of the encoder if there is one.

        With `syntax`, the text is in the query language: see `query_language.py`.
        """
        if vector is None and self.encoder is not None:
            vector = np.asarray(self.encoder([text]))[0]
        read = functools.partial(read_query, self.store, self.flags, self.kept("occurs", self._occurs), vector=vector)
        if not syntax:
            return read(text)
        from podium.text.query_matches import read_language

        return read_language(self, text, read)

    def _occurs(self) -> Flags:
        """Whether each term is in a document: terms of deleted documents stay in the vocabulary."""
        occurs = np.zeros(len(self.flags), np.bool_)
        for segment in self.segments:
            occurs[segment.terms[segment.df[:, -1] > 0]] = True
        return occurs

    def add_links(self, links: Iterable[tuple[str, str]]) -> None:
        """Add `links` between documents, (source, target) ids; the documents may be added later."""
        self.store.add_links((str(source), str(target)) for source, target in links)
        self.refresh()

    def add_visits(self, visits: Iterable[Visit | tuple[str, float, str | None]]) -> None:
        """Append `visits` of documents: (id, seconds on it, id of the next one or None)."""
        checked = (check_visit(Visit(*visit)) for visit in visits)
        self.store.add_visits(Visit(str(v.page), v.seconds, None if v.next is None else str(v.next)) for v in checked)
        self.refresh()

    def set_vectors(self, ids: Sequence[str], vectors: AnyArray) -> int:
        """Set the `vectors` of the documents `ids`, all or none of them; those of other documents stay as they are."""
        written = self.store.set_vectors(named_vectors(ids, vectors))
        self.refresh()
        return written

    def encode_with(self, encode: Encoder, *, name: str | None = None) -> None:
        """Set the encoder: `encode` is a function from a list of texts to an array with a row for each.

        It encodes queries without a vector, and documents with `encode_documents`. The function is not saved, only its
        `name`, by default its own: raises an error if the vectors of the index were made by one of another name.
        """
        called, stored = name or encoder_name(encode), self.store.encoder()
        if stored not in (None, called):
            raise IncompatibleError(
                f"{self.store.path}: its vectors were made by {stored!r}, not by {called!r}. Use the same encoder, or "
                "replace the vectors of all documents (set_vectors)."
            )
        self.encoder, self._encoder_name = encode, called

    def encode_documents(self, *, batch: int = 256) -> int:
        """Encode the texts of documents without a vector, `batch` at once, all or none, and return their number."""
        if self.encoder is None:
            raise ParameterError("encode_documents: no encoder. Set it first: index.encode_with(function).")
        written = self.store.set_vectors(encoded(self.store, self.encoder, batch), encoder=self._encoder_name)
        self.refresh()
        return written

    def search(
        self,
        query: str | Query,
        k: int = 10,
        *,
        by: Retrieval | str = BM25(),  # noqa: B008 (it is frozen)
        vector: Sequence[float] | AnyArray | None = None,
        where: Where | None = None,
        offset: int = 0,
        syntax: bool = False,
    ) -> Hits:
        """Search: the `k` best documents for a `query`, text or `Query`; ties go to the document that was added first.

        `by` scores them, e.g. "bm25(k1=0.9,b=0.4)", "ql(mu=1000)"; "vectors" and "hybrid" need the vector of the
        query: `vector`, or see `encode_with`. `where` filters documents by their numbers; see `make_filter`.
        `offset` leaves out so many of the best documents: the second page of 10 is k=10, offset=10. With `syntax`, the
        query is in the query language, `"heat transfer" +slab -cold title:heat trans* slba~1`: see `query_language.py`.
        """
        if k < 1:
            raise ParameterError(f"search: k must be at least 1; got {k}.")
        if offset < 0:
            raise ParameterError(f"search: offset must be at least 0; got {offset}.")
        if not isinstance(query, str | Query):
            raise ParameterError(f"search: a query is a text; got {type(query).__name__}. Search for one at a time.")
        if isinstance(query, Query) and vector is not None:
            raise ParameterError("search: a Query has its own vector. Give it there: index.query(text, vector=…).")
        asked = self.query(query, vector=vector, syntax=syntax) if isinstance(query, str) else query
        how = Retrieval.parse(by) if isinstance(by, str) else by
        scores, numbers = how.best(self, asked, min(k + offset, max(len(self), 1)), asked.allowing(where))
        order = np.lexsort((numbers, -scores))[offset : offset + k]
        return Hits(self.ids(numbers[order]), scores[order], numbers[order])

    def ids(self, numbers: Ints) -> list[str]:
        """The ids of documents, by their `numbers`, which `Hits.numbers` has."""
        names = [""] * len(numbers)
        for segment, at, rows in self.places(numbers):
            for k, id in zip(at.tolist(), segment.ids(rows), strict=True):
                names[k] = id
        return names

    def numbers(self, ids: Sequence[str]) -> Ints:
        """The numbers of the documents `ids`; an unknown id is an error."""
        numbers = [self.store.number(str(id)) for id in ids]
        for id, n in zip(ids, numbers, strict=True):
            if n is None:
                raise DataError(f"no document {id!r}.", where=str(self.store.path))
        return np.array(numbers, np.int64)

    def places(self, numbers: Ints) -> list[tuple[Segment, Ints, Ints]]:
        """Locate documents: per segment, their places among `numbers` and their rows in the segment."""
        parts = []
        for segment in self.segments:
            rows = np.minimum(np.abs(numbers - segment.numbers[0]), len(segment) - 1)  # if no number is missing
            if not (segment.numbers[rows] == numbers).all():
                rows = np.minimum(np.searchsorted(segment.numbers, numbers), len(segment) - 1)
            at = np.flatnonzero((segment.numbers[rows] == numbers) & ~segment.dead[rows])
            if len(at):
                parts.append((segment, at, rows[at]))
        if sum(len(at) for _, at, _ in parts) != len(numbers):
            raise DataError("a document is not in the index, or was deleted.", where=str(self.store.path))
        return parts

    def statistics(self, query: Query) -> Statistics:
        """Collection statistics of the terms of a `query`."""
        m, columns = len(query.terms), len(self.fields) + 1
        df, cf, totals = np.zeros((m, columns)), np.zeros((m, columns)), np.zeros(columns)
        with tier(m * columns * len(self.segments)):
            for segment in self.segments:
                add_statistics(segment.terms, query.terms, segment.df, segment.cf, df, cf)
                totals += segment.totals
        return Statistics(len(self), totals, df, cf)

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of `make`, cached under `key` until the index changes; for a small number of keys."""
        if key not in self._kept:
            self._kept[key] = make()
        value: T = self._kept[key]
        return value

    def kept_arrays(self, key: Hashable, make: Callable[[], Arrays]) -> Arrays:
        """The arrays of `make`, under `key` in a cache of the last used, for many keys, such as parameters of searches.

        They take at most the memory of the index's own arrays, or LEAST_KEPT bytes if that is more.
        """
        return self._arrays.get(key, make)

    def scratch(self, size: int) -> Scratch:
        """Arrays for the scores of a segment of up to `size` documents, one set per thread."""
        if getattr(self._scratch, "size", -1) < size:
            self._scratch.size, self._scratch.arrays = size, Scratch.of(size)
        arrays: Scratch = self._scratch.arrays
        return arrays


def remove_index(path: str | os.PathLike[str]) -> None:
    """Remove the file of an index, its log and its cache."""
    place = Path(path)
    for end in ("", "-wal", "-shm"):
        place.with_name(place.name + end).unlink(missing_ok=True)
    shutil.rmtree(place.with_name(f"{place.name}.cache"), ignore_errors=True)


def _searched(
    documents: Sequence[Mapping[str, Any]], fields: Sequence[str] | None, *, id: str | None, title: str | None
) -> tuple[str, ...]:
    """The fields to search: those that are asked for, or those of the documents that hold text."""
    if title is not None and documents and not any(title in document for document in documents):
        raise UnknownNameError("field", title, {str(name) for document in documents for name in document})
    if fields is not None:
        names = tuple(fields)
    else:
        of_ids = id_field(documents, id)
        names = searched_fields(documents, id=of_ids, title=title or "title") if documents else ("title", "text")
    if not names:
        raise DataError("no field of the first documents holds text, so there is nothing to search.")
    check_searched(names)
    return names


@compiled
def add_statistics(terms: Int32s, wanted: Int32s, df: Int32s, cf: Ints, df_sum: Array, cf_sum: Array) -> None:
    places = find_terms(terms, wanted)
    for m in range(len(wanted)):
        if places[m] >= 0:
            for f in range(df.shape[1]):
                df_sum[m, f] += df[places[m], f]
                cf_sum[m, f] += cf[places[m], f]
