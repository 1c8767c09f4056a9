"""Document: text fields, stored fields, links and vector for an index, checked, from a dict.

>>> Document.read({"id": 7, "title": "Heat", "text": "slabs", "year": 1961}, fields=("title", "text"))
Document(id='7', text={'title': 'Heat', 'text': 'slabs'}, stored={'year': 1961}, links=(), vector=None, where=None)
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.base.arrays import Singles
from podium.base.errors import DataError
from podium.text.collection.id_field import id_field


@dataclass(frozen=True)
class Document:
    """A document for an index, checked."""

    id: str
    text: dict[str, str]
    """Fields that are searched, and all other fields of long text."""
    stored: dict[str, Any]
    """Numbers, short texts and lists: for filters and features."""
    links: tuple[str, ...] = ()
    """Ids of the documents to which it links."""
    vector: Singles | None = None
    where: str | None = None
    """Its source, for messages."""

    @classmethod
    def read(
        cls, record: Mapping[str, Any], *, fields: Sequence[str], id: str | None = None, where: str | None = None
    ) -> Document:
        """Read a document from a dict: its id, in the field `id` or one with a usual name, text fields, and others."""
        of_id = id_field([record]) or "id" if id is None else id
        if of_id not in record:
            raise DataError(
                f'a document needs an "{of_id}"; got {sorted(map(str, record))[:8]}. If another field is the id, '
                "choose it: id=… (--id).",
                where=where,
            )
        id = _id(record[of_id], where)
        text, stored = {}, {}
        for key, value in record.items():
            if key in (of_id, "links", "vector") or value is None:
                continue
            if isinstance(value, float) and not math.isfinite(value):
                continue  # a missing value
            if key in fields:
                text[str(key)] = _text(value, id, str(key), where)
            else:
                stored[str(key)] = value
        return cls(id, text, stored, _links(record, id, where), _vector(record, id, where), where)


def _id(value: object, where: str | None) -> str:
    id = str(value)
    if not isinstance(value, (str, numbers.Integral)) or not id or not _is_unicode(id):
        raise DataError(
            f"a document's id must be text that is not empty, or a whole number; got {value!r}.", where=where
        )
    return id


def _text(value: object, id: str, field: str, where: str | None) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(part, (str, int, float, type(None))) for part in value):
        return "\n".join(str(part) for part in value if part is not None)
    if isinstance(value, (bool, int, float)):
        return str(value)
    raise DataError(f"document {id!r}: field {field!r} must be text; got {type(value).__name__}.", where=where)


def _links(record: Mapping[str, Any], id: str, where: str | None) -> tuple[str, ...]:
    links = record.get("links")
    if not links:
        return ()
    if isinstance(links, str) or not all(isinstance(to, (str, int)) and _is_unicode(str(to)) for to in links):
        raise DataError(f'document {id!r}: "links" must be a list of ids; got {links!r}.', where=where)
    return tuple(map(str, links))


def _vector(record: Mapping[str, Any], id: str, where: str | None) -> Singles | None:
    if record.get("vector") is None:
        return None
    try:
        vector = np.asarray(record["vector"], np.float32)
    except (TypeError, ValueError):
        vector = np.empty((0, 0), np.float32)
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise DataError(f'document {id!r}: "vector" must be a list of finite numbers.', where=where)
    return vector


def _is_unicode(text: str) -> bool:
    """Whether a text has no lone surrogate, which cannot be encoded."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)
