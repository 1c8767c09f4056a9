"""Click logs in Parquet: a row per page, with the columns of the JSON Lines format and lists."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import AnyArray, Array, Flags, Ints
from podium.base.errors import DataError, MissingPackageError
from podium.base.files import Source, writing
from podium.clicks.log.click_log import NO_TIME, ClickLog, Repeated
from podium.clicks.log.click_pages import as_fields, as_milliseconds
from podium.formats.tables.tables import read_frame

if TYPE_CHECKING:
    import pyarrow as pa

Place = Callable[[int], str]
"""Name of a row in error messages."""

_NAMES = {"visit": "visits", "user": "users", "ranker": "rankers", "page": "page_ids"}
_NUMBERS = {"positions": "positions", "propensities": "propensities", "grades": "grades"}


def read_parquet_clicks(
    path: str | os.PathLike[str], *, actions: Sequence[str] = ("click",), repeated: Repeated = "refuse"
) -> ClickLog:
    """Read a click log from a Parquet file: the columns of the JSON Lines format, with lists."""
    return read_frame(path, lambda table: _from_arrow(table, os.fspath(path), tuple(actions), repeated))


def write_parquet_clicks(log: ClickLog, target: Source) -> None:
    """Write a click log as Parquet."""
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingPackageError("pyarrow", "Writing Parquet", "frames")
    import pyarrow.parquet

    with writing(target) as file:
        pyarrow.parquet.write_table(_to_arrow(log), file, compression="zstd")


def _from_arrow(table: pa.Table, source: str, actions: tuple[str, ...], repeated: Repeated) -> ClickLog:
    columns = {name: _one_chunk(table[name]) for name in table.column_names}
    for field in ("query", "documents", "clicks"):
        if field not in columns:
            raise DataError(f"no column {field!r}; there are: {', '.join(columns)}.", where=source)

    def place(page: int) -> str:
        return f"{source}:row {page + 1}"

    offsets, documents = _lists(columns["documents"], "documents", place)
    click_offsets, events = _lists(columns["clicks"], "clicks", place)
    page_of_click = np.repeat(np.arange(len(click_offsets) - 1), np.diff(click_offsets))
    at, timed = _clicked(events, actions, page_of_click, place)
    low = np.flatnonzero(at[0] <= 0)
    if len(low):
        where = place(int(page_of_click[at[1][low[0]]]))
        raise DataError(f"clicks are positions on the page, from 1; got {at[0][low[0]]}.", where=where)
    pages = page_of_click[at[1]]
    inside = at[0] <= np.diff(offsets)[pages]
    rows = offsets[:-1][pages[inside]] + at[0][inside] - 1
    clicks = np.zeros(int(offsets[-1]), np.uint8)
    clicks[rows] = 1
    more = {**_page_columns(columns, place), **_impression_columns(columns, offsets, place)}
    more |= _timed(timed, rows, inside, len(clicks))
    names = {name: value[1] for name, value in more.items() if isinstance(value, tuple)}
    plain = {name: value[0] if isinstance(value, tuple) else value for name, value in more.items()}
    queries = _texts(columns["query"], "query", place)
    log = ClickLog.from_codes(
        queries,
        _texts(documents, "documents", lambda i: place(int(np.searchsorted(offsets, i, side="right")) - 1)),
        offsets=offsets,
        clicks=clicks,
        where=place,
        repeated=repeated,
        more=as_fields(plain, offsets=offsets, names=names)
        | {"dropped_clicks": int((~inside).sum()), "source": source},
    )
    return _with_texts(log, columns.get("text"), queries)


def _one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    import pyarrow as pa

    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole


def _lists(column: pa.Array, name: str, place: Place) -> tuple[Ints, pa.Array]:
    """Offsets of the lists, and their values."""
    import pyarrow as pa

    if pa.types.is_null(column.type) and len(column) == 0:
        return np.zeros(1, np.int64), column
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        raise DataError(f"column {name!r} must hold lists; it holds {column.type}.", where=place(0))
    _no_nulls(column, name, place)
    offsets = column.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0], column.flatten()


def _no_nulls(column: pa.Array, name: str, place: Place) -> None:
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(f"column {name!r} has no value here. Fill it or leave the page out.", where=place(row))


def _texts(column: pa.Array, name: str, place: Place) -> tuple[AnyArray, list[str]]:
    """Codes and names of a column of ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    _no_nulls(column, name, place)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (pa.types.is_integer(column.type) or _is_text(column.type) or len(column) == 0):
        raise DataError(f"column {name!r} must hold text; it holds {column.type}.", where=place(0))
    if pa.types.is_integer(column.type) or len(column) == 0:
        column = pc.cast(column, pa.string())
    coded = column.dictionary_encode()
    names, codes = coded.dictionary, coded.indices.to_numpy()
    order = pc.array_sort_indices(names).to_numpy()
    new = np.empty(len(order), np.int32)
    new[order] = np.arange(len(order), dtype=np.int32)
    return new[codes] if len(codes) else np.zeros(0, np.int32), names.take(pa.array(order)).to_pylist()


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _clicked(
    events: pa.Array, actions: tuple[str, ...], page_of: Ints, place: Place
) -> tuple[tuple[Ints, Ints], dict[str, Array]]:
    """Positions of the clicks that count, with their numbers among all events; their times and dwell, if any."""
    import pyarrow as pa
    import pyarrow.compute as pc

    timed: dict[str, Any] = {}
    chosen = np.arange(len(events))
    positions = events
    if pa.types.is_struct(events.type):
        parts = {field.name: events.field(field.name) for field in events.type}
        if "at" not in parts:
            raise DataError("clicks have no field 'at', the position that was clicked.", where=place(0))
        if "action" in parts:
            wanted = pc.fill_null(pc.is_in(parts["action"], pa.array(actions)), False)
            unnamed = parts["action"].is_null()
            chosen = np.flatnonzero(pc.or_(wanted, unnamed).to_numpy(zero_copy_only=False))
        positions = parts["at"]
        if "time" in parts:
            timed["time"] = _times(parts["time"], "clicks.time", lambda i: place(int(page_of[i])))[chosen]
        if "dwell" in parts:
            timed["dwell"] = _floats(parts["dwell"], "clicks.dwell", lambda i: place(int(page_of[i])))[chosen]
    if len(positions) == 0:
        return (np.zeros(0, np.int64), chosen), {}
    if not pa.types.is_integer(positions.type):
        raise DataError(f"clicks must be positions, whole numbers; they are {positions.type}.", where=place(0))
    _no_nulls(positions, "clicks", lambda i: place(int(page_of[i])))
    return (positions.to_numpy()[chosen].astype(np.int64), chosen), timed


