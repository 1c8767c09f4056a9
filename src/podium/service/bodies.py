"""Bodies: bytes of a request as documents to rank. JSON, a matrix in NumPy's .npy form, or a stream of Arrow."""

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
"""The model of a name."""
JSON, NPY, ARROW = "application/json", "application/x-npy", "application/vnd.apache.arrow.stream"


QUERIES = 1000
"""The most queries of a batch."""
_OBJECTS, _VALUES = 2000, 500_000
"""The most objects beside documents and queries, and values, of a body: 50 ms in which no other thread can work."""
_BATCHES = 1000
"""The most batches of a stream of Arrow."""


class _Head(msgspec.Struct):
    queries: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Batch(msgspec.Struct, forbid_unknown_fields=True):
    queries: list[msgspec.Raw]


_KINDS = {field.name: field.type for field in msgspec.structs.fields(RankRequest)}
_NPY_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_rows, _head, _batch = msgspec.json.Decoder(RankRows), msgspec.json.Decoder(_Head), msgspec.json.Decoder(_Batch)


def check_json(body: bytes, *, documents: int, values: bool = True) -> None:
    """Raise 413 if so many objects would be made of a body in JSON that other requests have to wait.

    Counted are the signs that begin or part them, also those in texts, before anything is made. Without `values`, they
    stay JSON and are not counted.
    """
    most = 3 * (documents + QUERIES) + _OBJECTS
    if body.count(b"{") > most:
        raise ServiceError(413, f"more than {most} objects. Send less at once.")
    if values and body.count(b",") > _VALUES:
        raise ServiceError(413, f"more than {_VALUES} values. Send less at once.")


def read_json(body: bytes, find: Find, *, most: int) -> tuple[list[tuple[Entry, Asked]], bool]:
    """What a body in JSON asks for, and whether it is a batch."""
    check_json(body, documents=most, values=False)
    if decoded(_head, body).queries is msgspec.UNSET:
        return [_read_query(body, find, most)], False
    queries = decoded(_batch, body).queries
    if len(queries) > QUERIES:
        raise ServiceError(413, f"{len(queries)} queries; at most {QUERIES} are ranked at once.")
    found: list[tuple[Entry, Asked]] = []
    for place, query in enumerate(queries):
        try:
            found.append(_read_query(query, find, most))
        except msgspec.ValidationError as error:
            raise msgspec.ValidationError(str(error).replace("`$", f"`$.queries[{place}]")) from None
        most -= len(found[-1][1].X)
    return found, True


def _read_query(body: bytes | msgspec.Raw, find: Find, most: int) -> tuple[Entry, Asked]:
    """One query."""
    request = decoded(_rows, body)
    check_count(len(request.documents), most)
    entry = find(request.model)
    return entry, asked_of(request, entry)


def read_npy(body: bytes, options: Mapping[str, str], find: Find, *, most: int) -> tuple[Entry, Asked]:
    """The documents of a matrix; ids are rows, from 0. What JSON has beside documents stands in the address."""
    about = read_options(options)
    entry = find(about.pop("model"))
    X = npy_array(body)
    check_count(len(X) if X.ndim else 0, most)
    return entry, Asked(array_matrix(X, entry), None, **about)


def read_arrow(
    body: bytes, options: Mapping[str, str], find: Find, *, most: int
) -> tuple[list[tuple[Entry, Asked]], bool]:
    """The documents of a stream of Arrow: columns are features, with `id` and `qid` beside them."""
    about = read_options(options)
    entry = find(about.pop("model"))
    columns, n = _arrow_columns(body, most, width=entry.model.n_features)
    ids, qids = columns.pop("id", None), columns.pop("qid", None)
    X = array_matrix(np.column_stack([np.empty((n, 0)), *columns.values()]), entry, names=list(columns))
    if qids is None:
        return [(entry, Asked(X, _unique(ids), **about))], False
    rows: dict[str, list[int]] = {}
    for row, qid in enumerate(qids):
        rows.setdefault(qid, []).append(row)
    if len(rows) > QUERIES:
        raise ServiceError(413, f"{len(rows)} queries; at most {QUERIES} are ranked at once.")
    found = []
    for query, mine in rows.items():
        some = None if ids is None else _unique([ids[row] for row in mine])
        found.append((entry, Asked(X[mine], some, **{**about, "query": query})))
    return found, True


def read_options(options: Mapping[str, str]) -> dict[str, Any]:
    """What stands in the address beside a binary body: model, query, user, k, odds, explain, log."""
    known = {"query": "", "user": None, "k": None, "odds": False, "explain": False, "log": True, "model": "default"}
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise ServiceError(422, f"no parameter {unknown[0]!r}; there are {', '.join(known)}.", where="query string")
    try:
        given = {name: msgspec.convert(text, _KINDS[name], strict=False) for name, text in options.items()}
    except msgspec.ValidationError as error:
        raise ServiceError(422, f"{error}.", where="query string") from None
    return known | given


def npy_array(body: bytes) -> Any:
    """An array of NumPy's .npy form, without a copy. Numbers only, in C order."""
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
    """The columns of a stream and the number of its rows. Nothing is larger in memory than it is in the body."""
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
