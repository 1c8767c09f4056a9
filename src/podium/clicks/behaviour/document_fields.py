"""Stored fields of documents for behaviour features, from an index, a file, or the documents themselves."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, ParameterError, UnknownNameError, counted
from podium.clicks.behaviour.base import BehaviourFeature
from podium.clicks.behaviour.stored_values import date_of, is_missing, number_of, value_key
from podium.text.collection.collection import read_documents
from podium.text.collection.field_kinds import SAMPLE
from podium.text.collection.id_field import id_field
from podium.text.collection.plain_documents import plain_documents

if TYPE_CHECKING:
    from podium.text.index.index import Index

    Documents = Index | str | os.PathLike[str] | Iterable[Any]


class DocumentFields:
    """The stored fields that features need, of the documents of a log."""

    def __init__(self, values: Mapping[str, Mapping[str, Any]], source: str | None = None) -> None:
        """`values`: of each document, by its id and the name of the field."""
        self._values, self._source = values, source

    def keys(self, field: str, ids: Sequence[str]) -> Ints:
        """Numbers of the values of documents in the order of their keys; −1 if a document has none."""  # (D,)
        keys = [self._key(field, id) for id in ids]
        numbers = {key: number for number, key in enumerate(sorted({key for key in keys if key is not None}))}
        return np.array([-1 if key is None else numbers[key] for key in keys], np.int64)

    def numbers(self, field: str, ids: Sequence[str]) -> Array:
        """Numbers of documents; NaN if a document has none."""  # (D,)
        return self._read(number_of, field, ids, "a number, or an ISO date")

    def dates(self, field: str, ids: Sequence[str]) -> Array:
        """Dates of documents, in days since 1970; NaN if a document has none."""  # (D,)
        return self._read(date_of, field, ids, "an ISO date such as 2024-06-30 or 2024-06-30T12:30:00Z")

    def _value(self, field: str, id: str) -> Any:
        return self._values.get(id, {}).get(field)

    def _key(self, field: str, id: str) -> bytes | None:
        value = self._value(field, id)
        key = value_key(value)
        if key is None and not is_missing(value):
            raise self._unfit(id, field, "one text or number, of which others have the same", value)
        return key

    def _read(self, read: Callable[[object], float | None], field: str, ids: Sequence[str], expected: str) -> Array:
        values = np.empty(len(ids))
        for place, id in enumerate(ids):
            value = read(self._value(field, id))
            if value is None:
                raise self._unfit(id, field, expected, self._value(field, id))
            values[place] = value
        return values

    def _unfit(self, id: str, field: str, expected: str, value: object) -> DataError:
        return DataError(
            f"document {id!r}: field {field!r}: expected {expected}; got {str(value)[:60]!r} "
            f"({type(value).__name__}). Write it so, or leave the field out.",
            where=self._source,
        )


def document_fields(
    features: Sequence[BehaviourFeature], documents: Documents | None, ids: Iterable[str]
) -> DocumentFields | None:
    """The stored fields that features need, of the documents with these ids; None if they need none.

    `documents` is an index, its path, a file of documents, or documents as dicts or rows of a data frame.
    """
    needs = {field: feature for feature in features for field in sorted(feature.stored_fields())}
    if not needs:
        return None
    if documents is None:
        field, feature = next(iter(needs.items()))
        raise ParameterError(
            f"{feature} needs the stored field {field!r} of documents: give documents=…, an index or documents with an "
            f"id and {field} (--documents INDEX|FILE)."
        )
    source, wanted = _source(documents), set(map(str, ids))
    values: dict[str, dict[str, Any]] = {}
    names: dict[str, None] = {}
    for id, record in _records(documents):
        names.update(dict.fromkeys(record))
        if id not in wanted:
            continue
        if id in values:
            raise DataError(f"document {id!r} is there twice. Keep one of them.", where=source)
        values[id] = {field: record[field] for field in needs if field in record}
    for field in needs:
        if field not in names:
            raise DataError(str(UnknownNameError("stored field", field, tuple(names))), where=source)
    if not values:
        raise DataError(
            f"none of the {counted(len(wanted), 'document')} of the log is here, e.g. {next(iter(wanted), '')!r}. Do "
            "their ids agree?",
            where=source,
        )
    return DocumentFields(values, source)


def _source(documents: Documents) -> str | None:
    if isinstance(documents, str | os.PathLike):
        return os.fspath(documents)
    store = getattr(documents, "store", None)
    return None if store is None else str(store.path)


def _records(documents: Documents) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The id and the fields of each document."""
    from podium.text.index.index import Index
    from podium.text.index.store import Store

    if isinstance(documents, str | os.PathLike):
        from podium.formats.sniff import sniff

        if os.path.isfile(documents) and sniff(documents) == "index":
            store = Store(documents)
            try:
                yield from ((str(record["id"]), record) for record in store.documents())
            finally:
                store.close()
            return
        documents = read_documents(documents)
    if isinstance(documents, Index):
        yield from ((str(record["id"]), record) for record in documents.store.documents())
        return
    rest = plain_documents(documents)
    first = list(itertools.islice(rest, SAMPLE))
    name = id_field(first) or "id"
    for number, record in enumerate(itertools.chain(first, rest), 1):
        if record.get(name) in (None, ""):
            raise DataError(f'document {number} has no "{name}"; got {sorted(map(str, record))[:8]}.')
        yield str(record[name]), record
