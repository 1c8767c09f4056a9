"""Names of the queries of a click log: a log that names queries by their text is joined to data by their ids.

>>> from podium.formats.query_texts import QueryTexts
>>> log = ClickLog.from_pages([("Red  shoes", ["a"], [1]), ("umbrella", ["b"], []), ("q1", ["a"], [])])
>>> named = name_queries(log, QueryTexts({"q1": "red shoes"}, "queries.jsonl"))
>>> named.log
ClickLog(2 pages of 1 queries, 1 pairs, 1 clicks)
>>> print(named)
2 of 3 pages joined by the queries of queries.jsonl; 1 page of 1 query left out, e.g. 'umbrella'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from podium.base.errors import DataError, counted
from podium.clicks.log.click_log import ClickLog, pages_of

if TYPE_CHECKING:
    from podium.formats.query_texts import QueryTexts

BY_TEXT = "If the log names queries by their text, give a file of their ids and texts (--queries)."
"""What to do if the queries of a log are not those of the data."""


@dataclass(frozen=True)
class Named:
    """A log whose queries have the ids of a file, and how many of its pages were joined."""

    log: ClickLog
    pages: int  # before
    left_out: tuple[str, ...]  # queries of the log that the file does not have
    source: str | None

    def __str__(self) -> str:
        joined = self.log.n_pages
        text = f"{joined} of {counted(self.pages, 'page')} joined by the queries of {self.source or 'the file'}"
        if not self.left_out:
            return text
        queries = counted(len(self.left_out), "query", "queries")
        rest = counted(self.pages - joined, "page")
        return f"{text}; {rest} of {queries} left out, e.g. {self.left_out[0]!r}"


def name_queries(log: ClickLog, queries: QueryTexts) -> Named:
    """Rename the queries of a log, given by id or text, to the ids of a file; pages of other queries are left out.

    `log`: a log whose query ids, or texts that users typed, are in the file.
    `queries`: ids and texts of queries, as `QueryTexts.read` reads them.
    """
    where = log.source or "the log"
    names = [str(name) for name in log.query_ids]
    ids = _ids(log, queries)
    left_out = tuple(names[query] for query in np.unique(log.page_query).tolist() if ids[query] is None)
    if log.n_pages and all(ids[query] is None for query in np.unique(log.page_query).tolist()):
        first = next(iter(queries.texts.items()), ("–", "–"))
        raise DataError(
            f"none of its queries is in {queries.source or 'the file of queries'}: the log has {left_out[0]!r}, the "
            f"file {first[0]!r} with the text {first[1]!r}. Is it the file of the queries of this log?",
            where=where,
        )
    renamed = _renamed(log, ids)
    texts = np.array([queries.texts.get(str(id), "") for id in renamed.query_ids], object)
    return Named(replace(renamed, query_texts=texts), log.n_pages, left_out, queries.source)


def with_known_names(log: ClickLog, queries: QueryTexts) -> ClickLog:
    """Rename the queries of a log that `queries` has, by id or text, to their ids; the others keep their names."""
    names = [str(name) for name in log.query_ids]
    return _renamed(log, [name if id is None else id for name, id in zip(names, _ids(log, queries), strict=True)])


def _ids(log: ClickLog, queries: QueryTexts) -> list[str | None]:
    """Id of each query of a log, by its id or text; None if `queries` does not have it."""
    where = log.source or "the log"
    ids = queries.to_ids([str(name) for name in log.query_ids], where=where)
    if log.query_texts is None:
        return ids
    typed = queries.to_ids([str(text) for text in log.query_texts], where=where)
    return [text if id is None else id for id, text in zip(ids, typed, strict=True)]


def _renamed(log: ClickLog, names: Sequence[str | None]) -> ClickLog:
    """A log with other names of queries; pages of those called None are left out, and equal names become one query."""
    kept = np.flatnonzero(np.array([name is not None for name in names], np.bool_)[log.page_query])
    pages = kept if log.places is None else kept[np.argsort(log.places[kept])]  # as they were in the file
    parts = pages_of(log, pages)
    numbers = {name: k for k, name in enumerate(dict.fromkeys(name for name in names if name is not None))}
    codes = np.array([-1 if name is None else numbers[name] for name in names], np.int64)
    documents, document = np.unique(log.document_ids.astype(str), return_inverse=True)
    whole = {"ranker_names", "dropped_clicks", "dropped_pages", "source"}
    more = {field.name: getattr(log, field.name) for field in fields(log) if field.name in whole}
    more |= {name: parts[name] for name in parts if name not in ("pairs", "clicks", "offsets", "page_query", "places")}
    return ClickLog.from_codes(
        (codes[parts["page_query"]], list(numbers)),
        (document[parts["pairs"]], documents.tolist()),
        offsets=parts["offsets"],
        clicks=parts["clicks"],
        repeated="keep",
        more=more,
    )
