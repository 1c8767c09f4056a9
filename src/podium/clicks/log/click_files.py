"""Files of click logs: JSON Lines (.jsonl, .jsonl.gz), one page per line, and Parquet (.parquet) of the same columns.

    {"query": "q7", "documents": ["d3", "d1", "d9"], "clicks": [2]}

Optional fields: page, visit, user, ranker, text, time (ISO 8601, or ms since 1970), count; positions, propensities and
grades, as long as documents. Clicks are positions in `documents`, from 1, or objects
{"at": 2, "time": …, "dwell": seconds, "action": "click"}. A page without clicks has an empty list. Other fields are not
read. Ids are text; whole numbers are taken as their text.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name, writing
from podium.clicks.log.click_log import NO_TIME, ClickLog, Repeated
from podium.clicks.log.click_pages import PageList, as_milliseconds
from podium.clicks.log.click_parquet import read_parquet_clicks, write_parquet_clicks
from podium.formats.sniff import table_kind

_ACTIONS = ("click",)
_PAGE_NAMES = {"page": "page_ids", "visit": "visits", "user": "users", "ranker": "rankers"}
_IMPRESSION_NUMBERS = ("positions", "propensities", "grades")
_MOST_RANKERS = 2**15 - 1


def read_clicks(source: Source, *, actions: Sequence[str] = _ACTIONS, repeated: Repeated = "refuse") -> ClickLog:
    """Read a click log. Clicks that name an action count if it is one of `actions`.

    A document that is twice on a page is an error; with `repeated="keep"` each place is an impression.

    `source`: a path or an open file.
    `repeated`: `refuse` or `keep`, see above.
    """
    kind = table_kind(source_name(source))
    if kind == "parquet":
        if not isinstance(source, str | os.PathLike):
            raise DataError("Parquet is read from a path, not from an open file.", where=source_name(source))
        return read_parquet_clicks(source, actions=actions, repeated=repeated)
    if kind == "csv" or kind == "tsv":
        raise DataError(
            "a click log is JSON Lines or Parquet. Read the table as a frame and use clicks_from_frame.",
            where=source_name(source),
        )
    return read_json_clicks(source, actions=actions, repeated=repeated)


def write_clicks(log: ClickLog, target: Source) -> None:
    """Write a click log: Parquet if the name ends in .parquet, else JSON Lines, gzipped if it ends in .gz.

    `target`: a path; .jsonl, .jsonl.gz or .parquet.
    `log`: the pages to write, with all fields that they have.
    """
    if table_kind(source_name(target)) == "parquet":
        write_parquet_clicks(log, target)
    else:
        with writing(target) as file:
            _write_lines(log, file)


def read_json_clicks(source: Source, *, actions: Sequence[str] = _ACTIONS, repeated: Repeated = "refuse") -> ClickLog:
    """Read a click log in JSON Lines."""
    pages = PageList(source_name(source), repeated=repeated)
    wanted = frozenset(actions)
    for number, record in json_lines(source):
        try:
            _add(pages, record, number, wanted)
        except DataError:
            raise
        except (ValueError, TypeError, OverflowError) as error:
            raise DataError(f"{error}.", where=pages.place(number)) from None
    return pages.log()


def json_lines(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read JSON Lines: the number and the object of each line; blank lines are skipped."""
    name = source_name(source)
    with reading(source) as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if not text.strip():
                    continue
                record = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise DataError(f"not a line of JSON: {error}.", where=f"{name}:{number}") from None
            if not isinstance(record, dict):
                raise DataError(
                    f"expected a JSON object in braces; got {_kind(record)}.", where=f"{name}:{number}"
                )  # fmt: skip
            yield number, record


def id_text(value: object, what: str) -> str:
    """Id as text; whole numbers are taken as their text."""
    if type(value) is str:
        return value
    if type(value) is int:
        return str(value)
    raise ValueError(f"{what} must be text; got {_kind(value)}")


def _add(pages: PageList, record: dict[str, Any], line: int, actions: frozenset[str]) -> None:
    for field in ("query", "documents", "clicks"):
        if field not in record:
            more = "; a page without clicks has an empty list" if field == "clicks" else ""
            raise ValueError(f"the page has no {field!r}{more}")
    documents, clicks = record["documents"], record["clicks"]
    for field, value in (("documents", documents), ("clicks", clicks)):
        if type(value) is not list:
            raise ValueError(f"{field!r} must be a list; got {_kind(value)}")
    if not {str}.issuperset(map(type, documents)):
        documents = [id_text(document, "a document") for document in documents]
    if {int}.issuperset(map(type, clicks)):
        pages.add(id_text(record["query"], "the query"), documents, clicks, line=line)
    else:
        events = [event for event in map(_event, clicks) if event[3] in actions]
        pages.add(id_text(record["query"], "the query"), documents, [at for at, *_ in events], line=line)
        for at, time, dwell, _ in events:
            pages.set_click(at, time, dwell)
    if len(record) > 3:
        _add_more(pages, record, len(documents))


