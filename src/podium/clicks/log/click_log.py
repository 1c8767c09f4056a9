"""ClickLog: the pages that people were shown, and what they clicked.

    >>> log = ClickLog.from_pages([("q7", ["d3", "d1", "d9"], [2]), ("q7", ["d1", "d3"], [])])
    >>> log.n_pages, log.n_pairs, log.clicks.tolist(), log.document_ids[log.pairs].tolist()
    (2, 3, [0, 1, 0, 0, 0], ['d3', 'd1', 'd9', 'd1', 'd3'])

A page is one list shown for one query, a visit is a run of pages of one person, a pair is a (query, document). Pages
are sorted by query, and pairs are numbered by the text of their query and document, so what is computed from a log does
not depend on the order in which its pages were read. Pages without clicks belong in a log: without them, click rates
mean nothing.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, Int32s, Ints
from podium.base.columns import text_ids, whole_numbers
from podium.base.errors import DataError
from podium.jit.compiled import compiled

Repeated = Literal["refuse", "keep"]
"""What to do where a document is twice on a page: raise an error, or count each place as an impression."""
LONGEST = 1000
"""Documents that a page may have."""
NO_TIME = np.iinfo(np.int64).min
"""The time of a page without one."""

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
    """P pages with I impressions of U pairs, sorted by query. What is None was not recorded."""

    pairs: NDArray[np.int32]  # (I,) the pair of each impression, page after page, each from the top
    clicks: NDArray[np.uint8]  # (I,) 1 where it was clicked; several clicks are one
    offsets: NDArray[np.int64]  # (P+1,)
    page_query: NDArray[np.int32]  # (P,) ascending
    pair_query: NDArray[np.int32]  # (U,) ascending
    query_ids: NDArray[Any]  # (Q,) text, ascending
    document_ids: NDArray[Any]  # (U,) text, ascending within a query
    positions: NDArray[np.int32] | None = None  # (I,) from 1, rising within a page; None: 1, 2, …
    propensities: Array | None = None  # (I,) the probability that the impression was shown there
    grades: Array | None = None  # (I,) judges' grades; NaN: none
    click_times: Array | None = None  # (I,) of the first click, in ms; NaN: none
    last_click_times: Array | None = None  # (I,) of the last click, in ms; NaN: none
    dwell: Array | None = None  # (I,) seconds on the document, all clicks together; NaN: unknown
    visits: NDArray[np.int32] | None = None  # (P,) numbered; -1: unknown
    users: NDArray[np.int32] | None = None  # (P,) numbered; -1: unknown
    places: NDArray[np.int64] | None = None  # (P,) of pages in the order of their file, where visits or users are known
    times: NDArray[np.int64] | None = None  # (P,) ms since 1970; NO_TIME: unknown
    rankers: NDArray[np.int16] | None = None  # (P,) index into ranker_names; -1: unknown
    ranker_names: tuple[str, ...] = ()
    counts: Array | None = None  # (P,) how often the page occurred; None: once
    page_ids: NDArray[Any] | None = None  # (P,) text; "": unknown
    query_texts: NDArray[Any] | None = None  # (Q,) what people typed; "": unknown
    dropped_clicks: int = 0
    """Clicks on documents that were not on their page; they are not in the log."""
    dropped_pages: int = 0
    """Pages that an importer left out because it could not tell what was shown."""
    source: str | None = None

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
    def sizes(self) -> NDArray[np.int64]:
        """The documents of each page."""  # (P,)
        return np.diff(self.offsets)

    @property
    def page_of(self) -> NDArray[np.int64]:
        """The page of each impression."""  # (I,)
        return np.repeat(np.arange(self.n_pages), self.sizes)

    @property
    def page_counts(self) -> Array:
        """How often each page occurred."""  # (P,)
        return np.ones(self.n_pages) if self.counts is None else self.counts

    @property
    def n_page_views(self) -> float:
        """The pages, each as often as it occurred."""
        return float(self.page_counts.sum())

    def ranks(self, most: int = LONGEST) -> NDArray[np.int32]:
        """The position of each impression, from 1; those beyond `most` are given as `most`."""  # (I,)
        if self.positions is not None:
            return np.minimum(self.positions, np.int32(most))
        found = np.empty(self.n_impressions, np.int32)
        _count_up(self.offsets, most, found)
        return found

    @functools.cached_property
    def folded(self) -> ClickLog:
        """The same clicks with equal pages as one, counted, in an order that depends on their content alone.

        It keeps what click models read: documents, positions, clicks and counts.
        """
        # imported here: the module below needs the class above
        from podium.clicks.log.click_pages import fold

        return fold(self)

    def select(self, pages: NDArray[Any]) -> ClickLog:
        """The log with some pages only, by a mask or by ascending numbers; queries and pairs keep their numbers."""
        chosen = np.flatnonzero(pages) if pages.dtype == bool else np.asarray(pages, np.int64)
        return replace(self, **_taken(self, chosen), dropped_clicks=0, dropped_pages=0)

    def cut(self, depth: int) -> ClickLog:
        """The log with the first `depth` ranks of each page only."""
        kept = self.ranks() <= depth
        if kept.all():
            return self
        taken = {name: x[kept] for name in _PER_IMPRESSION if (x := getattr(self, name)) is not None}
        ends = np.concatenate(([0], np.cumsum(kept)))
        return replace(self, offsets=ends[self.offsets], **taken)

    def with_clicks(self, clicks: NDArray[Any]) -> ClickLog:
        """The same pages with other clicks, without times of clicks."""
        return replace(
            self, clicks=np.asarray(clicks, np.uint8), click_times=None, last_click_times=None, dwell=None,
            dropped_clicks=0,
        )  # fmt: skip

    def find_pairs(self, query_ids: Any, document_ids: Any) -> NDArray[np.int64]:
        """The number of each pair (query, document), given as texts; -1 where the log does not have it."""
        documents = {str(name): code for code, name in enumerate(dict.fromkeys(self.document_ids))}
        queries = {str(name): code for code, name in enumerate(self.query_ids)}
        width = len(documents) + 1
        own = self.pair_query * np.int64(width) + _codes(self.document_ids, documents)
        order = np.argsort(own)
        q, d = _codes(query_ids, queries), _codes(document_ids, documents)
        asked = np.where((q >= 0) & (d >= 0), q * width + d, -1)
        at = np.searchsorted(own, asked, sorter=order)
        found = np.append(order, -1)[np.minimum(at, len(order))]
        return np.where((asked >= 0) & (np.append(own, -1)[found] == asked), found, -1)

    @classmethod
    def from_pages(cls, pages: Iterable[tuple[str, Sequence[str], Sequence[int]]]) -> ClickLog:
        """A log from (query, documents from the top, clicked positions from 1) of each page."""
        from podium.clicks.log.click_pages import PageList

        made = PageList("<pages>", unit="page ")
        for number, (query, documents, clicks) in enumerate(pages, 1):
            where = made.place(number)
            (name,) = text_ids([query], "query id", where=where)
            shown = text_ids(documents, "document id", where=where).tolist()
            made.add(name, shown, whole_numbers(clicks, "click", where=where).tolist(), line=number)
        return made.log()

    @classmethod
    def from_codes(
        cls,
        queries: tuple[NDArray[Any], Sequence[str]],
        documents: tuple[NDArray[Any], Sequence[str]],
        *,
        offsets: NDArray[np.int64],
        clicks: NDArray[np.uint8],
        where: Callable[[int], str] | None = None,
        repeated: Repeated = "refuse",
        more: Mapping[str, Any] | None = None,
    ) -> ClickLog:
        """A log from the query of each page (P,) and the document of each impression (I,), numbered, with their names.

        `more` holds other fields, in the same order; `where` names the place of a page in messages of errors.
        """
        more = {key: value for key, value in (more or {}).items() if value is not None}
        if "visits" in more or "users" in more:
            more["places"] = np.arange(len(offsets) - 1)
        place = where or (lambda page: f"page {page + 1}")
        _check_pages(offsets, more, place)
        page_query, query_ids = _sorted_names(*queries)
        codes, names = _sorted_names(*documents)
        order = np.argsort(page_query, kind="stable")
        pairs, found = np.empty(len(codes), np.int32), np.empty((2, len(codes)), np.int32)
        n_pairs, twice = _number_pairs(codes, offsets, page_query, order, len(names), repeated == "keep", pairs, found)
        if n_pairs < 0:
            document = names[codes[twice]]
            at = int(np.searchsorted(offsets, twice, side="right")) - 1
            raise DataError(
                f"document {document!r} is twice on this page. Correct the log, or read it with repeated='keep' "
                "(--repeated keep), which counts each place as an impression.",
                where=place(at),
            )
        pair_query, pair_document = found[:, :n_pairs].copy()
        by_name = np.lexsort((pair_document, pair_query))
        new = np.empty(n_pairs, np.int32)
        new[by_name] = np.arange(n_pairs, dtype=np.int32)
        log = cls(new[pairs], clicks, offsets, page_query, pair_query, query_ids, names[pair_document[by_name]], **more)
        return log if (order[1:] > order[:-1]).all() else replace(log, **_taken(log, order))


def check_log(given: Any) -> None:
    """Raise a clear error for what is not a click log."""
    if isinstance(given, str | os.PathLike):
        raise DataError(f"expected a click log; got a path. Read it first: podium.read_clicks({os.fspath(given)!r}).")
    if not isinstance(given, ClickLog):
        raise DataError(f"expected a ClickLog; got {type(given).__name__}. podium.read_clicks and simulate make one.")


def rows_of(offsets: NDArray[np.int64], pages: NDArray[np.int64]) -> NDArray[np.int64]:
    """The impressions of some pages, page after page."""
    sizes = offsets[pages + 1] - offsets[pages]
    starts = np.cumsum(sizes) - sizes
    rows: NDArray[np.int64] = np.arange(sizes.sum()) + np.repeat(offsets[pages] - starts, sizes)
    return rows


def _taken(log: ClickLog, pages: NDArray[np.int64]) -> dict[str, Any]:
    """The fields of a log that change where only some pages are taken, in this order."""
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


def _sorted_names(codes: NDArray[Any], names: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """The same codes with their names in ascending order."""
    order = sorted(range(len(names)), key=names.__getitem__)
    new = np.empty(len(names), np.int32)
    new[order] = np.arange(len(names), dtype=np.int32)
    sorted_names = np.empty(len(names), object)
    sorted_names[:] = [names[at] for at in order]
    return new[codes] if len(codes) else np.zeros(0, np.int32), sorted_names


def _codes(names: Any, known: dict[str, int]) -> NDArray[np.int64]:
    return np.fromiter((known.get(str(name), -1) for name in names), np.int64)


_RANGES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "propensities": (lambda x: (x > 0) & (x <= 1), "a propensity must be above 0 and at most 1"),
    "counts": (lambda x: (x > 0) & (x < np.inf), "a count must be a number above 0"),
    "grades": (lambda x: ~np.isinf(x), "a grade must be a finite number"),
    "dwell": (lambda x: ~(x < 0) & ~np.isinf(x), "dwell must be a time of at least 0 seconds"),
    "positions": (lambda x: x >= 1, "positions count from 1"),
}


def _check_pages(offsets: NDArray[np.int64], more: Mapping[str, Any], place: Callable[[int], str]) -> None:
    """Raise a clear error where a page is too long or a number outside its range."""
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
def _count_up(offsets: Ints, most: int, found: Int32s) -> None:
    for page in range(len(offsets) - 1):
        for i in range(offsets[page], offsets[page + 1]):
            found[i] = min(i - offsets[page] + 1, most)


@compiled
def _number_pairs(
    documents: Int32s,
    offsets: Ints,
    page_query: Int32s,
    order: Ints,
    n_documents: int,
    keep: bool,
    pairs: Int32s,
    found: Int32s,
) -> Any:
    """Number the pairs as they appear in pages sorted by query: their number, and -1 with the impression of a document
    that is twice on a page."""
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
                found[0, n], found[1, n] = query, d
                n += 1
            pairs[i] = pair_of[d]
    return n, -1
