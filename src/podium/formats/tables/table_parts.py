"""Parquet tables in one file, or in a folder of files, which are one table in the order of their names.

They may be on any store that fsspec supports. Rows of a query may be in several row groups and files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

from podium.base.errors import DataError
from podium.formats.remote import is_url, listed, opened
from podium.formats.sniff import table_kind

PARTS = {
    "train": ("train", "training"),
    "valid": ("vali", "valid", "validation", "val", "dev"),
    "test": ("test", "testing"),
}
"""Names of files of training, validation and test data, which are not parts of one table."""


def part_files(place: str) -> list[str]:
    """The files of a table: itself, or those of a folder, without names that begin with "." or "_"."""
    inside = listed(place)
    if inside is None:
        return [place]
    names = {file: file.rstrip("/").rpartition("/")[2] for file in inside}
    return [file for file, name in names.items() if table_kind(name) == "parquet" and name[0] not in "._"]


def is_parquet(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this is the path or URL of Parquet: of a file by its name, or of a folder of files.

    A folder of training, validation and test data is not a table.
    """
    if not isinstance(source, str | os.PathLike):
        return False
    place = os.fspath(source)
    if table_kind(place) == "parquet":
        return True
    files = part_files(place) if is_url(place) or os.path.isdir(place) else []
    stems = {file.rpartition("/")[2].partition(".")[0].lower() for file in files}
    first = {re.split("[-_ ]", stem)[0] for stem in stems}  # train of train-00000-of-00002
    several = sum(not first.isdisjoint(words) for words in PARTS.values()) > 1
    alone = stems.isdisjoint(word for words in PARTS.values() for word in words)
    return files not in ([], [place]) and alone and not several


def parquet_files(place: str) -> Iterator[tuple[str, Any]]:
    """Each file of a table and its `pyarrow.parquet.ParquetFile`, which is open until the next one.

    All of them must have the columns of the first.
    """
    import pyarrow.parquet

    files, columns = part_files(place), None
    if not files:
        raise DataError("no Parquet files in this folder.", where=place)
    for file in files:
        with opened(file) as stream:
            table = pyarrow.parquet.ParquetFile(stream)
            columns = columns or table.schema_arrow.names
            apart = sorted(set(columns) ^ set(table.schema_arrow.names))
            if apart:
                raise DataError(f"column {apart[0]!r} is in some files of the table and not in others.", where=file)
            yield file, table


def read_parquet(place: str, columns: Sequence[str] | None) -> Any:
    """Read a table into memory: all columns, or those of `columns` that exist."""
    import pyarrow as pa

    tables = []
    for _, file in parquet_files(place):
        there = file.schema_arrow.names
        chosen = None if columns is None else [column for column in columns if column in there]
        tables.append(file.read(columns=chosen))
    whole = tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")
    whole.validate(full=True)
    return whole
