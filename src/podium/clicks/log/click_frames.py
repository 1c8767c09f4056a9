"""Click logs from and to data frames of pandas, polars or pyarrow: a row per impression.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "position": [1, 2], "click": [0, 1]})
    >>> clicks_from_frame(frame)
    ClickLog(1 pages of 1 queries, 2 pairs, 1 clicks)

Columns: query, document and click, and if known position, page, visit, user, ranker, time, count, propensity and grade;
others are not read. Rows with the same `page` are a page, in the order of their positions; they need not be adjacent.
Without this column, a page begins at each row whose query changes or whose position does not rise.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.columns import number_ids
from podium.base.errors import DataError, MissingPackageError
from podium.base.shown import Backend
from podium.clicks.log.click_log import NO_TIME, ClickLog, Repeated
from podium.clicks.log.click_pages import as_fields, as_milliseconds
from podium.data.frames import column_numbers, frame_table

if TYPE_CHECKING:
    import narwhals as nw

_NAMES = {"visit": "visits", "user": "users", "ranker": "rankers", "page": "page_ids"}
_IMPRESSION = {"propensity": "propensities", "grade": "grades"}


def clicks_from_frame(frame: Any, *, repeated: Repeated = "refuse", source: str | None = None) -> ClickLog:
    """Click log from a data frame; `source` is its name in error messages.

    `repeated`: a document twice on a page: an error (`refuse`), or an impression for each place (`keep`).
    `frame`: a pandas, polars or Arrow frame with a row per impression, and columns query, document and click; page,
        position, time and others of `clicks_to_frame` are optional.
    """
    table = frame_table(frame, source=source)
    name = source or "<frame>"
    for field in ("query", "document", "click"):
        if field not in table.columns:
            raise DataError(f"no column {field!r}; there are: {', '.join(table.columns)}.", where=source)
    query, documents = _ids(table["query"], name), _ids(table["document"], name)
    positions = _numbers(table["position"], name) if "position" in table.columns else None
    page = _ids(table["page"], name)[0] if "page" in table.columns else _begin(query[0], positions)
    order, offsets = _pages(page, positions)
    rows = order[offsets[:-1]]
    _one_query(query[0][order], offsets, rows, name)
    clicks = _numbers(table["click"], name)[order]
    bad = np.flatnonzero(~(clicks >= 0))
    if len(bad):
        raise DataError(f"column 'click' must hold 0 or 1; got {clicks[bad[0]]}.", where=f"{name}:row {order[bad[0]]}")
    more = _more(table, order, rows, name)
    names = {key: value[1] for key, value in more.items() if isinstance(value, tuple)}
    plain = {key: value[0] if isinstance(value, tuple) else value for key, value in more.items()}
    if positions is not None and _not_counted(positions[order], offsets):
        plain["positions"] = positions[order]
    return ClickLog.from_codes(
        (query[0][rows], query[1]),
        (documents[0][order], documents[1]),
        offsets=offsets,
        clicks=(clicks > 0).astype(np.uint8),
        where=lambda at: f"{name}:row {rows[at]}",
        repeated=repeated,
        more=as_fields(plain, offsets=offsets, names=names) | {"source": source},
    )


def clicks_to_frame(log: ClickLog, *, backend: Backend = "pandas") -> Any:
    """Data frame of a log, with a row per impression.

    `backend`: pandas, polars or pyarrow.
    `log`: the log to convert; what it did not record is no column.
    """
    import narwhals as nw

    if importlib.util.find_spec(backend) is None:
        raise MissingPackageError(backend, "A data frame", "frames")
    page = log.page_of
    columns: dict[str, Any] = {
        "page": page if log.page_ids is None else log.page_ids[page].tolist(),
        "query": log.query_ids[log.pair_query[log.pairs]].tolist(),
        "document": log.document_ids[log.pairs].tolist(),
        "position": log.ranks(2**31 - 1),
        "click": log.clicks,
    }
    for field, codes in (("visit", log.visits), ("user", log.users)):
        if codes is not None:
            columns[field] = [None if code < 0 else str(code) for code in codes[page].tolist()]
    if log.rankers is not None:
        columns["ranker"] = np.array([*log.ranker_names, None], object)[log.rankers[page]].tolist()
    if log.times is not None:
        columns["time"] = [None if time == NO_TIME else time for time in log.times[page].tolist()]
    if log.counts is not None:
        columns["count"] = log.counts[page]
    for field, name in _IMPRESSION.items():
        if getattr(log, name) is not None:
            columns[field] = getattr(log, name)
    return nw.from_dict(columns, backend=backend).to_native()


def _more(table: nw.DataFrame[Any], order: Ints, rows: Ints, name: str) -> dict[str, Any]:
    """Optional columns; a page has the value of its first row."""
    more: dict[str, Any] = {}
    for field, key in _NAMES.items():
        if field in table.columns:
            codes, names = _ids(table[field], name, missing=True)
            more[key] = (np.where(codes < 0, np.nan, codes)[rows], names)
    if "time" in table.columns:
        more["times"] = _times(table["time"], name)[rows]
    if "count" in table.columns:
        more["counts"] = _numbers(table["count"], name)[rows]
    for field, key in _IMPRESSION.items():
        if field in table.columns:
            more[key] = _numbers(table[field], name, missing=field == "grade")[order]
    return more


def _ids(series: nw.Series[Any], name: str, *, missing: bool = False) -> tuple[Ints, list[str]]:
    """Codes and names of a column of ids; -1 if missing."""
    return number_ids(series.to_native(), f"value of column {series.name!r}", where=name, optional=missing)


def _numbers(series: nw.Series[Any], name: str, *, missing: bool = False) -> Array:
    values = column_numbers(series, name)
    bad = np.flatnonzero(np.isinf(values) if missing else ~np.isfinite(values))
    if series.name == "position":
        bad = np.flatnonzero(~(np.abs(values) < 2**31) | (np.trunc(values) != values))
    if len(bad):
        raise DataError(
            f"column {series.name!r} must hold {'whole' if series.name == 'position' else 'finite'} numbers; got "
            f"{values[bad[0]]}.",
            where=f"{name}:row {bad[0]}",
        )
    return values


def _times(series: nw.Series[Any], name: str) -> Array:
    import narwhals as nw

    if series.dtype.is_temporal():
        series = series.dt.timestamp("ms").cast(nw.Float64)
        return np.asarray(series.to_numpy(), np.float64)
    if series.dtype.is_numeric():
        return np.floor(_numbers(series, name, missing=True))
    values = np.full(len(series), np.nan)
    for row, text in enumerate(series.to_list()):
        try:
            values[row] = np.nan if text is None or text != text else as_milliseconds(text)
        except ValueError:
            words = f"a time must be like 2024-12-10T00:01:29.378Z; got {str(text)[:40]!r}."
            raise DataError(words, where=f"{name}:row {row}") from None
    return values


def _begin(query: Ints, positions: Array | None) -> Ints:
    """Page of each row, without a column `page`."""
    new = np.ones(len(query), np.bool_)
    new[1:] = query[1:] != query[:-1]
    if positions is not None:
        new[1:] |= positions[1:] <= positions[:-1]
    return np.cumsum(new) - 1


def _pages(page: Ints, positions: Array | None) -> tuple[Ints, Ints]:
    """Rows in the order of pages and positions, and the offsets of pages."""
    order = np.lexsort((np.zeros(len(page)) if positions is None else positions, page))
    starts = np.flatnonzero(np.diff(page[order], prepend=-1))
    return order, np.append(starts, len(page)).astype(np.int64)


def _one_query(query: Ints, offsets: Ints, rows: Ints, name: str) -> None:
    """Raise a clear error if a page has rows of two queries."""
    inside = np.ones(len(query), np.bool_)
    inside[offsets[:-1]] = False
    bad = np.flatnonzero((np.diff(query, prepend=query[:1]) != 0) & inside)
    if len(bad):
        at = int(np.searchsorted(offsets, bad[0], side="right")) - 1
        raise DataError("this page has rows of two queries. Check its id.", where=f"{name}:row {rows[at]}")


def _not_counted(positions: Array, offsets: Ints) -> bool:
    counted = np.arange(len(positions)) - np.repeat(offsets[:-1], np.diff(offsets)) + 1
    return bool((positions != counted).any())
