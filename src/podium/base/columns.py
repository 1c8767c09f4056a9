"""Columns: ids and numbers from lists, arrays and series of data frames, each converted exactly or refused.

    >>> number_ids([2**63, 2**63 + 1, -1, 2**63], "query id")
    (array([0, 1, 2, 0]), ['9223372036854775808', '9223372036854775809', '-1'])
    >>> float_numbers([1, None, 2.5], "score")
    array([1. , nan, 2.5])

A column has a value per row, as (n,) or (n, 1). Ids become text: whole numbers without a point, whatever their type,
and bytes as UTF-8. Masked values, None, NaN, NaT and NA are missing: no id, and NaN among numbers. A value that would
be rounded to another id or whole number is refused, and so are text, times and complex numbers in place of numbers.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
from collections.abc import Mapping, Set
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError


def number_ids(
    values: object, what: str, *, where: str | None = None, optional: bool = False
) -> tuple[Ints, list[str]]:
    """Number the ids by first appearance; also the different ids as text. A missing id is −1 if ids are optional."""
    ids = exact_ids(values, what, where=where, optional=optional)
    if ids.dtype.kind == "O":
        numbers_of: dict[str | None, int] = {None: -1}
        codes = (numbers_of.setdefault(name, len(numbers_of) - 1) for name in ids)
        return np.fromiter(codes, np.int64, len(ids)), [name for name in numbers_of if name is not None]
    different, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(different), np.int64)
    place[order] = np.arange(len(different))
    return place[inverse], list(map(str, different[order].tolist()))


def text_ids(values: object, what: str, *, where: str | None = None) -> NDArray[Any]:
    """Each id as text."""  # (n,) of str
    ids = exact_ids(values, what, where=where)
    return ids if ids.dtype.kind == "O" else _objects(list(map(str, ids.tolist())))


def exact_ids(values: object, what: str, *, where: str | None = None, optional: bool = False) -> NDArray[Any]:
    """Ids as whole numbers if all of them are, else as text; none is rounded.

    A missing id is refused, or None if ids are optional.
    """
    column = plain_column(values, what, where=where)
    if column.dtype.kind in "iu":
        return column
    if column.dtype.kind == "f" and (np.trunc(column) == column).all() and (np.abs(column) < _exact(column)).all():
        return column.astype(np.int64)
    items = column.tolist() if column.dtype.kind in "bUSTO" else list(column)
    if set(map(type, items)) == {str} and _is_writable("".join(items)):
        return _objects(items)
    texts: list[str | None] = []
    for row, value in enumerate(items):
        if is_missing(value):
            if optional:
                texts.append(None)
                continue
            raise DataError(f"row {row} has no {what}. Fill it in or drop the row.", where=where)
        try:
            texts.append(id_text(value))
        except ValueError as error:
            _refuse_row(what, row, str(error), where)
    return _objects(texts)


def check_row_order(where: str | None = None, **columns: Any) -> None:
    """Refuse pandas series with the first one's index in another order: rows are matched by place, not by index."""
    indexes = {name: x.index for name, x in columns.items() if hasattr(getattr(x, "index", None), "equals")}
    for name, index in indexes.items():
        first = next(iter(indexes))
        other = indexes[first]
        if not index.equals(other) and index.is_unique and len(index) == len(other) and set(index) == set(other):
            raise DataError(
                f"{name} and {first} have the same index in another order, and rows go by their place. Bring them into "
                f"one order, or give {name} as an array if it is.",
                where=where,
            )


def whole_numbers(values: object, what: str, *, where: str | None = None) -> Ints:
    """Whole numbers as int64, from any type that holds them exactly."""  # (n,)
    ids = exact_ids(values, what, where=where)
    if len(ids) and (ids.dtype.kind not in "iu" or int(ids.max()) >= 2**63):
        raise DataError(
            f"{_plural(what)} must be whole numbers; got {', '.join(map(_shown, ids[:5].tolist()))}.", where=where
        )
    return ids.astype(np.int64)


