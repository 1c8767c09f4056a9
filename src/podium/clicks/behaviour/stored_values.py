"""Stored values of documents as keys, numbers and dates; the batch and the service read them alike."""

from __future__ import annotations

import hashlib
import math

from podium.text.collection.number_text import read_date, read_number


def is_missing(value: object) -> bool:
    """Whether a stored value counts as none: null, NaN, or an empty text or list."""
    return value is None or value in ("", []) or value != value


def value_key(value: object) -> bytes | None:
    """Key of a single value, the same for equal texts and for equal numbers; None if it is missing or a list."""
    if is_missing(value):
        return None
    match value:
        case bool():
            text = f"b{value}"
        case int():
            text = f"n{value}"
        case float() if math.isfinite(value):
            text = f"n{int(value)}" if value.is_integer() else f"n{value!r}"
        case str():
            text = f"t{value}"
        case _:
            return None
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def number_of(value: object) -> float | None:
    """A stored number, or an ISO date as days since 1970; NaN if it is missing, None if it is something else."""
    if is_missing(value):
        return math.nan
    if isinstance(value, str):
        return read_number(value)
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def date_of(value: object) -> float | None:
    """A stored ISO date as days since 1970; NaN if it is missing, None if it is something else."""
    if is_missing(value):
        return math.nan
    return read_date(value) if isinstance(value, str) else None
