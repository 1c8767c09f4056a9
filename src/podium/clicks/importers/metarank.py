"""Importer of Metarank events: JSON Lines of `ranking` events, joined to `interaction` events by their id.

A page is a ranking event: its `items`, and the query in its `fields`. Clicks are the interactions whose `ranking` is
its id and whose `type` is one of `actions`. Rankings without a query are dropped and counted. The fields were checked
against Metarank's documentation of supported events.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podium.base.errors import DataError
from podium.base.files import Source, source_name
from podium.clicks.log.click_files import id_text, json_lines
from podium.clicks.log.click_log import ClickLog, Repeated
from podium.clicks.log.click_pages import PageList, as_milliseconds

_SECONDS = 1e11  # a smaller time is in seconds: as milliseconds it would be before March 1973


def read_metarank(
    source: Source, *, actions: Sequence[str] = ("click",), query: str = "query", repeated: Repeated = "refuse"
) -> ClickLog:
    """Read a click log of Metarank events; `query` is the name of the field that holds the query.

    `source`: a path, or an open file.
    `actions`: types of interactions that count as clicks.
    `repeated`: a document twice on a page: an error (`refuse`), or an impression for each place (`keep`).
    """
    pages = PageList(source_name(source), repeated=repeated)
    rankings: dict[str, tuple[int, dict[str, Any]]] = {}
    clicks: dict[str, list[tuple[str, float | None]]] = {}
    for number, event in json_lines(source):
        try:
            kind = event.get("event")
            if kind == "ranking":
                rankings[id_text(event.get("id"), "the id of a ranking")] = number, event
            elif kind == "interaction" and event.get("type") in actions and event.get("ranking") is not None:
                item = id_text(event.get("item"), "the item of an interaction")
                clicks.setdefault(id_text(event["ranking"], "'ranking'"), []).append((item, _time(event)))
        except ValueError as error:
            raise DataError(f"{error}.", where=pages.place(number)) from None
    for name, (number, event) in rankings.items():
        try:
            _add(pages, name, event, clicks.pop(name, []), query=query, line=number)
        except ValueError as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{error}.", where=pages.place(number)) from None
    pages.dropped_clicks += sum(map(len, clicks.values()))
    return pages.log()


def _add(
    pages: PageList, name: str, event: dict[str, Any], clicks: list[tuple[str, float | None]], *, query: str, line: int
) -> None:
    items, fields = event.get("items"), event.get("fields")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ValueError("'items' of a ranking must be a list of objects with an id")
    if fields is not None and not isinstance(fields, list):
        raise ValueError("'fields' of a ranking must be a list of objects with name and value")
    queries = [field for field in fields or [] if isinstance(field, dict) and field.get("name") == query]
    if not queries or not isinstance(queries[0].get("value"), str):
        pages.dropped_pages += 1
        return
    documents = [id_text(item.get("id"), "the id of an item") for item in items]
    places = {document: at for at, document in reversed(list(enumerate(documents, 1)))}
    beyond = len(documents) + 1
    pages.add(queries[0]["value"], documents, [places.get(item, beyond) for item, _ in clicks], line=line)
    for item, time in clicks:
        pages.set_click(places.get(item, beyond), time, None)
    pages.set_name("page_ids", name)
    for field, column in (("user", "users"), ("session", "visits")):
        if event.get(field) is not None:
            pages.set_name(column, id_text(event[field], f"{field!r}"))
    time = _time(event)
    if time is not None:
        pages.set_number("times", time)


def _time(event: dict[str, Any]) -> float | None:
    value = event.get("timestamp")
    if value is None:
        return None
    try:
        number = as_milliseconds(float(value) if isinstance(value, str) and value.isdecimal() else value)
    except ValueError:
        raise ValueError(f"'timestamp' must be milliseconds since 1970 or ISO 8601; got {str(value)[:40]!r}") from None
    plain = isinstance(value, int | float) or value.isdecimal()
    return number * 1000.0 if plain and abs(number) < _SECONDS else number