def id_text(value: object) -> str:
    """An id as text; a ValueError says why a value is not an id."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, str):
        if not _is_writable(value):
            raise ValueError(f"{value!r} holds half a character, which no file can hold.")
        return str(value)
    if _holds_others(value) or _has_no_text(type(value)) or is_missing(value):
        raise ValueError(f"{_shown(value)} is no id; give text or a whole number.")
    if isinstance(value, np.datetime64 | datetime.datetime):
        return _time_text(value)
    return _number_text(value) if _is_number(value) else str(value)


def is_missing(value: object) -> bool:
    """Whether a value is missing: None, NaN, NaT or pandas' NA."""
    try:
        return value is None or (not _holds_others(value) and bool(value != value))
    except (TypeError, ArithmeticError):  # NA, and a Decimal's signalling NaN
        return True


def float_numbers(values: object, what: str, *, where: str | None = None) -> Array:
    """Numbers as a new array of 64-bit floats; missing ones are NaN."""  # (n,)
    column = plain_column(values, what, where=where)
    kind = column.dtype.kind
    if kind not in "biufO":
        raise DataError(f"{_plural(what)} must be numbers; got {kind_of(column)}.", where=where)
    if kind == "O" or (kind in "iu" and len(column) and not -_MOST <= int(column.min()) <= int(column.max()) <= _MOST):
        return float_cells(column, what, where=where)
    with np.errstate(over="ignore"):
        floats = column.astype(np.float64)
    return floats if column.dtype.itemsize <= 8 else _not_overflown(floats, column, what, where)