def _add_more(pages: PageList, record: dict[str, Any], n: int) -> None:
    for field, name in _PAGE_NAMES.items():
        if record.get(field) is not None:
            pages.set_name(name, id_text(record[field], f"{field!r}"))
    if len(pages.numberings.get("rankers", ())) > _MOST_RANKERS:
        raise ValueError(f"more than {_MOST_RANKERS} rankers; is 'ranker' an id of the page")
    if record.get("time") is not None:
        pages.set_number("times", _time(record["time"]))
    if record.get("count") is not None:
        pages.set_number("counts", _number(record["count"], "'count'"))
    if record.get("text") is not None:
        text = id_text(record["text"], "'text'")
        pages.set_text(text.encode("utf-8", "replace").decode())
    for field in _IMPRESSION_NUMBERS:
        values = record.get(field)
        if values is None:
            continue
        if type(values) is not list or len(values) != n:
            got = f"{len(values)}" if type(values) is list else _kind(values)
            raise ValueError(f"{field!r} must be a list of {n} numbers, one for each document; got {got}")
        whole = field == "positions"
        pages.set_all(field, [_number(value, f"{field!r}", whole=whole, none=field == "grades") for value in values])


def _event(click: object) -> tuple[int, float | None, float | None, str]:
    """Position, time, dwell and action of a click."""
    if type(click) is int:
        return click, None, None, "click"
    if type(click) is not dict or type(click.get("at")) is not int:
        raise ValueError(f'a click must be a position from 1, or {{"at": position, …}}; got {_kind(click)}')
    time, dwell = click.get("time"), click.get("dwell")
    seconds = None if dwell is None else _number(dwell, "'dwell'")
    if seconds is not None and seconds < 0:
        raise ValueError(f"'dwell' must be a time of at least 0 seconds; got {dwell}")
    action = click.get("action", "click")
    return click["at"], None if time is None else _time(time), seconds, action if type(action) is str else ""


def _time(value: object) -> float:
    try:
        return as_milliseconds(value)
    except ValueError:
        got = repr(value[:40]) if isinstance(value, str) else _kind(value)
        raise ValueError(
            f"a time must be like 2024-12-10T00:01:29.378Z, or milliseconds since 1970; got {got}"
        ) from None


def _number(value: object, what: str, *, whole: bool = False, none: bool = False) -> float:
    if value is None and none:
        return math.nan
    largest = 2**31 - 1 if whole else 1e300
    if (type(value) is int or (type(value) is float and not whole)) and abs(value) <= largest:
        return float(value)
    raise ValueError(f"{what} must hold {'whole numbers' if whole else 'finite numbers'}; got {_kind(value)}")


def _kind(value: object) -> str:
    """Describe a value of JSON in a few words."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value)[:60]


def _write_lines(log: ClickLog, file: BinaryIO) -> None:
    ranker = np.array([*log.ranker_names, None], object)
    timed = log.click_times is not None or log.dwell is not None
    for page in range(log.n_pages) if log.places is None else np.argsort(log.places).tolist():
        a, b = int(log.offsets[page]), int(log.offsets[page + 1])
        record: dict[str, Any] = {
            "query": log.query_ids[log.page_query[page]],
            "documents": log.document_ids[log.pairs[a:b]].tolist(),
        }
        clicked = (np.flatnonzero(log.clicks[a:b]) + 1).tolist()
        record["clicks"] = [event for at in clicked for event in _events(log, a, at)] if timed else clicked
        for field, codes in (("visit", log.visits), ("user", log.users)):
            if codes is not None and codes[page] >= 0:
                record[field] = str(codes[page])
        if log.rankers is not None and log.rankers[page] >= 0:
            record["ranker"] = ranker[log.rankers[page]]
        if log.page_ids is not None and log.page_ids[page]:
            record["page"] = log.page_ids[page]
        if log.times is not None and log.times[page] != NO_TIME:
            record["time"] = int(log.times[page])
        if log.counts is not None:
            record["count"] = float(log.counts[page])
        if log.query_texts is not None and log.query_texts[log.page_query[page]]:
            record["text"] = log.query_texts[log.page_query[page]]
        for field in _IMPRESSION_NUMBERS:
            values = getattr(log, field)
            if values is not None:
                record[field] = [None if value != value else value for value in values[a:b].tolist()]
        file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


def _events(log: ClickLog, first: int, at: int) -> list[dict[str, Any]]:
    """Events of a click at a position: two if it was clicked again later."""
    row = first + at - 1
    events: list[dict[str, Any]] = [{"at": at}]
    times = (log.click_times, log.last_click_times)
    recorded = [int(t[row]) for t in times if t is not None and not math.isnan(t[row])]
    if recorded:
        events[0]["time"] = recorded[0]
    if log.dwell is not None and not math.isnan(log.dwell[row]):
        events[0]["dwell"] = float(log.dwell[row])
    if len(set(recorded)) > 1:
        events.append({"at": at, "time": recorded[1]})
    return events
