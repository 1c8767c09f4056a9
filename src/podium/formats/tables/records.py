"""Records: rows with named columns, from CSV, TSV, JSON, JSON lines, Parquet and Arrow files, and from data frames.

    >>> import io
    >>> records = read_records(io.BytesIO(b'{"qid": "q1", "docno": "d7"}'))
    >>> records.columns
    {'qid': ['q1'], 'docno': ['d7']}

Cells of CSV and TSV are text: 007 stays 007. A column that a JSON record lacks is None there. The separator of a table
is the most frequent of comma, tab, semicolon and bar in its first line.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name
from podium.data.frames import frame_table
from podium.formats.sniff import table_kind
from podium.parsing.ids import first_repeated

LARGEST_JSON = 2**30
"""Bytes of the largest JSON document, and of the longest JSON line; larger data comes as lines, CSV or Parquet."""
_SPARSE = 50  # empty cells for each that is not, in a table of JSON objects


@dataclass(frozen=True)
class Records:
    """Rows with named columns."""

    columns: dict[str, Any]
    """A value per row, by name: a list, or the column of a frame."""
    source: str | None = None
    lines: Sequence[int] | None = None
    """The line of each row in its file; None if rows have no lines."""
    note: str | None = None
    """How its columns were made from others."""

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def where(self, row: int) -> str:
        """The place of a row, for error messages."""
        if self.lines is not None:
            return f"{self.source}:{self.lines[row]}"
        return f"{self.source}: row {row + 1}" if self.source else f"row {row + 1}"


def read_records(source: Source) -> Records:
    """Read a file of rows: Parquet and Arrow by its name, JSON and tables by its first character."""
    name = source_name(source)
    if isinstance(source, str | os.PathLike) and table_kind(name) in ("parquet", "arrow"):
        from podium.formats.tables.tables import read_frame

        return read_frame(source, lambda frame: frame_records(frame, source=name))
    with reading(source) as file:
        head = file.peek(1)[:64].lstrip(b"\xef\xbb\xbf \t\r\n")  # type: ignore[attr-defined]
        if head[:1] in (b"{", b"["):
            return json_records(*json_values(file, name), source=name)
        return _csv_records(file, name)


def frame_records(frame: object, *, source: str | None = None) -> Records:
    """The columns of a data frame of pandas, polars or pyarrow."""
    table = frame_table(frame, source=source)
    return Records({name: table[name] for name in table.columns}, source)


def row_records(rows: Iterable[Any], *, source: str | None = None) -> Records:
    """Records from named tuples, such as those of ir_measures and ir_datasets, or from dicts."""
    return json_records([row._asdict() if hasattr(row, "_asdict") else row for row in rows], None, source=source)


def json_records(values: Sequence[Any], lines: Sequence[int] | None, *, source: str | None) -> Records:
    """Records from dicts; a column is there if any of them has it."""
    names: dict[Any, None] = {}
    cells = 0
    for row, value in enumerate(values):
        if not isinstance(value, Mapping):
            where = f"{source}:{lines[row]}" if lines is not None else f"{source or 'rows'}: row {row + 1}"
            raise DataError(f"expected an object with named values; got {_shown(value)}.", where=where)
        names.update(dict.fromkeys(value))
        cells += len(value)
    if len(names) * len(values) > _SPARSE * cells + 10**6:
        raise DataError(f"{len(values)} rows have {len(names)} different names, and few in common.", where=source)
    return Records({str(name): [value.get(name) for value in values] for name in names}, source, lines)


def json_values(file: BinaryIO, name: str) -> tuple[list[Any], list[int] | None]:
    """The values of JSON lines, with their lines; or the entries of one JSON list, or one other JSON value."""
    rows = list(json_stream(file, name))
    lines = [line for line, _ in rows if line is not None]
    return [value for _, value in rows], lines or None


def json_stream(file: BinaryIO, name: str) -> Iterator[tuple[int | None, Any]]:
    """The values of JSON lines as they are read, with their lines; or the entries of one JSON value, without lines.

    A key twice in an object is an error: which of the two counts would be a guess.
    """
    first = file.readline(LARGEST_JSON + 1)
    while first and not first.strip(b"\xef\xbb\xbf \t\r\n"):
        first = file.readline(LARGEST_JSON + 1)
    if first.lstrip(b"\xef\xbb\xbf \t").startswith(b"{"):
        try:
            value = _loads(first)
        except (ValueError, RecursionError) as error:
            if isinstance(error, DataError):
                raise DataError(str(error), where=f"{name}:1") from None
        else:
            yield 1, value
            yield from _json_lines(file, name)
            return
    whole = first + file.read(LARGEST_JSON + 1 - len(first))
    if len(whole) > LARGEST_JSON:
        raise DataError("more than 1 GiB of one JSON value. Write it as JSON lines, CSV or Parquet.", where=name)
    try:
        value = _loads(whole)
    except (ValueError, RecursionError) as error:
        _refuse_json(error, name)
    yield from ((None, entry) for entry in (value if isinstance(value, list) else [value]))


def _json_lines(file: BinaryIO, name: str) -> Iterator[tuple[int, Any]]:
    number = 1
    while line := file.readline(LARGEST_JSON + 1):
        number += 1
        if not line.strip():
            continue
        try:
            yield number, _loads(line)
        except (ValueError, RecursionError) as error:
            _refuse_json(error, f"{name}:{number}")


def _loads(text: bytes) -> Any:
    return json.loads(text.removeprefix(b"\xef\xbb\xbf"), object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        twice = first_repeated(key for key, _ in pairs)
        raise DataError(f"{twice!r} is there twice in one JSON object. Keep one of the two.")
    return value


def _refuse_json(error: Exception, where: str) -> NoReturn:
    if isinstance(error, DataError):
        raise DataError(str(error), where=where) from None
    why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    raise DataError(f"cannot be read as JSON: {why}.", where=where) from None


def _csv_records(file: BinaryIO, name: str) -> Records:
    text = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="")
    first = text.readline()
    while first and not first.strip():
        first = text.readline()
    rows = csv.reader(itertools.chain([first], text), delimiter=_separator(first), strict=True)
    try:
        heads = [head.strip() for head in next(rows, [])]
        twice = first_repeated(heads)
        if twice is not None:
            raise DataError(f"two columns are called {twice!r}. Rename one.", where=f"{name}:1")
        columns: dict[str, list[str]] = {head: [] for head in heads}
        lines: list[int] = []
        for row in rows:
            if not row:
                continue
            if len(row) != len(heads):
                raise DataError(
                    f"{len(row)} values, but the first line names {len(heads)} columns.",
                    where=f"{name}:{rows.line_num}",
                )
            for column, cell in zip(columns.values(), row, strict=True):
                column.append(cell.strip())
            lines.append(rows.line_num)
    except csv.Error as error:
        raise DataError(f"cannot be read as a table: {error}.", where=f"{name}:{rows.line_num}") from None
    finally:
        text.detach()  # the file stays open
    return Records(columns, name, lines)


def _separator(first: str) -> str:
    """The separator of a table, from its first line."""
    return max(",\t;|", key=first.count)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
