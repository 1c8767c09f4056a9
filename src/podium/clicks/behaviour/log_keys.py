"""Keys by which the events of a log are counted, and those of the documents whose features are asked for."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.base.arrays import AnyArray, Array, Ints
from podium.base.errors import ParameterError
from podium.clicks.behaviour.base import EVERYTHING, FIELD
from podium.clicks.behaviour.document_fields import DocumentFields
from podium.clicks.log.click_log import ClickLog


@dataclass(frozen=True, eq=False)
class AskedPages:
    """Pages that are not in a log, each of documents of one query at a time."""

    queries: Sequence[str | None]  # (P,) as the log names them; None if it does not
    times: Ints  # (P,) ms since 1970
    sizes: Ints  # (P,)
    documents: Sequence[str]  # (n,)


@dataclass(frozen=True, eq=False)
class Impressions:
    """Documents of pages, by numbers that a log and other pages share."""

    times: Ints  # (n,) of the page
    pages: Ints  # (n,) rising
    queries: Ints  # (n,) those that the log lacks have its number of queries
    users: Ints  # (n,) −1 if not known


class LogKeys:
    """Numbers of the queries, users, documents and stored values of a log, and of the pages that are asked for."""

    def __init__(self, log: ClickLog, asked: AskedPages | None = None, fields: DocumentFields | None = None) -> None:
        assert log.times is not None, "checked"
        self._log, self._fields, self._pages = log, fields, asked
        self.values = functools.cache(self._values)
        users = np.full(log.n_pages, -1) if log.users is None else log.users
        self.own = _impressions(log.times, log.sizes, log.page_query, users)
        self.asked = self.own
        if asked is not None:
            of_name = {str(name): number for number, name in enumerate(log.query_ids)}
            queries = np.array([of_name.get(str(name), len(of_name)) for name in asked.queries], np.int64)
            self.asked = _impressions(asked.times, asked.sizes, queries, np.full(len(queries), -1))

    def documents(self, rows: Impressions) -> Ints:
        """Number of the document of each impression."""  # (n,)
        return self._documents[1] if rows is self.own else self._documents[2]

    def of(self, by: str) -> tuple[Ints, Ints]:
        """Keys of the impressions of the log, and of those asked for; −1 if there is none: its user is not known."""
        if self.asked is self.own and by == "query-document":
            pairs = self._log.pairs.astype(np.int64)
            return pairs, pairs
        own = self._key(by, self.own)
        if by not in ("query-document", "user-document"):
            return own, own if self.asked is self.own else self._key(by, self.asked)
        distinct, places = np.unique(own, return_inverse=True)  # small numbers: see _Events
        places = np.where(own < 0, -1, places.reshape(-1))
        if self.asked is self.own:
            return places, places
        wanted = self._key(by, self.asked)
        at = np.searchsorted(distinct, wanted)
        same = np.append(distinct, -2)[at] == wanted
        return places, np.where(wanted < 0, -1, np.where(same, at, len(distinct)))

    def _values(self, field: str) -> Ints:
        """Number of the stored value of each document, in the order of their keys; −1 if it has none."""  # (D,)
        return self._stored(field).keys(field, self._documents[0])

    def numbers(self, field: str) -> Array:
        """Stored number of each document asked for."""  # (n,)
        return self._stored(field).numbers(field, self._documents[0])[self.documents(self.asked)]

    def dates(self, field: str) -> Array:
        """Stored date of each document asked for."""  # (n,)
        return self._stored(field).dates(field, self._documents[0])[self.documents(self.asked)]

    def _key(self, by: str, rows: Impressions) -> Ints:
        """Key of each impression: any number from 0; −1 if there is none."""
        match by:
            case "document":
                return self.documents(rows)
            case "query":
                return rows.queries
            case "user":
                return rows.users
            case "query-document":
                return rows.queries * self._width + self.documents(rows)
            case "user-document":
                return np.where(rows.users < 0, -1, rows.users * self._width + self.documents(rows))
            case _ if by.startswith(FIELD):
                return self.values(by.removeprefix(FIELD))[self.documents(rows)]
        assert by == EVERYTHING
        return np.zeros(len(rows.times), np.int64)

    @functools.cached_property
    def _documents(self) -> tuple[list[str], Ints, Ints]:
        """Ids of all documents, and the number of the document of each own and of each asked impression."""
        log, more = self._log, [] if self._pages is None else self._pages.documents
        names = np.concatenate([log.document_ids.astype(str), np.array(more, str)])
        ids, numbers = np.unique(names, return_inverse=True)
        of_pair, asked = np.split(numbers.reshape(-1), [log.n_pairs])
        return ids.tolist(), of_pair[log.pairs], asked

    @property
    def _width(self) -> int:
        return len(self._documents[0]) + 1

    def _stored(self, field: str) -> DocumentFields:
        if self._fields is None:
            raise ParameterError(f"the stored field {field!r} is needed, and no documents were given.")
        return self._fields


def _impressions(times: Ints, sizes: Ints, queries: AnyArray, users: AnyArray) -> Impressions:
    """Impressions from what is of their page."""
    pages = np.repeat(np.arange(len(sizes)), sizes)
    at, of_page = np.asarray(times, np.int64)[pages], (queries[pages].astype(np.int64), users[pages].astype(np.int64))
    return Impressions(at, pages, *of_page)
