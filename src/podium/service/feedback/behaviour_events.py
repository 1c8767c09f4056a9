"""Events of impressions, as behaviour features count them; the rules are those of `podium.clicks.behaviour.base`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from podium.clicks.behaviour.base import DAY


@dataclass(frozen=True, slots=True)
class Page:
    """An impression, as far as it is counted."""

    n: int
    request: str
    at: int
    query: str
    user: bytes | None
    documents: list[str]


@dataclass(frozen=True, slots=True)
class Shown:
    """A document of an impression, and what its user did."""

    document: str
    rank: int
    clicked: int | None  # ms since 1970
    span: int | None  # ms of dwell time

    def by_day(self, at: int) -> dict[int, list[int]]:
        """Events of each day, of a page at this time: shown, clicks, dwells, dwell in ms."""
        events = [(at, (1, 0, 0, 0))]
        clicked = at if self.clicked is None else self.clicked
        if self.clicked is not None:
            events.append((clicked, (0, 1, 0, 0)))
        if self.span is not None:
            events.append((clicked + self.span, (0, 0, 1, self.span)))
        days: dict[int, list[int]] = {}
        for time, amounts in events:
            days[time // DAY] = [a + b for a, b in zip(days.get(time // DAY, [0] * 4), amounts, strict=True)]
        return days


def pages(base: sqlite3.Connection, where: str, values: Sequence[object]) -> Iterator[Page]:
    """Impressions; a damaged list of documents is empty."""
    rows = base.execute(f"SELECT n, request, at, query, user, documents FROM impression WHERE {where}", values)
    for n, request, at, query, user, documents in rows.fetchall():
        try:
            ids = json.loads(documents)
        except (ValueError, TypeError):
            ids = []
        texts = ids if isinstance(ids, list) and all(isinstance(id, str) for id in ids) else []
        yield Page(n, request, at, query, user, texts)


def shown(base: sqlite3.Connection, page: Page, document: str | None = None) -> list[Shown]:
    """Documents of an impression with their events, or one of them; none without a query."""
    if not page.query:
        return []
    events = base.execute(
        "SELECT kind, document, value, at FROM event WHERE request=? AND kind IN ('click', 'dwell') ORDER BY n",
        (page.request,),
    ).fetchall()
    documents = []
    for rank, id in enumerate(page.documents, 1):
        if document is not None and id != document:
            continue
        own = [event for event in events if event[1] == id] if events else []
        times = [at for kind, _, _, at in own if kind == "click"]
        spans = [float(value) for kind, _, value, _ in own if kind == "dwell" and value is not None]
        clicked = max(page.at, min(times)) if times else None
        documents.append(Shown(id, rank, clicked, round(1000.0 * sum(spans)) if spans else None))
    return documents
