"""Documents in files of Elasticsearch and OpenSearch.

{"_index": "shop", "_id": "7", "_source": {…}}                     a line for each document, as elasticdump writes
{"index": {"_id": "7"}} and on the next line {…}                   two lines for each document, as for _bulk
{"hits": {"hits": [{"_id": "7", "_source": {…}}, …]}}              the response to a search

>>> document_of({"_index": "shop", "_id": "7", "_source": {"name": "Tent"}})
{'_id': '7', 'name': 'Tent'}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from podium.base.errors import DataError

_ACTIONS = ("index", "create", "update", "delete")


def document_of(record: Mapping[str, Any], *, where: str | None = None) -> Mapping[str, Any]:
    """The fields of a hit, with its `_id`; any other record as it is."""
    source = record.get("_source")
    if isinstance(source, Mapping):
        return _with_id(record.get("_id"), source)
    if "_index" in record and "_id" in record:
        raise DataError(
            "a document of a search engine without its fields: no _source. Export it with _source.", where=where
        )
    return record


def documents_of(records: Iterable[tuple[int, dict[str, Any]]], name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The documents in records, given with the numbers of their lines; records of other kinds stay as they are."""
    action: tuple[int, dict[str, Any]] | None = None
    for number, record in records:
        where = f"{name}:{number}"
        if action is not None:
            yield number, _with_id(action[1].get("_id"), record)
            action = None
        elif is_response(record):
            for hit in record["hits"]["hits"]:
                if not isinstance(hit, dict):
                    raise DataError(f"a hit must be an object; got {json.dumps(hit)[:60]}.", where=where)
                yield number, document_of(hit, where=where)
        elif (named := _action(record)) is not None:
            if named not in ("index", "create"):
                raise DataError(
                    f"a bulk action {named!r}, which has no whole document. Leave it out: index and create are read.",
                    where=where,
                )
            action = number, record[named]
        else:
            yield number, document_of(record, where=where)
    if action is not None:
        raise DataError("the file ends with a bulk action without its document.", where=f"{name}:{action[0]}")


def is_response(record: object) -> bool:
    """Whether a value is the response to a search."""
    hits = record.get("hits") if isinstance(record, dict) else None
    return isinstance(hits, dict) and isinstance(hits.get("hits"), list)


def _action(record: Mapping[str, Any]) -> str | None:
    """The action that a line of a bulk file names; None for a document."""
    if len(record) != 1:
        return None
    [(name, value)] = record.items()
    about = isinstance(value, dict) and all(key.startswith("_") or key in _KEYS for key in value)
    return name if name in _ACTIONS and about else None


_KEYS = {"routing", "version", "version_type", "pipeline", "require_alias", "op_type", "if_seq_no", "if_primary_term"}


def _with_id(id: object, source: Mapping[str, Any]) -> dict[str, Any]:
    return dict(source) if id is None else {"_id": id, **source}
