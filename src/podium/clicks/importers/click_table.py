"""Importer of tables of clicks: CSV, TSV, JSON lines or Parquet, with a row for each document that was shown.

A row has a query, a document and whether it was clicked, and if known its rank, the id of its results page, the
session, the user, the ranker and the time. Columns are found by their usual names. Without a column of pages, a page
begins where the query changes or the rank does not rise. Ranks count from 0 in a table in which a 0 occurs.

Instead of a column of clicks there may be one of actions, in a table of events: documents that were shown have a row
with the action "impression" or "view", those that were clicked another one with "click". Pages then need an id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from podium.base.columns import id_text
from podium.base.errors import DataError, MissingPackageError
from podium.base.files import Source
from podium.clicks.log.click_frames import clicks_from_frame
from podium.clicks.log.click_log import ClickLog, Repeated
from podium.formats.tables.records import Records, read_records

USUAL: Mapping[str, tuple[str, ...]] = {
    "query": ("query", "query_text", "user_query", "search_query", "search_term", "keywords", "q", "query_id", "qid"),
    "document": ("document", "document_id", "doc_id", "docid", "docno", "product_id", "item_id", "object_id", "sku",
                 "asin", "product", "item", "doc", "url"),
    "position": ("position", "rank", "pos", "ordinal", "slot"),
    "click": ("click", "clicked", "is_click", "is_clicked", "clicks"),
    "action": ("action", "action_name", "event", "event_type", "type"),
    "page": ("page", "page_id", "impression_id", "search_id", "request_id"),
    "visit": ("visit", "visit_id", "session", "session_id"),
    "user": ("user", "user_id", "client_id"),
    "ranker": ("ranker", "experiment", "variant", "model", "algorithm"),
    "time": ("time", "timestamp", "event_time"),
}  # fmt: skip
"""Usual names of columns."""
_SHOWN, _CLICKED = {"impression", "view", "show", "shown"}, {"click", "clicked"}
_FLAGS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0, "": 0.0}


def read_click_table(
    source: Source, *, columns: Mapping[str, str | None] | None = None, repeated: Repeated = "refuse"
) -> ClickLog:
    """Read a click log from a table. `columns` names columns: query, document, position, click, ranker …

    `source`: a path, or an open file.
    `repeated`: a document twice on a page: an error (`refuse`), or an impression for each place (`keep`).
    """
    records = read_records(source)
    names = table_columns(records, columns or {})
    rows = {role: list(records.columns[name]) for role, name in names.items()}
    if "click" not in rows:
        rows = _of_events(rows, records)
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingPackageError("pyarrow", f"Reading {records.source}", "frames") from None
    arrays: dict[str, Any] = {}
    for role, values in rows.items():
        if role == "click":
            arrays[role] = pa.array([_flag(value, records, row) for row, value in enumerate(values)], pa.float64())
        elif role == "position":
            arrays[role] = _positions([_whole(value, records, row) for row, value in enumerate(values)])
        elif role == "time" and all(_is_number(value) for value in values):
            arrays[role] = pa.array([None if value in (None, "") else float(value) for value in values], pa.float64())
        else:
            arrays[role] = pa.array([_name(value, records, row) for row, value in enumerate(values)], pa.string())
    return clicks_from_frame(pa.table(arrays), repeated=repeated, source=records.source)


def table_columns(records: Records, asked: Mapping[str, str | None]) -> dict[str, str]:
    """The column of each role that a table has, by the names asked for and the usual ones."""
    lower = {column.lower(): column for column in reversed(records.columns)}
    there = ", ".join(records.columns)
    names: dict[str, str] = {}
    for role, usual in USUAL.items():
        wanted = asked.get(role)
        if wanted is not None and wanted not in records.columns:
            raise DataError(f"no column {wanted!r}; there are {there}.", where=records.source)
        name = wanted or next((lower[word] for word in usual if word in lower), None)
        if name is not None and name not in names.values():
            names[role] = name
    for role in ("query", "document"):
        if role not in names:
            raise DataError(
                f"no column for the {role}; looked for {', '.join(USUAL[role])}; there are {there}. Name it: --{role}.",
                where=records.source,
            )
    if "click" not in names and "action" not in names:
        raise DataError(
            f"no column that says which documents were clicked; there are {there}. Name it: --clicked. A table of "
            "clicks alone does not say what else was shown: add rows of the documents that were not clicked.",
            where=records.source,
        )
    return names


def _of_events(rows: dict[str, list[Any]], records: Records) -> dict[str, list[Any]]:
    """Rows of documents with a column of clicks, from rows of events."""
    actions = [str(action).lower() for action in rows.pop("action")]
    if not _SHOWN.intersection(actions) or "page" not in rows:
        lack = "ids of pages" if _SHOWN.intersection(actions) else 'rows of documents shown ("impression" or "view")'
        raise DataError(
            f"a table of events without {lack}: which documents were shown, and not clicked, is not known.",
            where=records.source,
        )
    keys = list(zip(rows["page"], rows["document"], strict=True))
    clicked = {key for key, action in zip(keys, actions, strict=True) if action in _CLICKED}
    first = {key: row for row, key in reversed(list(enumerate(keys))) if actions[row] in _SHOWN}
    kept = sorted(first.values())
    return {role: [values[row] for row in kept] for role, values in rows.items()} | {
        "click": [float(keys[row] in clicked) for row in kept]
    }


def _flag(value: Any, records: Records, row: int) -> float:
    text = "" if value is None else str(value).strip().lower()
    try:
        return _FLAGS[text] if text in _FLAGS else float(text)
    except ValueError:
        raise DataError(f"a click is 0 or 1; got {value!r}.", where=records.where(row)) from None


def _whole(value: Any, records: Records, row: int) -> int:
    try:
        number = float(value)
        if number == int(number):
            return int(number)
    except (TypeError, ValueError, OverflowError):
        pass
    raise DataError(f"a rank is a whole number; got {value!r}.", where=records.where(row))


def _positions(ranks: Sequence[int]) -> list[int]:
    """Ranks from 1: those of a table in which a 0 occurs count from 0."""
    return [rank + 1 for rank in ranks] if 0 in ranks else list(ranks)


def _is_number(value: Any) -> bool:
    try:
        return value in (None, "") or float(value) == float(value)
    except (TypeError, ValueError):
        return False


def _name(value: Any, records: Records, row: int) -> str | None:
    if value is None or value == "" or value != value:
        return None
    try:
        return id_text(value)
    except ValueError as error:
        raise DataError(f"an id {error}", where=records.where(row)) from None
