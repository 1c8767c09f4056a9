"""Request bodies: documents to rank, as JSON, as a NumPy matrix (.npy) or as an Arrow stream."""

from __future__ import annotations

import io
import math
import struct
import tokenize
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
import numpy as np

from podium.base.errors import MissingPackageError
from podium.service.models.model_store import Entry
from podium.service.problems import ServiceError, decoded
from podium.service.rank_request import Asked, array_matrix, asked_of
from podium.service.schemas import RankRequest, RankRows

T = TypeVar("T")
Find = Callable[[str], Entry]
"""Look up a model by name."""
JSON, NPY, ARROW = "application/json", "application/x-npy", "application/vnd.apache.arrow.stream"


QUERIES = 1000
"""Largest number of queries of a batch."""
_OBJECTS, _VALUES = 2000, 500_000
"""Limits of a body: objects besides documents and queries; values. Decoding blocks other threads for at most 50 ms."""
_BATCHES = 1000
"""Largest number of batches of an Arrow stream."""


class _Head(msgspec.Struct):
    queries: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Batch(msgspec.Struct, forbid_unknown_fields=True):
    queries: list[msgspec.Raw]


_KINDS = {field.name: field.type for field in msgspec.structs.fields(RankRequest)}
_NPY_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_rows, _head, _batch = msgspec.json.Decoder(RankRows), msgspec.json.Decoder(_Head), msgspec.json.Decoder(_Batch)


def check_json(body: bytes, *, documents: int, values: bool = True) -> None:
    """Raise 413 if a JSON body has so many objects or values that decoding it would block other requests.

    Braces and commas are counted before decoding, also those in texts. Without `values`, values stay raw JSON, and
    commas are not counted.
    """
    most = 3 * (documents + QUERIES) + _OBJECTS
    if body.count(b"{") > most:
        raise ServiceError(413, f"more than {most} objects. Send less at once.")
    if values and body.count(b",") > _VALUES:
        raise ServiceError(413, f"more than {_VALUES} values. Send less at once.")


def read_json(body: bytes, find: Find, *, most: int) -> tuple[list[tuple[Entry, Asked]], bool]:
    """Read a JSON body: its queries, each with its model, and whether it is a batch."""
    check_json(body, documents=most, values=False)
    if decoded(_head, body).queries is msgspec.UNSET:
        return [_read_query(body, find, most)], False
    queries = decoded(_batch, body).queries
    if len(queries) > QUERIES:
        raise ServiceError(413, f"{len(queries)} queries; at most {QUERIES} are ranked at once.")
    asked: list[tuple[Entry, Asked]] = []
    for place, query in enumerate(queries):
        try:
            asked.append(_read_query(query, find, most))
        except msgspec.ValidationError as error:
            raise msgspec.ValidationError(str(error).replace("`$", f"`$.queries[{place}]")) from None
        most -= len(asked[-1][1].X)
    return asked, True


def _read_query(body: bytes | msgspec.Raw, find: Find, most: int) -> tuple[Entry, Asked]:
    request = decoded(_rows, body)
    check_count(len(request.documents), most)
    entry = find(request.model)
    return entry, asked_of(request, entry)


def read_npy(body: bytes, options: Mapping[str, str], find: Find, *, most: int) -> tuple[Entry, Asked]:
    """Read the documents of a .npy matrix; ids are row numbers, from 0. Other fields come from the query string."""
    fields = read_options(options)
    entry = find(fields.pop("model"))
    X = npy_array(body)
    check_count(len(X) if X.ndim else 0, most)
    return entry, Asked(array_matrix(X, entry), None, **fields)


