"""Clicks as fields of documents: numbers of clicks and impressions, and the queries that led to clicks.

>>> from podium.clicks import ClickLog
>>> log = ClickLog.from_pages([("red shoes", ["a", "b"], [1]), ("boots", ["a"], [])])
>>> list(with_clicks([{"id": "a", "text": "shoe"}, {"id": "c", "text": "hat"}], document_clicks(log)))
[{'id': 'a', 'text': 'shoe', 'clicks': 1, 'impressions': 2, 'queries': 'red shoes'}, \
{'id': 'c', 'text': 'hat', 'clicks': 0, 'impressions': 0}]
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.errors import DataError
from podium.text.collection.field_kinds import SAMPLE, searched_fields
from podium.text.collection.id_field import id_field

if TYPE_CHECKING:
    from podium.clicks import ClickLog
    from podium.formats.query_texts import QueryTexts

QUERIES = "queries"
"""The field of the queries that led to clicks."""


@dataclass
class Clicked:
    """What a log says of a document."""

    clicks: float = 0.0
    impressions: float = 0.0
    queries: list[str] = field(default_factory=list)


def document_clicks(log: ClickLog, of: QueryTexts | None = None) -> dict[str, Clicked]:
    """Clicks, impressions and queries of each document; `of` are the queries that count, by id or text.

    The text of a query is that of the log, else that in `of`, else its id.
    """
    names = log.query_ids.tolist() if log.query_texts is None else log.query_texts.tolist()
    texts = [text or id for text, id in zip(names, log.query_ids.tolist(), strict=True)]
    counts = np.ones(len(texts), np.bool_)
    if of is not None:
        by_id, by_text = (of.to_ids(some, where=log.source or "the log") for some in (log.query_ids.tolist(), texts))
        known = [first if first is not None else second for first, second in zip(by_id, by_text, strict=True)]
        counts = np.array([id is not None for id in known], np.bool_)
        texts = [text if id is None else of.texts[id] for text, id in zip(texts, known, strict=True)]
        if not counts.any():
            raise DataError(f"no query of {log.source or 'the log'} is among those of {of.source or 'the queries'}.")
    times = log.page_counts[log.page_of]
    shown = np.bincount(log.pairs, times, minlength=log.n_pairs)
    clicked = np.bincount(log.pairs, times * log.clicks, minlength=log.n_pairs)
    documents = dict[str, Clicked]()
    for pair in np.flatnonzero(counts[log.pair_query]):
        document = documents.setdefault(str(log.document_ids[pair]), Clicked())
        document.clicks += float(clicked[pair])
        document.impressions += float(shown[pair])
        if clicked[pair]:
            document.queries.append(texts[log.pair_query[pair]])
    return documents


def with_clicks(
    documents: Iterable[Mapping[str, Any]], clicked: Mapping[str, Clicked], *, id: str | None = None
) -> Iterator[dict[str, Any]]:
    """Documents with the fields `clicks`, `impressions` and, if there was a click, `queries`."""
    for document in documents:
        taken = [name for name in ("clicks", "impressions", QUERIES) if name in document]
        if taken:
            raise DataError(f"documents have a field {taken[0]!r} already, which clicks would replace. Rename it.")
        seen = clicked.get(str(document.get(id_field([document], id) or "id")), Clicked())
        numbers = {"clicks": _whole(seen.clicks), "impressions": _whole(seen.impressions)}
        yield {**document, **numbers, **({QUERIES: "\n".join(seen.queries)} if seen.queries else {})}


def fields_with_queries(
    documents: Iterator[dict[str, Any]], fields: Sequence[str] | None, *, id: str | None, title: str | None
) -> tuple[Iterator[dict[str, Any]], list[str]]:
    """The documents, and the fields to search: those asked for, or the default ones, and `queries`."""
    if fields is not None:
        return documents, [*dict.fromkeys([*fields, QUERIES])]
    first = list(itertools.islice(documents, SAMPLE))
    plain = [{name: value for name, value in document.items() if name != QUERIES} for document in first]
    names = searched_fields(plain, id=id_field(plain, id), title=title or "title")
    return itertools.chain(first, documents), [*names, QUERIES]


def _whole(number: float) -> int | float:
    return int(number) if number.is_integer() else number
