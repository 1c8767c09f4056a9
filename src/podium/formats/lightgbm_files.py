"""LightGBM's files: tables without header whose first column is the label, and the files next to data.

    train.csv          2,0.5,1.5      or with tabs; an empty field, NA and nan are missing values
    train.csv.query    3              sizes of consecutive queries, one per line
    train.csv.weight   1.5            weight of each row
    train.csv.position 1              rank at which each row was shown

LETOR (LibSVM) files have the same files next to them. Such a table is recognised by its .query file, since without
one nothing says which rows belong together.
"""

from __future__ import annotations

import io
import os
import re
from typing import TypeGuard

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.files import reading
from podium.data.dataset import Dataset
from podium.data.frames import weighted_rows
from podium.data.table import Table
from podium.formats.letor.letor_parser import shown

_MISSING = re.compile(rb"(?<=[,\t])(?=[,\t\r\n]|$)|(?<=[,\t])(?:NA|N/A|na|null|NULL|None|none)(?=[,\t\r\n]|$)")


def query_sizes(path: str | None) -> list[int] | None:
    """Sizes of consecutive queries, from the file next to data that has none; None if there is no such file."""
    side = None if path is None else side_file(path, ".query", ".group")
    if side is None:
        return None
    with reading(side) as file:
        return [_size(line, f"{side}:{k}") for k, line in enumerate(file, 1) if line.strip()]


def side_file(path: str, *endings: str) -> str | None:
    """The file next to a data file with one of these endings, if there is one; the data may be gzipped."""
    names = [name + ending for name in (path, path.removesuffix(".gz")) for ending in endings]
    return next((name for name in names if os.path.exists(name)), None)


def is_lightgbm_table(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this is the path of a table without header that has a .query file next to it."""
    if not isinstance(source, str | os.PathLike) or not os.path.isfile(source):
        return False
    if side_file(os.fspath(source), ".query", ".group") is None:
        return False
    with reading(source) as file:
        words = re.split(rb"[,\t]", file.readline(_LONGEST).removeprefix(b"\xef\xbb\xbf").strip())
    return len(words) > 1 and all(word.strip() in _NOT_WRITTEN or _is_number(word) for word in words)


_LONGEST = 2**24  # bytes of a first line
_NOT_WRITTEN = (b"", b"NA", b"N/A", b"na", b"null", b"NULL", b"None", b"none")


def read_lightgbm_table(source: str | os.PathLike[str]) -> Table:
    """Read a table without header: the label, then the features; queries are those of the .query file."""
    name = os.fspath(source)
    with reading(source) as file:
        raw = file.read().removeprefix(b"\xef\xbb\xbf")
    tabs = b"\t" in raw[: raw.find(b"\n") if b"\n" in raw else len(raw)]
    try:
        rows = np.loadtxt(
            io.BytesIO(_MISSING.sub(b"nan", raw)), delimiter="\t" if tabs else ",", ndmin=2, comments=None
        )
    except ValueError as error:
        raise DataError(f"a table of numbers without header is expected: {error}", where=name) from None
    sizes = query_sizes(name)
    return Dataset.from_arrays(rows[:, 1:], rows[:, 0], group=sizes, source=name)


def with_side_files(data: Table, source: object) -> Table:
    """The data with weights, base scores and positions from the files next to it."""
    if not isinstance(source, str | os.PathLike) or os.fspath(source) == "-":
        return data
    path = os.fspath(source)
    side = side_file(path, ".position")
    if side is not None:
        data = data.with_positions(_per_row(side, "positions", data, path))
    side = side_file(path, ".init", ".base_margin")
    if side is not None and data.base_scores is None:
        from podium.formats.base_scores_file import read_base_scores

        data = read_base_scores(side, data)
    side = side_file(path, ".weight")
    if side is None:
        return data
    return weighted_rows(data, _per_row(side, "weights", data, path))


def _per_row(side: str, what: str, data: Table, path: str) -> Array:
    numbers = _numbers(side)
    if len(numbers) != data.n_documents:
        raise DataError(f"{len(numbers)} {what} for {data.n_documents} rows of {path}.", where=side)
    return numbers


def _numbers(path: str) -> Array:
    with reading(path) as file:
        words = [(k, line.strip()) for k, line in enumerate(file, 1) if line.strip()]
    for k, word in words:
        if not _is_number(word):
            raise DataError(f"expected a number; got {shown(word)}.", where=f"{path}:{k}")
    return np.array([float(word) for _, word in words], np.float64)


def _size(line: bytes, where: str) -> int:
    word = line.strip()
    if not word.isdigit() or len(word) > 18:
        raise DataError(f"expected a query's number of lines; got {shown(word)}.", where=where)
    return int(word)


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return b"_" not in word