def read_arrow(
    body: bytes, options: Mapping[str, str], find: Find, *, most: int
) -> tuple[list[tuple[Entry, Asked]], bool]:
    """Read the documents of an Arrow stream: columns are features; `id` and `qid` are optional."""
    fields = read_options(options)
    entry = find(fields.pop("model"))
    columns, n = _arrow_columns(body, most, width=entry.model.n_features)
    ids, qids = columns.pop("id", None), columns.pop("qid", None)
    X = array_matrix(np.column_stack([np.empty((n, 0)), *columns.values()]), entry, names=list(columns))
    if qids is None:
        return [(entry, Asked(X, _unique(ids), **fields))], False
    rows_of: dict[str, list[int]] = {}
    for row, qid in enumerate(qids):
        rows_of.setdefault(qid, []).append(row)
    if len(rows_of) > QUERIES:
        raise ServiceError(413, f"{len(rows_of)} queries; at most {QUERIES} are ranked at once.")
    asked = []
    for query, rows in rows_of.items():
        own_ids = None if ids is None else _unique([ids[row] for row in rows])
        asked.append((entry, Asked(X[rows], own_ids, **{**fields, "query": query})))
    return asked, True


def read_options(options: Mapping[str, str]) -> dict[str, Any]:
    """Read the query string of a binary body: model, query, user, k, odds, explain, log."""
    defaults = {"query": "", "user": None, "k": None, "odds": False, "explain": False, "log": True, "model": "default"}
    unknown = sorted(set(options) - set(defaults))
    if unknown:
        raise ServiceError(422, f"no parameter {unknown[0]!r}; there are {', '.join(defaults)}.", where="query string")
    try:
        values = {name: msgspec.convert(text, _KINDS[name], strict=False) for name, text in options.items()}
    except msgspec.ValidationError as error:
        raise ServiceError(422, f"{error}.", where="query string") from None
    return defaults | values


def npy_array(body: bytes) -> Any:
    """Read a .npy array without a copy: numbers only, in C order."""
    file = io.BytesIO(body)
    try:
        read_header = _NPY_HEADERS[np.lib.format.read_magic(file)]
        shape, fortran_order, kind = read_header(file, max_header_size=1000)
        if kind.kind not in "fiu":
            raise ValueError(f"numbers are needed, float32 best; got {kind}")
        if fortran_order:
            raise ValueError("C order is needed: send np.ascontiguousarray(X)")
        data = memoryview(body)[file.tell() :]
        if len(shape) > 2 or min(shape, default=0) < 0 or math.prod(shape) * kind.itemsize != len(data):
            raise ValueError(f"{len(data)} bytes for shape {shape} of {kind}")
        return np.frombuffer(data, kind).reshape(shape)
    except (ArithmeticError, LookupError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError) as error:
        raise ServiceError(400, f"the body is not an array of NumPy (.npy): {str(error)[:200]}.") from None
    except tokenize.TokenError as error:
        raise ServiceError(400, f"the body is not an array of NumPy (.npy): {error}.") from None


def check_count(n: int, most: int) -> None:
    """Raise a clear error if a request has too many documents."""
    if n > most:
        raise ServiceError(413, f"{n} documents; at most {most} are ranked at once. Send the best of your first stage.")


def _arrow_columns(body: bytes, most: int, *, width: int) -> tuple[dict[str, Any], int]:
    """Columns of an Arrow stream, and its number of rows. Nothing is larger in memory than in the body."""
    try:
        import pyarrow as pa

        from podium.service.arrow_stream import read_stream
    except ImportError:
        raise ServiceError(415, str(MissingPackageError("pyarrow", "Reading Arrow", "frames"))) from None
    try:
        table = read_stream(body, rows=most, columns=width + 2, batches=_BATCHES)
    except (pa.ArrowException, OSError, ValueError, struct.error) as error:
        raise ServiceError(400, f"the body is not a stream of Arrow: {str(error).splitlines()[0][:200]}.") from None
    columns: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name not in ("id", "qid"):
            columns[name] = column.cast(pa.float64()).to_numpy(zero_copy_only=False) if column.num_chunks else []
            continue
        columns[name] = [str(value) for value in column.to_pylist()]
        longest = 4096 if name == "qid" else 256
        if any(not 0 < len(text) <= longest for text in columns[name]):
            raise ServiceError(422, f"column {name!r} has a text that is empty or longer than {longest}.")
    return columns, table.num_rows


def _unique(names: list[str] | None) -> list[str] | None:
    if names is not None and len(set(names)) < len(names):
        raise ServiceError(422, "two documents of a query have the same id.", where="column id")
    return names