def float_cells(cells: NDArray[Any], what: str, *, where: str | None = None) -> Array:
    """Convert cells of any values to floats, one by one; the shape stays."""
    floats = np.empty(cells.size)
    for at, value in enumerate(cells.ravel().tolist()):
        try:
            floats[at] = exact_float(value)
        except ValueError as error:
            _refuse_row(what, at // (cells.shape[1] if cells.ndim > 1 else 1), str(error), where)
    return floats.reshape(cells.shape)


def exact_float(value: object) -> float:
    """A number as a float, NaN if it is missing; a ValueError says why a value is not a number."""
    if isinstance(value, str | bytes | np.timedelta64) or _holds_others(value):
        raise ValueError(f"{_shown(value)} is no number.")
    if is_missing(value):
        return np.nan
    if not isinstance(value, numbers.Number | np.bool_) or isinstance(value, complex | np.complexfloating):
        raise ValueError(f"{_shown(value)} is no number.")
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise ValueError(f"{_shown(value)} is beyond 64-bit floats.") from None
    if isinstance(value, numbers.Integral) and int(number) != value:
        raise ValueError(f"{value} would be rounded to {number:.0f}, as other whole numbers are. Give smaller ones.")
    return number


def plain_column(values: object, what: str, *, where: str | None = None) -> NDArray[Any]:
    """A value per row as an array of numbers, or of objects if some are missing or of another type."""  # (n,)
    if isinstance(values, np.ma.MaskedArray):
        column = without_mask(values)
    elif isinstance(values, str | bytes | Mapping | Set) or not (
        hasattr(values, "__iter__") or hasattr(values, "__array__")
    ):
        raise DataError(f"{_plural(what)}: expected one per row, in order; got {type(values).__name__}.", where=where)
    elif isinstance(values, np.ndarray):
        column = np.asarray(values)
    elif hasattr(values, "__array__"):
        column = _of_series(values)
    else:
        column = _of_list(list(values))  # type: ignore[call-overload]
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise DataError(f"{_plural(what)}: expected one per row; got shape {column.shape}.", where=where)
    return column.astype(column.dtype.newbyteorder("="), copy=False) if column.dtype.kind in "iuf" else column


def without_mask(values: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """A masked array as a plain one; masked cells are None."""
    plain = np.asarray(values.data)
    if plain.dtype.kind == "V" or not np.ma.is_masked(values):
        return plain
    cells = plain.astype(object)
    cells[np.ma.getmaskarray(values)] = None
    return cells


def kind_of(array: NDArray[Any]) -> str:
    """The kind of values in an array, for error messages."""
    return _KINDS.get(array.dtype.kind, f"values of type {array.dtype}")


_MOST = 2**53  # every whole number up to it is a 64-bit float
_KINDS = {"U": "text", "S": "text", "T": "text", "M": "times", "m": "lengths of time", "c": "complex numbers"}


def _of_series(values: Any) -> NDArray[Any]:
    """A series of pandas, polars or pyarrow, or a tensor; whole numbers stay whole if others are missing."""
    try:
        column = np.asarray(values)
        if column.dtype.kind != "f" or not np.isnan(column).any():
            return column
    except Exception:  # of any library: polars has whole numbers that numpy has not
        column = _objects(list(values))
    listed = next((getattr(values, name) for name in ("to_pylist", "to_list") if hasattr(values, name)), None)
    return column if listed is None else _objects(listed())


def _of_list(values: list[Any]) -> NDArray[Any]:
    """A list as an array; np.array would round whole numbers among floats, and cut NULs from text."""
    kinds = set(map(type, values))
    whole = all(issubclass(kind, int | np.integer) and not issubclass(kind, bool | np.timedelta64) for kind in kinds)
    if kinds and (whole or kinds == {float}):
        array = np.array(list(map(int, values)) if whole else values)
        return array if array.dtype.kind in ("iu" if whole else "f") else _objects(values)
    if kinds and kinds <= {list, tuple, np.ndarray}:
        try:
            return np.array(values, object)
        except ValueError:  # rows of several lengths
            pass
    return _objects(values)


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _holds_others(value: object) -> bool:
    """Whether a value is a list, an array, a record or another container."""
    if isinstance(value, str | bytes | np.generic):
        return isinstance(value, np.void)
    return hasattr(value, "__iter__") or hasattr(value, "__array__")


def _has_no_text(kind: Any) -> bool:
    return kind.__repr__ is object.__repr__ and kind.__str__ is object.__str__


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Number) and not isinstance(value, bool | np.timedelta64)


def _number_text(value: Any) -> str:
    if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real):
        raise ValueError(f"{value} is a complex number, which is no id.")
    try:
        whole = int(value)
    except (OverflowError, ArithmeticError):
        raise ValueError(f"{value} is no finite number.") from None
    if whole != value:
        return f"{value:f}".rstrip("0") if isinstance(value, decimal.Decimal) else str(value)
    if isinstance(value, float | np.floating) and abs(whole) >= _exact(np.asarray(value)):
        raise ValueError(
            f"{value} is a float so large that other whole numbers are rounded to it. Give ids as integers or text."
        )
    return str(whole)


def _time_text(value: np.datetime64 | datetime.datetime) -> str:
    """A time as text, the same for datetime and numpy: no fraction of a second, or 6 digits, or 9."""
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    whole, _, fraction = str(value).partition(".")
    digits = fraction.rstrip("0")
    return f"{whole}.{digits.ljust(6 if len(digits) <= 6 else 9, '0')}" if digits else whole


def _exact(column: NDArray[Any]) -> int:
    """Limit below which a float of the column's type is exactly one whole number."""
    return int(2 ** (np.finfo(column.dtype).nmant + 1))


def _is_writable(text: str) -> bool:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _not_overflown(floats: Array, column: NDArray[Any], what: str, where: str | None) -> Array:
    bad = np.flatnonzero(np.isinf(floats) & np.isfinite(column))
    if len(bad):
        _refuse_row(what, int(bad[0]), f"{column[bad[0]]} is beyond 64-bit floats.", where)
    return floats


def _plural(what: str) -> str:
    noun, of, whose = what.partition(" of ")
    return f"{noun[:-1]}ies{of}{whose}" if noun.endswith("y") else f"{noun}s{of}{whose}"


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:60]}…"


def _refuse_row(what: str, row: int, why: str, where: str | None) -> NoReturn:
    raise DataError(f"row {row}: {what} {why}", where=where)
