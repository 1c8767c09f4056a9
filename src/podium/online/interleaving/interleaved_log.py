"""Click log of interleaved results pages: JSON Lines, one page per line with its clicks; and the outcome of each.

    {"page": "shoes-7", "query": "shoes", "clicks": [1, 3], "user": "u5", "documents": ["d3", "d1", "d9"]}

`page`, `query` and `clicks` are needed. Clicks are positions from 1, or objects {"at": 2, …}; a page without clicks has
an empty list, and must be in the log. `documents` are compared with those that the page must have had. All lines have a
`user`, or none. Other fields are not read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name
from podium.online.interleaving.base import Interleaver
from podium.online.interleaving.multileaving import Multileaver


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Outcomes of the pages of a log."""

    outcomes: Array  # (P,), or (P, R) of R rankers
    users: tuple[str, ...] | None  # (P,)


def read_outcomes(source: Source, interleaver: Interleaver | Multileaver) -> Outcomes:
    """Read a log and compute the outcome of each page, which `interleaver` makes again."""
    name = source_name(source)
    outcomes: list[float | Array] = []
    users: list[str | None] = []
    seen: dict[tuple[str, str], int] = {}
    with reading(source) as file:
        for number, raw in enumerate(file, 1):
            if not raw.strip():
                continue
            where = f"{name}:{number}"
            line = _parsed(raw, where)
            key = line["query"], line["page"]
            if key in seen:
                raise DataError(f"page {key[1]!r} of query {key[0]!r} is in line {seen[key]} too.", where=where)
            seen[key] = number
            outcomes.append(_outcome(line, interleaver, where))
            users.append(line.get("user"))
            if (users[-1] is None) != (users[0] is None):
                raise DataError("a user is in some lines and not in others. Give it in all or in none.", where=where)
    if not outcomes:
        raise DataError("no pages: expected a JSON object a line with page, query and clicks.", where=name)
    return Outcomes(np.array(outcomes), None if users[0] is None else tuple(map(str, users)))


def _parsed(raw: bytes, where: str) -> dict[str, Any]:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        raise DataError("cannot be read as JSON; expected an object a line.", where=where) from None
    if not isinstance(line, dict):
        raise DataError(f"expected a JSON object; got {type(line).__name__}.", where=where)
    for field in ("query", "page"):
        if not isinstance(line.get(field), str | int) or isinstance(line[field], bool):
            raise DataError(f"expected {field!r} as text; got {line.get(field)!r}.", where=where)
        line[field] = str(line[field])
    return line


def _outcome(line: dict[str, Any], interleaver: Interleaver | Multileaver, where: str) -> float | Array:
    try:
        page = interleaver.page(line["query"], line["page"])
        shown = line.get("documents")
        if shown is not None and (not isinstance(shown, list) or list(map(str, shown)) != list(page.documents)):
            raise DataError(
                f"page {page.page!r} shows other documents than {interleaver.method} with seed {interleaver.seed} and "
                f"length {interleaver.length} makes of these runs. Give those that made the page."
            )
        return page.outcome(_positions(line.get("clicks")))
    except DataError as error:
        raise DataError(str(error), where=where) from None


def _positions(clicks: object) -> list[int]:
    if not isinstance(clicks, list):
        raise DataError(f"expected 'clicks' as a list, empty if there were none; got {clicks!r}.")
    positions: list[Any] = [click.get("at") if isinstance(click, dict) else click for click in clicks]
    wrong = [position for position in positions if not isinstance(position, int) or isinstance(position, bool)]
    if wrong:
        raise DataError(f"clicks are positions from 1, or objects with 'at'; got {wrong[0]!r}.")
    return positions
