"""Importer of User Behavior Insights, UBI (OpenSearch, Elasticsearch, Solr; schemas 1.0 to 1.3).

Queries and events may be in one file or several: JSON Lines, bulk JSON Lines with {"index": …} lines between, the JSON
of a search response, or Parquet. A record with an `action_name` is an event.

- A page is a `query_id`. Its query is the `user_query`, in Unicode's NFKC form, case-folded, spaces squeezed: the
  `query_id` is new for every search.
- It shows the `query_response_hit_ids`; if there are none, the documents of its impression and view events, by
  `event_attributes.position.ordinal`; without these the page is dropped and counted.
- Ordinals count from 0 in an application in which a 0 occurs, else from 1.
- Clicks are events whose `action_name` is one of `actions`, on `event_attributes.object.object_id`, or on the ordinal
  if they name no object.
- The ranker of a page is an attribute of its query or of its events, such as `query_attributes.experiment`: the one
  asked for, or the first of `RANKERS` that tells pages apart.

The fields were checked against OpenSearch's documentation of UBI and a public sample of three applications.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name
from podium.clicks.log.click_files import json_lines
from podium.clicks.log.click_log import ClickLog, Repeated
from podium.clicks.log.click_pages import PageList, as_milliseconds, is_unicode
from podium.formats.elastic_dump import documents_of, is_response
from podium.formats.query_texts import normalised
from podium.formats.sniff import table_kind
from podium.formats.tables.tables import read_frame

_SHOWN = ("impression", "view")
RANKERS = tuple(
    f"{attributes}.{name}"
    for attributes in ("query_attributes", "event_attributes")
    for name in (
        "ranker", "experiment", "experiment.variant", "variant", "model", "algorithm", "search_config", "experiment_id",
    )
)  # fmt: skip
"""Attributes that usually name the ranker of a page."""
_MOST_RANKERS = 50
"""An attribute with more values is not taken for that of the ranker, unless it is asked for."""


@dataclass
class _Search:
    """Search of a query_id, from all of its records."""

    line: int
    text: str | None = None
    hits: list[str] = field(default_factory=list)
    application: str = ""
    user: str | None = None
    visit: str | None = None
    time: float | None = None
    shown: list[tuple[int, str]] = field(default_factory=list)  # ordinal, document
    acts: list[tuple[str, str | None, int | None, float | None]] = field(default_factory=list)
    rankers: dict[str, str] = field(default_factory=dict)  # by attribute


@dataclass(frozen=True)
class ImportedUBI:
    """A click log of UBI, and the attribute from which its rankers are; None if it has none."""

    log: ClickLog
    ranker: str | None


def read_ubi(
    *sources: Source,
    actions: Sequence[str] = ("click",),
    grades: Mapping[str, float] | None = None,
    repeated: Repeated = "refuse",
    ranker: str | None = None,
) -> ClickLog:
    """Read a click log of UBI queries and events.

    `grades` gives documents grades by further actions, {"add_to_cart": 2}; other documents get 0. `ranker` is the
    attribute that names the ranker of a page; by default a usual one.

    `sources`: files of queries and events, in any order.
    `actions`: actions that count as clicks.
    `repeated`: a document twice on a page: an error (`refuse`), or an impression for each place (`keep`).
    """
    return import_ubi(*sources, actions=actions, grades=grades, repeated=repeated, ranker=ranker).log


def import_ubi(
    *sources: Source,
    actions: Sequence[str] = ("click",),
    grades: Mapping[str, float] | None = None,
    repeated: Repeated = "refuse",
    ranker: str | None = None,
) -> ImportedUBI:
    """Read a click log of UBI as `read_ubi`, and say from which attribute its rankers are."""
    wanted = {*actions, *(grades or {})}
    searches: dict[str, _Search] = {}
    attributes = RANKERS if ranker is None else (ranker,)
    zero: set[str] = set()  # applications that count from 0
    for source in sources:
        for number, record in _records(source):
            try:
                _read(record, number, searches, zero, wanted)
                _note_rankers(searches.get(str(record.get("query_id"))), record, attributes)
            except ValueError as error:
                raise DataError(f"{error}.", where=f"{source_name(source)}:{number}") from None
    name = source_name(sources[0]) if sources else "<ubi>"
    pages, chosen = PageList(name, repeated=repeated), _ranker(searches, ranker, name)
    for id, search in searches.items():
        added = len(pages.lines)
        _add(pages, id, search, actions=actions, grades=grades or {}, base=0 if search.application in zero else 1)
        if len(pages.lines) > added and chosen in search.rankers:
            pages.set_name("rankers", search.rankers[chosen])
    return ImportedUBI(pages.log(), chosen)


def _note_rankers(search: _Search | None, record: Mapping[str, Any], places: Sequence[str]) -> None:
    """Note the values of attributes that may name the ranker; that of the query counts, else that of an event."""
    if search is None:
        return
    for place in places:
        value: Any = record
        for key in place.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, str | int | float) and value != "":
            if record.get("action_name") is None:
                search.rankers[place] = str(value)
            else:
                search.rankers.setdefault(place, str(value))


def _ranker(searches: Mapping[str, _Search], asked: str | None, name: str) -> str | None:
    """The attribute that names the rankers: the one asked for, or the first usual one that tells pages apart."""
    values: dict[str, set[str]] = {}
    for search in searches.values():
        for place, value in search.rankers.items():
            values.setdefault(place, set()).add(value)
    if asked is not None:
        if searches and asked not in values:
            raise DataError(f"no query and no event has a text or number as {asked!r}, to name its ranker.", where=name)
        return asked
    usual = [place for place in RANKERS if 1 <= len(values.get(place, ())) <= _MOST_RANKERS]
    return next((place for place in usual if len(values[place]) > 1), usual[0] if usual else None)


def _records(source: Source) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Queries and events of a file, with the numbers of their lines or rows."""
    name = source_name(source)
    if isinstance(source, str | os.PathLike) and table_kind(name) == "parquet":
        yield from enumerate(read_frame(source, lambda table: table.to_pylist()), 1)
        return
    response = _response(source)
    yield from documents_of(json_lines(source) if response is None else [(1, response)], name)


