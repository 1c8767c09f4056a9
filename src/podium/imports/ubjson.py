"""UBJSON, the binary JSON of XGBoost: parse it into plain values.

>>> loads(b'{i\\x01aU\\x05}')
{'a': 5}
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.imports.foreign_file import refuse

_NUMBERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
_DEEP = 64


def loads(raw: bytes) -> Any:
    """Parse a whole file."""
    value, at = _value(raw, 0, _DEEP)
    if at != len(raw):
        refuse(f"{len(raw) - at} bytes follow its end.")
    return value


def _take(raw: bytes, at: int, n: int) -> bytes:
    if n < 0 or at + n > len(raw):
        refuse("it is cut short or damaged.")
    return raw[at : at + n]


def _value(raw: bytes, at: int, deep: int) -> tuple[Any, int]:
    mark = _take(raw, at, 1)
    return _typed(raw, at + 1, mark, deep)


def _typed(raw: bytes, at: int, mark: bytes, deep: int) -> tuple[Any, int]:
    """The value after its type mark."""
    if deep == 0:
        refuse(f"it is nested more than {_DEEP} deep.")
    if mark in _NUMBERS:
        kind = np.dtype(_NUMBERS[mark])
        return np.frombuffer(_take(raw, at, kind.itemsize), kind)[0].item(), at + kind.itemsize
    if mark in (b"Z", b"T", b"F"):
        return {b"Z": None, b"T": True, b"F": False}[mark], at
    if mark == b"C":
        return _take(raw, at, 1).decode("latin-1"), at + 1
    if mark == b"S":
        return _text(raw, at)
    if mark == b"[":
        return _array(raw, at, deep - 1)
    if mark == b"{":
        return _object(raw, at, deep - 1)
    return refuse(f"it is not UBJSON, or damaged: {mark!r} at byte {at - 1}.")


def _length(raw: bytes, at: int) -> tuple[int, int]:
    mark = _take(raw, at, 1)
    if mark not in _NUMBERS or mark in (b"d", b"D"):
        refuse(f"it is not UBJSON, or damaged: no length at byte {at}.")
    value, at = _typed(raw, at + 1, mark, 1)
    if not 0 <= value <= len(raw):
        refuse(f"it claims {value} entries, more than it can hold.")
    return value, at


def _text(raw: bytes, at: int) -> tuple[str, int]:
    n, at = _length(raw, at)
    try:
        return _take(raw, at, n).decode(), at + n
    except UnicodeDecodeError:
        refuse(f"it is damaged: the text at byte {at} is not UTF-8.")


def _head(raw: bytes, at: int) -> tuple[bytes | None, int | None, int]:
    """Type and number of the entries, if a container begins with them."""
    kind, count = None, None
    if raw[at : at + 1] == b"$":
        kind, at = _take(raw, at + 1, 1), at + 2
    if raw[at : at + 1] == b"#":
        count, at = _length(raw, at + 1)
    if kind is not None and (count is None or kind not in _NUMBERS):
        refuse(f"it is not UBJSON, or damaged: a typed container without a length at byte {at}.")
    return kind, count, at


def _array(raw: bytes, at: int, deep: int) -> tuple[list[Any], int]:
    kind, count, at = _head(raw, at)
    if kind is not None and count is not None:
        size = np.dtype(_NUMBERS[kind]).itemsize
        return np.frombuffer(_take(raw, at, size * count), _NUMBERS[kind]).tolist(), at + size * count
    values: list[Any] = []
    while count is None or len(values) < count:
        if count is None and raw[at : at + 1] == b"]":
            return values, at + 1
        value, at = _value(raw, at, deep)
        values.append(value)
    return values, at


def _object(raw: bytes, at: int, deep: int) -> tuple[dict[str, Any], int]:
    kind, count, at = _head(raw, at)
    values: dict[str, Any] = {}
    done = 0
    while count is None or done < count:
        if count is None and raw[at : at + 1] == b"}":
            return values, at + 1
        key, at = _text(raw, at)
        value, at = _value(raw, at, deep) if kind is None else _typed(raw, at, kind, deep)
        values[key] = value
        done += 1
    return values, at
