"""Click log: results pages with their impressions, and the clicks of users.

    >>> log = ClickLog.from_pages([("q7", ["d3", "d1", "d9"], [2]), ("q7", ["d1", "d3"], [])])
    >>> log.n_pages, log.n_pairs, log.clicks.tolist(), log.document_ids[log.pairs].tolist()
    (2, 3, [0, 1, 0, 0, 0], ['d3', 'd1', 'd9', 'd1', 'd3'])

A page (results page) is one list shown for one query, an impression is a document on a page, a visit (session) is a
sequence of pages of one user, a pair is a (query, document). Pages are sorted by query, and pairs are numbered by the
text of their query and document, so results do not depend on the order in which pages were read. Pages without clicks
belong in a log: without them, click rates are meaningless.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import AnyArray, Array, Bytes, Int32s, Ints
from podium.base.columns import text_ids, whole_numbers
from podium.base.errors import DataError
from podium.jit.compiled import compiled

Repeated = Literal["refuse", "keep"]
"""Treatment of a document that is twice on a page: raise an error, or count each place as an impression."""
LONGEST = 1000
"""Largest number of documents on a page."""
NO_TIME = np.iinfo(np.int64).min
"""Time of a page without one."""

_PER_PAGE = ("page_query", "visits", "users", "places", "times", "rankers", "counts", "page_ids")
_PER_IMPRESSION = (
    "pairs",
    "clicks",
    "positions",
    "propensities",
    "grades",
    "click_times",
    "last_click_times",
    "dwell",
)


@dataclass(frozen=True, eq=False)
class ClickLog:
    """Click log of P pages with I impressions of U pairs, sorted by query; fields that are None were not recorded."""

    pairs: Int32s  # (I,) the pair of each impression, page after page, each from the top
    clicks: Bytes  # (I,) 1 if it was clicked; several clicks are one
    offsets: Ints  # (P+1,): impressions offsets[p]:offsets[p+1] are page p
    page_query: Int32s  # (P,) ascending
    pair_query: Int32s  # (U,) ascending
    query_ids: AnyArray  # (Q,) text, ascending
    document_ids: AnyArray  # (U,) text, ascending within a query
    positions: Int32s | None = None  # (I,) from 1, rising within a page; None: 1, 2, …
    propensities: Array | None = None  # (I,) the probability that the impression was shown there
    grades: Array | None = None  # (I,) judges' grades; NaN: none
    click_times: Array | None = None  # (I,) of the first click, in ms; NaN: none
    last_click_times: Array | None = None  # (I,) of the last click, in ms; NaN: none
    dwell: Array | None = None  # (I,) seconds on the document, all clicks together; NaN: unknown
    visits: Int32s | None = None  # (P,) numbered; -1: unknown
    users: Int32s | None = None  # (P,) numbered; -1: unknown
    places: Ints | None = None  # (P,) of pages in the order of their file, if visits or users are known
    times: Ints | None = None  # (P,) ms since 1970; NO_TIME: unknown
    rankers: NDArray[np.int16] | None = None  # (P,) index into ranker_names; -1: unknown
    ranker_names: tuple[str, ...] = ()  # names that `rankers` counts
    counts: Array | None = None  # (P,) how often the page occurred; None: once
    page_ids: AnyArray | None = None  # (P,) text; "": unknown
    query_texts: AnyArray | None = None  # (Q,) what users typed; "": unknown
    dropped_clicks: int = 0
    """Clicks on documents that were not on their page; they are not in the log."""
    dropped_pages: int = 0
    """Pages that an importer left out because it does not know what was shown."""
    source: str | None = None  # where it came from, for messages

    def __repr__(self) -> str:
        return (
            f"ClickLog({self.n_pages} pages of {self.n_queries} queries, {self.n_pairs} pairs, "
            f"{int(self.clicks.sum())} clicks)"
        )

    @property
    def n_pages(self) -> int:
        return len(self.page_query)

    @property
    def n_impressions(self) -> int:
        return len(self.pairs)

    @property
    def n_pairs(self) -> int:
        return len(self.pair_query)

    @property
    def n_queries(self) -> int:
        return len(self.query_ids)

    @property
    def sizes(self) -> Ints:
        """Number of documents of each page."""  # (P,)
        return np.diff(self.offsets)

    @property
    def page_of(self) -> Ints:
        """Page of each impression."""  # (I,)
        return np.repeat(np.arange(self.n_pages), self.sizes)

    @property
    def page_counts(self) -> Array:
        """Number of occurrences of each page."""  # (P,)
        return np.ones(self.n_pages) if self.counts is None else self.counts

    @property
    def n_page_views(self) -> float:
        """Number of page views: pages, each as often as it occurred."""
        return float(self.page_counts.sum())

    def ranks(self, most: int = LONGEST) -> Int32s:
        """Position of each impression, from 1, at most `most`."""  # (I,)
        if self.positions is not None:
            return np.minimum(self.positions, np.int32(most))
        ranks = np.empty(self.n_impressions, np.int32)
        _count_up(self.offsets, most, ranks)
        return ranks

    @functools.cached_property
    def folded(self) -> ClickLog:
        """Log with equal pages folded into one, counted, in an order that depends on their content alone.

        It keeps the fields that click models read: documents, positions, clicks and counts.
        """
        # imported here: the module below needs the class above
        from podium.clicks.log.click_pages import fold

        return fold(self)

    def select(self, pages: AnyArray) -> ClickLog:
        """Select pages by a mask or by ascending numbers; queries and pairs keep their numbers.

        `pages`: a mask (P,) of truth values, or numbers of pages, ascending.
        """
        chosen = np.flatnonzero(pages) if pages.dtype == bool else np.asarray(pages, np.int64)
        return replace(self, **pages_of(self, chosen), dropped_clicks=0, dropped_pages=0)

    def cut(self, depth: int) -> ClickLog:
        """Keep only the first `depth` ranks of each page."""
        kept = self.ranks() <= depth
        if kept.all():
            return self
        taken = {name: x[kept] for name in _PER_IMPRESSION if (x := getattr(self, name)) is not None}
        ends = np.concatenate(([0], np.cumsum(kept)))
        return replace(self, offsets=ends[self.offsets], **taken)

    def with_clicks(self, clicks: AnyArray) -> ClickLog:
        """Replace the clicks; times of clicks are dropped.

        `clicks`: 0 or 1 for each impression (I,), in the order of `pairs`.
        """
        return replace(
            self, clicks=np.asarray(clicks, np.uint8), click_times=None, last_click_times=None, dwell=None,
            dropped_clicks=0,
        )  # fmt: skip

    def find_pairs(self, query_ids: Iterable[object], document_ids: Iterable[object]) -> Ints:
        """Number of each pair (query, document), given as texts; -1 if the log does not have it.

        `query_ids`: of each pair, with its `document_ids`.
        """
        documents = {str(name): code for code, name in enumerate(dict.fromkeys(self.document_ids))}
        queries = {str(name): code for code, name in enumerate(self.query_ids)}
        width = len(documents) + 1
        own = self.pair_query * np.int64(width) + _codes(self.document_ids, documents)
        order = np.argsort(own)
        q, d = _codes(query_ids, queries), _codes(document_ids, documents)
        asked = np.where((q >= 0) & (d >= 0), q * width + d, -1)
        at = np.searchsorted(own, asked, sorter=order)
        pairs = np.append(order, -1)[np.minimum(at, len(order))]
        return np.where((asked >= 0) & (np.append(own, -1)[pairs] == asked), pairs, -1)

    @classmethod
    def from_pages(cls, pages: Iterable[tuple[str, Sequence[str], Sequence[int]]]) -> ClickLog:
        """Log from (query, documents from the top, clicked positions from 1) of each page.

        `pages`: the triples.
        """
        from podium.clicks.log.click_pages import PageList

        page_list = PageList("<pages>", unit="page ")
        for number, (query, documents, clicks) in enumerate(pages, 1):
            where = page_list.place(number)
            (name,) = text_ids([query], "query id", where=where)
            shown = text_ids(documents, "document id", where=where).tolist()
            page_list.add(name, shown, whole_numbers(clicks, "click", where=where).tolist(), line=number)
        return page_list.log()

    @classmethod
    def from_codes(
        cls,
        queries: tuple[AnyArray, Sequence[str]],
        documents: tuple[AnyArray, Sequence[str]],
        *,
        offsets: Ints,
        clicks: Bytes,
        where: Callable[[int], str] | None = None,
        repeated: Repeated = "refuse",
        more: Mapping[str, Any] | None = None,
    ) -> ClickLog:
        """Log from the query of each page (P,) and the document of each impression (I,), numbered, with their names.

        `more` holds other fields, in the same order; `where` names the place of a page in error messages.

        `queries`: the number of each page's query, and the names.
        `documents`: the number of each impression's document, and the names.
        `offsets`: where each page begins, and the end.
        `clicks`: how often each impression was clicked.
        `repeated`: a document twice on a page: an error (`refuse`), or an impression for each place (`keep`).
        """
        more = {key: value for key, value in (more or {}).items() if value is not None}
        if "visits" in more or "users" in more:
            more["places"] = np.arange(len(offsets) - 1)
        place = where or (lambda page: f"page {page + 1}")
        _check_pages(offsets, more, place)
        page_query, query_ids = _sorted_names(*queries)
        codes, names = _sorted_names(*documents)
        order = np.argsort(page_query, kind="stable")
        pairs, parts = np.empty(len(codes), np.int32), np.empty((2, len(codes)), np.int32)
        n_pairs, twice = _number_pairs(codes, offsets, page_query, order, len(names), repeated == "keep", pairs, parts)
        if n_pairs < 0:
            document = names[codes[twice]]
            at = int(np.searchsorted(offsets, twice, side="right")) - 1
            raise DataError(
                f"document {document!r} is twice on this page. Correct the log, or read it with repeated='keep' "
                "(--repeated keep), which counts each place as an impression.",
                where=place(at),
            )
        pair_query, pair_document = parts[:, :n_pairs].copy()
        by_name = np.lexsort((pair_document, pair_query))
        new = np.empty(n_pairs, np.int32)
        new[by_name] = np.arange(n_pairs, dtype=np.int32)
        log = cls(new[pairs], clicks, offsets, page_query, pair_query, query_ids, names[pair_document[by_name]], **more)
        return log if (order[1:] > order[:-1]).all() else replace(log, **pages_of(log, order))


def check_log(value: object) -> None:
    """Raise a clear error for a value that is not a click log."""
    if isinstance(value, str | os.PathLike):
        raise DataError(f"expected a click log; got a path. Read it first: podium.read_clicks({os.fspath(value)!r}).")
    if not isinstance(value, ClickLog):
        raise DataError(f"expected a ClickLog; got {type(value).__name__}. podium.read_clicks and simulate make one.")


def rows_of(offsets: Ints, pages: Ints) -> Ints:
    """Impressions of the given pages, page after page."""
    sizes = offsets[pages + 1] - offsets[pages]
    starts = np.cumsum(sizes) - sizes
    rows: Ints = np.arange(sizes.sum()) + np.repeat(offsets[pages] - starts, sizes)
    return rows


def pages_of(log: ClickLog, pages: Ints) -> dict[str, Any]:
    """Fields of a log, by page or impression, for the given pages in this order."""
    rows = rows_of(log.offsets, pages)
    sizes = log.sizes[pages]
    parts: dict[str, Any] = {"offsets": np.concatenate(([0], np.cumsum(sizes)))}
    for field in fields(log):
        values = getattr(log, field.name)
        if values is not None and field.name in _PER_PAGE:
            parts[field.name] = values[pages]
        elif values is not None and field.name in _PER_IMPRESSION:
            parts[field.name] = values[rows]
    return parts


def _sorted_names(codes: AnyArray, names: Sequence[str]) -> tuple[Int32s, AnyArray]:
    """Renumber codes so that their names ascend."""
    order = sorted(range(len(names)), key=names.__getitem__)
    new = np.empty(len(names), np.int32)
    new[order] = np.arange(len(names), dtype=np.int32)
    sorted_names = np.empty(len(names), object)
    sorted_names[:] = [names[at] for at in order]
    return new[codes] if len(codes) else np.zeros(0, np.int32), sorted_names


def _codes(names: Iterable[object], numbers: dict[str, int]) -> Ints:
    return np.fromiter((numbers.get(str(name), -1) for name in names), np.int64)


_RANGES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "propensities": (lambda x: (x > 0) & (x <= 1), "a propensity must be above 0 and at most 1"),
    "counts": (lambda x: (x > 0) & (x < np.inf), "a count must be a number above 0"),
    "grades": (lambda x: ~np.isinf(x), "a grade must be a finite number"),
    "dwell": (lambda x: ~(x < 0) & ~np.isinf(x), "dwell must be a time of at least 0 seconds"),
    "positions": (lambda x: x >= 1, "positions count from 1"),
}


def _check_pages(offsets: Ints, more: Mapping[str, Any], place: Callable[[int], str]) -> None:
    """Raise a clear error if a page is too long or a number outside its range."""
    sizes = np.diff(offsets)
    long = np.flatnonzero(sizes > LONGEST)
    if len(long):
        raise DataError(
            f"a page of {sizes[long[0]]} documents; at most {LONGEST} can be one page. "
            "Was a whole query's log joined into one page?",
            where=place(int(long[0])),
        )
    for name, (holds, words) in _RANGES.items():
        values = more.get(name)
        if values is None or len(values) == 0:
            continue
        bad = np.flatnonzero(~holds(values))
        if len(bad):
            page = int(bad[0]) if name in _PER_PAGE else int(np.searchsorted(offsets, bad[0], side="right")) - 1
            raise DataError(f"{words}; got {values[bad[0]]}.", where=place(page))
    positions = more.get("positions")
    if positions is not None and len(positions) > 1:
        falls = np.flatnonzero(positions[1:] <= positions[:-1]) + 1
        falls = falls[~np.isin(falls, offsets)]
        if len(falls):
            raise DataError(
                f"positions must rise from document to document; got {positions[falls[0]]} after "
                f"{positions[falls[0] - 1]}.",
                where=place(int(np.searchsorted(offsets, falls[0], side="right")) - 1),
            )


@compiled
def _count_up(offsets: Ints, most: int, ranks: Int32s) -> None:
    for page in range(len(offsets) - 1):
        for i in range(offsets[page], offsets[page + 1]):
            ranks[i] = min(i - offsets[page] + 1, most)


@compiled
def _number_pairs(
    documents: Int32s, offsets: Ints, page_query: Int32s, order: Ints, n_documents: int, keep: bool, pairs: Int32s,
    parts: Int32s,
) -> tuple[int, int]:  # fmt: skip
    """Number the pairs as they appear in pages sorted by query: (number of pairs, -1), or (-1, an impression of a
    document that is twice on a page). `parts` gets the query and document of each pair."""
    pair_of, query_of = np.zeros(n_documents, np.int32), np.full(n_documents, -1, np.int32)
    page_of, n = np.full(n_documents, -1, np.int64), 0
    for page in order:
        query = page_query[page]
        for i in range(offsets[page], offsets[page + 1]):
            d = documents[i]
            if page_of[d] == page and not keep:
                return -1, i
            page_of[d] = page
            if query_of[d] != query:
                query_of[d], pair_of[d] = query, n
                parts[0, n], parts[1, n] = query, d
                n += 1
            pairs[i] = pair_of[d]
    return n, -1
