"""Document: what an index takes in, from a plain dict.

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
from numpy.typing import NDArray

from podium.base.errors import DataError

_IDS = ("id", "doc_id", "docno", "_id")


@dataclass(frozen=True)
class Document:
    """A document, checked."""

    id: str
    text: dict[str, str]
    """Fields that are searched, and all other fields of long text."""
    stored: dict[str, Any]
    """Numbers, short texts and lists: for filters and features."""
    links: tuple[str, ...] = ()
    """Ids of documents that it links to."""
    vector: NDArray[np.float32] | None = None
    where: str | None = None
    """Where it came from, for messages."""

    @classmethod
    def read(cls, given: Mapping[str, Any], *, fields: Sequence[str], where: str | None = None) -> Document:
        """A document from a dict: an id, the text fields, and any others."""
        name = next((word for word in _IDS if word in given), None)
        if name is None:
            raise DataError(f'a document needs an "id"; got {sorted(map(str, given))[:8]}.', where=where)
        id = str(given[name])
        if not isinstance(given[name], (str, numbers.Integral)) or not id or not _is_unicode(id):
            raise DataError(
                f"a document's id must be text that is not empty, or a whole number; got {given[name]!r}.", where=where
            )
        text, stored = {}, {}
        for key, value in given.items():
            if key in (name, "links", "vector") or value is None:
                continue
            if isinstance(value, float) and not math.isfinite(value):
                continue  # a missing value
            if key in fields:
                text[str(key)] = _text(value, id, str(key), where)
            else:
                stored[str(key)] = value
        return cls(id, text, stored, _links(given, id, where), _vector(given, id, where), where)


def text_fields(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields of a document that are searched unless told: title and text; else all fields that hold text."""
    usual = [name for name in ("title", "text") if isinstance(given.get(name), str)]
    texts = [key for key, value in given.items() if isinstance(value, str) and key not in (*_IDS, "url", "path")]
    return tuple(usual or texts)


def _text(value: Any, id: str, field: str, where: str | None) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    if isinstance(value, (bool, int, float)):
        return str(value)
    raise DataError(f"document {id!r}: field {field!r} must be text; got {type(value).__name__}.", where=where)


def _links(given: Mapping[str, Any], id: str, where: str | None) -> tuple[str, ...]:
    found = given.get("links")
    if not found:
        return ()
    if isinstance(found, str) or not all(isinstance(one, (str, int)) and _is_unicode(str(one)) for one in found):
        raise DataError(f'document {id!r}: "links" must be a list of ids; got {found!r}.', where=where)
    return tuple(str(one) for one in found)


def _vector(given: Mapping[str, Any], id: str, where: str | None) -> NDArray[np.float32] | None:
    if given.get("vector") is None:
        return None
    try:
        found = np.asarray(given["vector"], np.float32)
    except (TypeError, ValueError):
        found = np.empty((0, 0), np.float32)
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise DataError(f'document {id!r}: "vector" must be a list of finite numbers.', where=where)
    return found


def _is_unicode(text: str) -> bool:
    """Whether a text has no half of a pair of surrogates, which no file can hold."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)
