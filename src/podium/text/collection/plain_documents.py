"""Documents for an index as mappings with flat fields, from whatever holds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from podium.base.errors import DataError
from podium.formats.elastic_dump import document_of
from podium.text.collection.flat_fields import flat_fields


def plain_documents(documents: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Documents as mappings: from dicts, named tuples, hits of Elasticsearch, or the rows of a data frame."""
    if hasattr(type(documents), "columns"):  # asked of a lazy frame, polars would warn
        from podium.data.frames import frame_table

        documents = frame_table(documents).iter_rows(named=True)
    return map(plain, documents)


def plain(document: object) -> Mapping[str, Any]:
    """A document as a mapping with flat fields."""
    if isinstance(document, Mapping):
        return flat_fields(document_of(document))
    if hasattr(document, "_asdict"):
        fields: Mapping[str, Any] = document._asdict()
        return flat_fields(fields)
    raise DataError(f"a document must be a dict or a named tuple; got {type(document).__name__}.")
