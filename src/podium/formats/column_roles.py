"""Column roles: find the columns of a table by their names, and read them from a CSV file."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Collection, Mapping
from typing import Any

from podium.base.errors import DataError
from podium.base.files import reading

Names = Mapping[str, tuple[str, ...]]
"""Names that the column of each role may have."""


def column_roles(
    columns: list[str], names: Names, *, expected: str, optional: Collection[str] = (), source: str | None
) -> dict[str, str]:
    """The column of each role; `expected` lists the columns for error messages."""
    roles: dict[str, str] = {}
    for role, accepted in names.items():
        there = [name for name in columns if name in accepted]
        if len(there) > 1:
            raise DataError(f"more than one column for the {role}: {', '.join(there)}. Keep one.", where=source)
        if there:
            roles[role] = there[0]
        elif role not in optional:
            got = ", ".join(map(str, columns[:12])) or "none"
            raise DataError(f"no column {role!r}; expected {expected}; got {got}.", where=source)
    return roles


def read_csv_roles(
    path: str | os.PathLike[str],
    roles: Callable[[list[str]], dict[str, str]],
    value: Callable[[str, str, str], Any],
) -> tuple[dict[str, list[Any]], list[int]]:
    """Read the values of each role from a CSV file, and the line number of each row.

    `roles` finds the columns by the names in the first line; `value(role, word, where)` parses a value.
    """
    name = os.fspath(path)
    lines: list[int] = []
    with reading(path) as file:
        rows = csv.reader(io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline=""), strict=True)
        try:
            head = next(rows, [])
            places = {role: head.index(column) for role, column in roles(head).items()}
            values: dict[str, list[Any]] = {role: [] for role in places}
            for row in rows:
                if not row:
                    continue
                where = f"{name}:{rows.line_num}"
                if len(row) != len(head):
                    raise DataError(f"{len(row)} values, but the first line names {len(head)} columns.", where=where)
                for role, place in places.items():
                    values[role].append(value(role, row[place].strip(), where))
                lines.append(rows.line_num)
        except csv.Error as error:
            raise DataError(f"cannot be read as CSV: {error}.", where=f"{name}:{rows.line_num}") from error
    return values, lines


def finite_number(word: str, role: str, where: str, *, otherwise: str = "") -> float:
    """Parse a finite number."""
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or "_" in word:
        raise DataError(f"the {role} must be a number{otherwise}; got {word[:60]!r}.", where=where)
    return number
