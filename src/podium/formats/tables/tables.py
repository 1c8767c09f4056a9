"""Read tables: Parquet, Arrow and CSV files; a row is a document, a column a feature."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from podium.base.errors import DataError, MissingPackageError
from podium.base.shown import Backend
from podium.data.frames import first_line, from_frame
from podium.data.table import Table
from podium.formats.remote import is_url
from podium.formats.sniff import table_kind
from podium.formats.tables.table_parts import is_parquet, read_parquet

T = TypeVar("T")


def read_table(path: str | os.PathLike[str], **roles: Any) -> Table:
    """Read a dataset from Parquet, .arrow, .csv or .csv.gz; `roles` name columns as for `from_frame`."""

    def convert(frame: Any) -> Table:
        data = from_frame(frame, source=os.fspath(path), **roles)
        return replace(data, info=info_of(getattr(frame, "schema", None)))

    return read_frame(path, convert)


def info_of(schema: object) -> dict[str, Any] | None:
    """How the features of a table were computed, if its file says so."""
    about = (getattr(schema, "metadata", None) or {}).get(b"podium")
    return None if about is None else dict(json.loads(about))


def read_frame(path: str | os.PathLike[str], convert: Callable[[Any], T], *, columns: Sequence[str] | None = None) -> T:
    """Read a .parquet, .arrow, .csv or .csv.gz file and `convert` its frame; a clear error if it is damaged.

    Of Parquet files, `columns` selects columns; those that do not exist are ignored.
    """
    name = os.fspath(path)
    arrow, parquet = table_kind(name) == "arrow", is_parquet(name)
    # pyarrow is the only reader of Parquet that damaged files do not crash with the whole process
    readers: tuple[Backend, ...] = ("pyarrow",) if parquet or arrow else ("polars", "pyarrow", "pandas")
    backend = next((reader for reader in readers if importlib.util.find_spec(reader) is not None), None)
    if backend is None:
        raise MissingPackageError(" or ".join(readers), f"Reading {name}", "frames")
    if not is_url(name) and not os.path.exists(path):
        raise DataError("no such file.", where=name)
    with table_errors(name, backend):
        if parquet:
            return convert(read_parquet(name, columns))
        return convert(_read_arrow(name) if arrow else _read_csv(name, backend))
    raise AssertionError("returned or raised above")


@contextmanager
def table_errors(name: str, backend: Backend) -> Iterator[None]:
    """Turn any error while a table is read into a DataError that names it."""
    try:
        yield
    except (DataError, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of polars is no Exception
        raise DataError(f"{backend} cannot read this table: {first_line(error)}", where=name) from error


def _read_arrow(name: str) -> Any:
    import pyarrow.ipc

    with pyarrow.OSFile(name) as file:
        table = pyarrow.ipc.open_file(file).read_all()
    table.validate(full=True)
    return table


def _read_csv(name: str, backend: Backend) -> Any:
    import narwhals as nw

    # polars would otherwise take the type of a column from its first rows
    options: dict[str, Any] = {"infer_schema_length": None} if backend == "polars" else {}
    return nw.read_csv(name, backend=backend, **options)
