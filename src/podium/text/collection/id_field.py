"""Id field: the field of documents that holds their id.

>>> id_field([{"sku": "P1", "name": "Tent"}])
'sku'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from podium.base.errors import DataError, UnknownNameError

_FIRST = ("id", "_id")
_USUAL = ("doc_id", "docid", "docno", "document_id", "product_id", "sku", "asin")
_LAST = ("url",)


def id_field(documents: Sequence[Mapping[str, Any]], wanted: str | None = None) -> str | None:
    """The field that holds the ids: `wanted`, or the one with a usual name; None if there is none.

    `id` and `_id` come first, `url` last. If two others could be meant, that is an error.
    """
    names = dict.fromkeys(str(name) for document in documents for name in document)
    if wanted is not None:
        if wanted not in names:
            raise UnknownNameError("field", wanted, tuple(names))
        return wanted
    usual = {word: name for name in reversed(names) if (word := _word(name)) in (*_FIRST, *_USUAL, *_LAST)}
    for word in _FIRST:
        if word in usual:
            return word if word in names else usual[word]
    others = [name for word, name in usual.items() if word in _USUAL]
    if len(others) > 1:
        words = " or ".join(name for name in names if name in others)
        raise DataError(
            f"which field is the id of a document: {words}? Choose one: id=… (--id). The fields are {', '.join(names)}."
        )
    return next((usual[word] for word in (*_USUAL, *_LAST) if word in usual), None)


def _word(name: str) -> str:
    """A name in small letters, with underscores."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")