def _timed(timed: dict[str, Array], rows: Ints, inside: Flags, n: int) -> dict[str, Any]:
    """Times of first and last clicks and dwell of each impression."""
    more: dict[str, Any] = {}
    if "time" in timed:
        for name, keep in (("click_times", np.fmin), ("last_click_times", np.fmax)):
            more[name] = np.full(n, np.nan)
            keep.at(more[name], rows, timed["time"][inside])
    if "dwell" in timed:
        seconds = timed["dwell"][inside]
        recorded = ~np.isnan(seconds)
        total = np.bincount(rows[recorded], seconds[recorded], minlength=n)
        more["dwell"] = np.where(np.bincount(rows[recorded], minlength=n) > 0, total, np.nan)
    return more


def _page_columns(columns: dict[str, pa.Array], place: Place) -> dict[str, Any]:
    more: dict[str, Any] = {}
    for field, name in _NAMES.items():
        column = columns.get(field)
        if column is not None and column.null_count < len(column):
            there = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
            codes, names = _texts(column.drop_null(), field, place)
            values = np.full(len(column), np.nan)
            values[there] = codes
            if name == "rankers" and len(names) > 2**15 - 1:
                raise DataError(f"{len(names)} rankers; is 'ranker' an id of the page?", where=place(0))
            more[name] = (values, names)
    if "time" in columns and columns["time"].null_count < len(columns["time"]):
        more["times"] = _times(columns["time"], "time", place)
    if "count" in columns and columns["count"].null_count < len(columns["count"]):
        more["counts"] = _floats(columns["count"], "count", place)
    return more


def _impression_columns(columns: dict[str, pa.Array], offsets: Ints, place: Place) -> dict[str, Any]:
    more: dict[str, Any] = {}
    for field, name in _NUMBERS.items():
        column = columns.get(field)
        if column is None or column.null_count == len(column):
            continue
        own, values = _lists(column, field, place)
        apart = np.flatnonzero(np.diff(own) != np.diff(offsets))
        if len(apart):
            n, got = np.diff(offsets)[apart[0]], np.diff(own)[apart[0]]
            raise DataError(
                f"{field!r} must be a list of {n} numbers, one for each document; got {got}.",
                where=place(int(apart[0])),
            )

        def at(i: int, own: Ints = own) -> str:
            return place(int(np.searchsorted(own, i, side="right")) - 1)

        if field != "grades":
            _no_nulls(values, field, at)
        more[name] = _floats(values, field, at)
    return more


