"""Bodies: bytes of a request as documents to rank. JSON, a matrix in NumPy's .npy form, or a stream of Arrow."""

from __future__ import annotations

import ast
import functools
import struct
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
import numpy as np

from podium.errors import MissingPackageError
from podium.service.problems import ServiceError
from podium.service.ranking import Asked, asked_of, checked_matrix, matrix_of, named_matrix, rows_matrix
from podium.service.schemas import BatchRequest, Id, RankRequest
from podium.service.shelf import Entry

T = TypeVar("T")
Find = Callable[[str], Entry]
"""The model of a name."""
JSON, NPY, ARROW = "application/json", "application/x-npy", "application/vnd.apache.arrow.stream"


class _Head(msgspec.Struct):
    queries: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    features: msgspec.Raw
    id: Id | int | None = None


class _Rows(RankRequest, forbid_unknown_fields=True, kw_only=True):
    """A request whose features are still text."""

    documents: list[_Row]  # type: ignore[assignment]


_KINDS = {field.name: field.type for field in msgspec.structs.fields(RankRequest)}
_rank, _batch = msgspec.json.Decoder(RankRequest), msgspec.json.Decoder(BatchRequest)
_head, _rows = msgspec.json.Decoder(_Head), msgspec.json.Decoder(_Rows)


def decoded(decoder: msgspec.json.Decoder[T], body: bytes | str) -> T:
    """A body in JSON as a struct of the wire; whatever is wrong with it is a clear error."""
    try:
        return decoder.decode(body)
    except UnicodeDecodeError as error:
        raise ServiceError(400, f"the body is not UTF-8: {error.reason} at byte {error.start}.") from None
    except RecursionError:
        raise ServiceError(400, "the body is nested too deeply.") from None


def read_requests(body: bytes) -> tuple[list[RankRequest], bool]:
    """The requests of a body in JSON, and whether it is a batch."""
    try:
        return [decoded(_rank, body)], False
    except msgspec.ValidationError as error:
        try:
            batch = decoded(_head, body).queries is not msgspec.UNSET
        except msgspec.ValidationError:
            raise error from None
        if not batch:
            raise
        return decoded(_batch, body).queries, True


def read_json(body: bytes, find: Find, *, most: int) -> tuple[list[tuple[Entry, Asked]], bool]:
    """What a body in JSON asks for, and whether it is a batch."""
    usual = _read_rows(body, find, most)
    if usual is not None:
        return [usual], False
    requests, batch = read_requests(body)
    check_count(sum(len(request.documents) for request in requests), most)
    found = []
    for request in requests:
        entry = find(request.model)
        found.append((entry, asked_of(request, matrix_of(request.documents, request.features, entry))))
    return found, batch


def _read_rows(body: bytes, find: Find, most: int) -> tuple[Entry, Asked] | None:
    """A request for one query whose features are lists of numbers, in a third of the time; None for any other."""
    try:
        request = _rows.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    check_count(len(request.documents), most)
    entry = find(request.model)
    X = rows_matrix([document.features for document in request.documents], request.features, entry)
    return None if X is None else (entry, asked_of(request, X))


def read_npy(body: bytes, options: Mapping[str, str], find: Find, *, most: int) -> tuple[Entry, Asked]:
    """The documents of a matrix; ids are rows, from 0. What JSON has beside documents stands in the address."""
    about = read_options(options)
    entry = find(about.pop("model"))
    X = npy_array(body)
    check_count(len(X) if X.ndim else 0, most)
    return entry, Asked(checked_matrix(X, entry), None, **about)


def read_arrow(
    body: bytes, options: Mapping[str, str], find: Find, *, most: int
) -> tuple[list[tuple[Entry, Asked]], bool]:
    """The documents of a stream of Arrow: columns are features, with `id` and `qid` beside them."""
    about = read_options(options)
    entry = find(about.pop("model"))
    columns, n = _arrow_columns(body, most)
    ids, qids = columns.pop("id", None), columns.pop("qid", None)
    names = None if ids is None else [str(id) for id in ids]
    X = named_matrix(columns, n, entry)
    if qids is None:
        return [(entry, Asked(X, _unique(names), **about))], False
    rows: dict[str, list[int]] = {}
    for row, qid in enumerate(qids):
        rows.setdefault(str(qid), []).append(row)
    found = []
    for query, mine in rows.items():
        some = None if names is None else _unique([names[row] for row in mine])
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
    try:
        if body[:6] != b"\x93NUMPY" or body[6] not in (1, 2):
            raise ValueError("it does not start like one")
        size, start = (2, 10) if body[6] == 1 else (4, 12)
        (length,) = struct.unpack("<H" if size == 2 else "<I", body[8:start])
        if length > 1000:
            raise ValueError("its header is too long")
        kind, shape = _npy_head(body[start : start + length])
        data = body[start + length :]
        if min(shape, default=0) < 0 or int(np.prod(shape, dtype=object)) * kind.itemsize != len(data):
            raise ValueError(f"{len(data)} bytes for shape {shape} of {kind}")
        return np.frombuffer(data, kind).reshape(shape)
    except (
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        SyntaxError,
        struct.error,
        MemoryError,
        RecursionError,
    ) as error:
        raise ServiceError(400, f"the body is not an array of NumPy (.npy): {error}.") from None


@functools.lru_cache(256)
def _npy_head(text: bytes) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The type and the shape that a header tells."""
    head = ast.literal_eval(text.decode("latin1").strip())
    kind, shape = np.dtype(head["descr"]), tuple(int(n) for n in head["shape"])
    if kind.hasobject or kind.kind not in "fiu":
        raise ValueError(f"numbers are needed, float32 best; got {kind}")
    if head["fortran_order"]:
        raise ValueError("C order is needed: send np.ascontiguousarray(X)")
    return kind, shape


def check_count(n: int, most: int) -> None:
    """Raise a clear error if a request has too many documents."""
    if n > most:
        raise ServiceError(413, f"{n} documents; at most {most} are ranked at once. Send the best of your first stage.")


def _arrow_columns(body: bytes, most: int) -> tuple[dict[str, Any], int]:
    try:
        import pyarrow as pa
    except ImportError:
        raise ServiceError(415, str(MissingPackageError("pyarrow", "Reading Arrow", "frames"))) from None
    try:
        with pa.ipc.open_stream(pa.py_buffer(body)) as stream:
            table = stream.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ServiceError(400, f"the body is not a stream of Arrow: {str(error).splitlines()[0]}.") from None
    check_count(table.num_rows, most)
    if len(set(table.column_names)) < len(table.column_names):
        raise ServiceError(422, "two columns have the same name.", where="columns")
    columns: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in ("id", "qid"):
            if column.null_count:
                raise ServiceError(422, f"column {name!r} has nulls.", where="columns")
            columns[name] = column.to_pylist()
            continue
        if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_null(column.type)):
            raise ServiceError(422, f"column {name!r} is of type {column.type}; numbers are needed.", where="columns")
        columns[name] = column.cast(pa.float64()).to_numpy(zero_copy_only=False) if column.num_chunks else []
    return columns, table.num_rows


def _unique(names: list[str] | None) -> list[str] | None:
    if names is not None and len(set(names)) < len(names):
        raise ServiceError(422, "two documents of a query have the same id.", where="column id")
    return names
