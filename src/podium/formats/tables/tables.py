"""Tables on disk: Parquet, Arrow and CSV files; a row is a document, a column a feature."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from podium.base.errors import DataError, MissingPackageError
from podium.data.frames import Backend, first_line, from_frame
from podium.data.table import Table
from podium.formats.remote import is_url
from podium.formats.sniff import table_kind
from podium.formats.tables.table_parts import is_parquet, read_parquet

T = TypeVar("T")


def read_table(path: str | os.PathLike[str], **roles: Any) -> Table:
    """A dataset from Parquet, .arrow, .csv or .csv.gz; `roles` name columns as for `from_frame`."""

    def convert(frame: Any) -> Table:
        data = from_frame(frame, source=os.fspath(path), **roles)
        return replace(data, info=info_of(getattr(frame, "schema", None)))

    return read_frame(path, convert)


def info_of(schema: Any) -> dict[str, Any] | None:
    """How the features of a table were made, where its file says so."""
    about = (getattr(schema, "metadata", None) or {}).get(b"podium")
    return None if about is None else dict(json.loads(about))


def read_frame(path: str | os.PathLike[str], convert: Callable[[Any], T], *, columns: Sequence[str] | None = None) -> T:
    """What `convert` makes of the frame in a .parquet, .arrow, .csv or .csv.gz file; a clear error where it is damaged.

    Of Parquet files, only some `columns` may be read, those that are there.
    """
    name = os.fspath(path)
    arrow, parquet = table_kind(name) == "arrow", is_parquet(name)
    # of the readers of Parquet, pyarrow is the one that damaged files do not bring down with the whole process
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
    """Whatever goes wrong while a table is read becomes an error that names it."""
    try:
        yield
    except (DataError, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # polars panics with what is no Exception
        raise DataError(f"{backend} cannot read this table: {first_line(error)}", where=name) from error


def _read_arrow(name: str) -> Any:
    import pyarrow.ipc

    with pyarrow.OSFile(name) as file:
        table = pyarrow.ipc.open_file(file).read_all()
    table.validate(full=True)
    return table


def _read_csv(name: str, backend: Backend) -> Any:
    import narwhals as nw

    # polars would otherwise take whole numbers in the first rows for whole columns
    options: dict[str, Any] = {"infer_schema_length": None} if backend == "polars" else {}
    return nw.read_csv(name, backend=backend, **options)