def _response(source: Source) -> dict[str, Any] | None:
    """The response to a search, if it is spread over many lines; None for lines of JSON."""
    if not isinstance(source, str | os.PathLike) or source == "-":
        return None
    with reading(source) as file:
        first = file.readline()
        try:
            json.loads(first)
        except (ValueError, RecursionError):
            pass
        else:
            return None
        try:
            whole = json.loads(first + file.read())
        except (ValueError, RecursionError):
            return None  # errors are reported line by line
    return whole if is_response(whole) else None


def _read(
    record: Mapping[str, Any], number: int, searches: dict[str, _Search], zero: set[str], wanted: set[str]
) -> None:
    name = record.get("query_id")
    if not isinstance(name, str) or not name:
        return
    search = searches.setdefault(name, _Search(number))
    _describe(search, record)
    action = record.get("action_name")
    if action is None:
        hits = record.get("query_response_hit_ids")
        if isinstance(hits, list):
            search.hits = [_id(hit) for hit in hits]
        search.line = number
        return
    if not isinstance(action, str):
        raise ValueError(f"'action_name' must be text; got {json.dumps(action)[:60]}")
    inside = record.get("event_attributes")
    attributes = inside if isinstance(inside, dict) else {}
    thing, position = attributes.get("object"), attributes.get("position")
    document = thing.get("object_id") if isinstance(thing, dict) else None
    ordinal = position.get("ordinal") if isinstance(position, dict) else None
    ordinal = int(ordinal) if isinstance(ordinal, int | float) and 0 <= ordinal < 2**31 - 1 else None
    if search.visit is None and isinstance(attributes.get("session_id"), str):
        search.visit = attributes["session_id"]
    if action not in wanted and action not in _SHOWN:
        return
    if ordinal == 0:
        zero.add(search.application)
    document = None if document is None else _id(document)
    if action in _SHOWN and ordinal is not None and document is not None:
        search.shown.append((ordinal, document))
    if action in wanted:
        search.acts.append((action, document, ordinal, _time(record)))


def _describe(search: _Search, record: Mapping[str, Any]) -> None:
    """Set the fields of the search from a record; the first value of each stays."""
    text = record.get("user_query")
    if search.text is None and isinstance(text, str) and text.strip() and is_unicode(text):
        search.text = text.strip()
    if not search.application and isinstance(record.get("application"), str):
        search.application = record["application"]
    users = (record.get("user_id"), record.get("client_id"))
    search.user = search.user or next((user for user in users if isinstance(user, str) and user), None)
    visit = record.get("session_id")
    search.visit = search.visit or (visit if isinstance(visit, str) and visit else None)
    if search.time is None:
        search.time = _time(record)


def _add(
    pages: PageList, name: str, search: _Search, *, actions: Sequence[str], grades: Mapping[str, float], base: int
) -> None:
    documents, positions = _list(search, base)
    if search.text is None or not documents:
        pages.dropped_pages += 1
        pages.dropped_clicks += sum(action in actions for action, *_ in search.acts)
        return
    places = {document: at for at, document in reversed(list(enumerate(documents, 1)))}
    ranks = {rank: at for at, rank in enumerate(positions, 1)}
    beyond = len(documents) + 1
    clicked, graded = [], [0.0] * len(documents)
    for action, document, ordinal, time in search.acts:
        if document is not None:
            at = places.get(document, beyond)
        else:
            at = beyond if ordinal is None else ranks.get(ordinal + 1 - base, beyond)
        if action in actions:
            clicked.append((at, time))
        if action in grades and at < beyond:
            graded[at - 1] = max(graded[at - 1], float(grades[action]))
    pages.add(normalised(search.text), documents, [at for at, _ in clicked], line=search.line)
    for at, time in clicked:
        pages.set_click(at, time, None)
    if positions != list(range(1, beyond)):
        pages.set_all("positions", positions)
    if grades:
        pages.set_all("grades", graded)
    pages.set_text(search.text)
    for column, value in (("page_ids", name), ("users", search.user), ("visits", search.visit)):
        if value is not None:
            pages.set_name(column, value)
    if search.time is not None:
        pages.set_number("times", search.time)


def _list(search: _Search, base: int) -> tuple[list[str], list[int]]:
    """Documents shown and their positions; of events that disagree on a position, the first counts."""
    if search.hits:
        return search.hits, list(range(1, len(search.hits) + 1))
    at: dict[int, str] = {}
    for ordinal, document in search.shown:
        if ordinal >= base and document not in at.values():
            at.setdefault(ordinal, document)
    ordinals = sorted(at)
    return [at[ordinal] for ordinal in ordinals], [ordinal + 1 - base for ordinal in ordinals]


def _id(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"an id must be text; got {json.dumps(value, default=str)[:60]}")
    return str(value)


def _time(record: Mapping[str, Any]) -> float | None:
    """Time of a record in ms; None if it has none that can be read."""
    value = record.get("timestamp")
    try:
        return None if value is None else as_milliseconds(value if isinstance(value, str | int | float) else str(value))
    except ValueError:
        return None
