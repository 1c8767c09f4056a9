"""Flat fields: a document whose values are texts, numbers, or lists of them; objects within it become dotted names.

    >>> flat_fields({"id": 7, "brand": {"name": "Fell"}, "offers": [{"shop": "a"}, {"shop": "b"}]})
    {'id': 7, 'brand.name': 'Fell', 'offers.shop': ['a', 'b']}

Dates become ISO texts, decimals and numbers of numpy plain numbers: what a frame or a Parquet file may hold.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from podium.base.errors import DataError

_KEPT = ("links", "vector")
"""Fields with a meaning of their own, whose lists stay as they are."""
_DEEPEST = 20
_PLAIN = frozenset((str, int, float, bool, type(None)))


def flat_fields(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A document with its objects flattened; two fields of one name are an error."""
    if _PLAIN.issuperset(map(type, record.values())):
        return record
    fields: dict[str, Any] = {}
    for name, value in record.items():
        if name in _KEPT:
            fields[name] = value
        else:
            _put(fields, str(name), value, 0)
    return fields


def _put(fields: dict[str, Any], name: str, value: Any, depth: int) -> None:
    if depth > _DEEPEST:
        raise DataError(f"field {name[:60]!r} is nested more than {_DEEPEST} deep. Flatten it.")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _put(fields, f"{name}.{key}", inner, depth + 1)
        return
    if isinstance(value, (list, tuple)) and value and all(isinstance(part, Mapping) for part in value):
        for key, inner in _columns(value).items():
            _put(fields, f"{name}.{key}", inner, depth + 1)
        return
    if name in fields:
        raise DataError(f"two fields are called {name!r}. Rename one.")
    fields[name] = [_plain(part) for part in value] if isinstance(value, (list, tuple)) else _plain(value)


def _columns(objects: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The values of each key in a list of objects, in their order; lists among them are joined."""
    columns: dict[str, list[Any]] = {}
    for part in objects:
        for key, value in part.items():
            if value is not None:
                columns.setdefault(str(key), []).extend(value if isinstance(value, (list, tuple)) else [value])
    return columns


def _plain(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if value != value:  # a missing date of pandas, NaN of numpy
        return None
    if isinstance(value, (datetime.date, datetime.time)):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, np.generic):
        return value.item()
    return value