def _floats(column: pa.Array, name: str, place: Place) -> Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise DataError(f"column {name!r} must hold numbers; it holds {column.type}.", where=place(0))
    if pa.types.is_integer(column.type):
        column = pc.cast(column, pa.int64()) if not pa.types.is_uint64(column.type) else column
        column = pc.cast(column, pa.float64(), safe=False)
    values = np.asarray(column.to_numpy(zero_copy_only=False), np.float64)
    bad = np.flatnonzero(np.isinf(values) | (np.abs(np.nan_to_num(values)) > 2**53))
    if name == "positions":
        bad = np.flatnonzero(~(np.abs(values) < 2**31) | (np.trunc(values) != values))
    if len(bad):
        raise DataError(f"column {name!r} must hold finite numbers; got {values[bad[0]]}.", where=place(int(bad[0])))
    return values


def _times(column: pa.Array, name: str, place: Place) -> Array:
    """Times in ms since 1970; NaN if there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_timestamp(column.type):
        whole = pc.cast(pc.cast(column, pa.timestamp("ms"), safe=False), pa.int64())
        return np.asarray(pc.cast(whole, pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)
    if not _is_text(column.type):
        return np.floor(_floats(column, name, place))
    values = np.full(len(column), np.nan)
    for row, text in enumerate(column.to_pylist()):
        try:
            values[row] = np.nan if text is None else as_milliseconds(text)
        except ValueError:
            words = f"a time must be like 2024-12-10T00:01:29.378Z; got {text[:40]!r}."
            raise DataError(words, where=place(row)) from None
    return values


def _with_texts(log: ClickLog, column: pa.Array | None, queries: tuple[AnyArray, list[str]]) -> ClickLog:
    """Set the text that users typed for each query: the first one of its pages."""
    if column is None or column.null_count == len(column):
        return log
    there = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
    codes, names = queries
    with_text, first = np.unique(codes[there], return_index=True)
    texts = dict(zip([names[code] for code in with_text], column.take(there[first]).to_pylist(), strict=True))
    return replace(log, query_texts=np.array([str(texts.get(name, "")) for name in log.query_ids], object))


def _to_arrow(log: ClickLog) -> pa.Table:
    import pyarrow as pa

    def lists(values: pa.Array, offsets: Ints = log.offsets) -> pa.Array:
        return pa.LargeListArray.from_arrays(pa.array(offsets), values)

    columns: dict[str, Any] = {
        "query": _taken(log.query_ids, log.page_query),
        "documents": lists(_taken(log.document_ids, log.pairs)),
        "clicks": lists(*_events(log)),
    }
    for field, codes in (("visit", log.visits), ("user", log.users)):
        if codes is not None:
            columns[field] = pa.array(codes, mask=codes < 0).cast(pa.string())
    if log.rankers is not None:
        columns["ranker"] = _taken(log.ranker_names, log.rankers)
    if log.page_ids is not None:
        columns["page"] = pa.array([name or None for name in log.page_ids], pa.string())
    if log.times is not None:
        columns["time"] = pa.array(log.times, mask=log.times == NO_TIME).cast(pa.timestamp("ms", "UTC"))
    if log.counts is not None:
        columns["count"] = pa.array(log.counts)
    if log.query_texts is not None:
        columns["text"] = _taken([text or None for text in log.query_texts], log.page_query)
    for field in _NUMBERS:
        values = getattr(log, field)
        if values is not None:
            columns[field] = lists(pa.array(values, from_pandas=True))
    table = pa.table(columns)
    return table if log.places is None else table.take(pa.array(np.argsort(log.places)))


def _taken(names: Iterable[str | None], codes: AnyArray) -> pa.Array:
    """Names of codes; null if the code is negative."""
    import pyarrow as pa

    return pa.array(list(names), pa.string()).take(pa.array(codes, mask=codes < 0))


def _events(log: ClickLog) -> tuple[pa.Array, Ints]:
    """Clicks of all pages, and their offsets by page; a document clicked again later has two."""
    import pyarrow as pa

    rows = np.flatnonzero(log.clicks)
    again = np.zeros(0, np.int64)
    if log.click_times is not None and log.last_click_times is not None:
        again = rows[log.last_click_times[rows] > log.click_times[rows]]
    both = np.concatenate((rows, again))
    order = np.argsort(both, kind="stable")
    second = np.repeat([False, True], [len(rows), len(again)])[order]
    both = both[order]
    offsets = np.searchsorted(both, log.offsets)
    at = (both - log.offsets[log.page_of[both]] + 1).astype(np.int32)
    parts = {"at": pa.array(at)}
    if log.click_times is not None and log.last_click_times is not None:
        times = np.where(second, log.last_click_times[both], log.click_times[both])
        parts["time"] = pa.array(np.nan_to_num(times).astype(np.int64), mask=np.isnan(times)).cast(pa.timestamp("ms"))
    if log.dwell is not None:
        parts["dwell"] = pa.array(np.where(second, np.nan, log.dwell[both]), from_pandas=True)
    if len(parts) == 1:
        return parts["at"], offsets
    return pa.StructArray.from_arrays(list(parts.values()), list(parts)), offsets
