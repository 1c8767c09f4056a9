"""Builder of click logs: results pages are added one by one; and equal pages are folded."""

from __future__ import annotations

import datetime
import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from podium.base.arrays import Array, Bytes, Flags, Int32s, Ints, Words
from podium.base.errors import DataError
from podium.clicks.log.click_log import LONGEST, NO_TIME, ClickLog, Repeated, rows_of
from podium.jit.compiled import compiled

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MILLISECOND = datetime.timedelta(milliseconds=1)
_FARTHEST = 2**31 - 1  # the largest position
_NO_UNICODE = "is not valid Unicode and could not be written to a file."
_LARGEST = 2**53  # whole numbers up to here are exact as floats


class PageList:
    """Builder of a click log, page by page; each page keeps its line number for error messages."""

    def __init__(self, source: str, *, unit: str = "", repeated: Repeated = "refuse") -> None:
        self.source, self.unit, self.repeated = source, unit, repeated
        self.lines, self.page_query, self.sizes = array("q"), array("i"), array("i")
        self.documents, self.clicks = array("i"), bytearray()
        self.queries, self.names = _Numbering(), _Numbering()
        self.per_page: dict[str, _Column] = {}
        self.per_impression: dict[str, _Column] = {}
        self.numberings: dict[str, _Numbering] = {}
        self.texts: dict[int, str] = {}
        self.dropped_clicks = self.dropped_pages = 0

    def add(self, query: str, documents: Sequence[str], clicks: Iterable[int], *, line: int) -> int:
        """Add a page: its documents from the top, and the clicked positions, from 1.

        Returns the number of its first impression.
        """
        first, n = len(self.clicks), len(documents)
        if n > LONGEST:  # checked before memory is allocated
            raise DataError(
                f"a page of {n} documents; at most {LONGEST} can be one page. Was a whole query's log joined into "
                "one page?",
                where=self.place(line),
            )
        self.lines.append(line)
        self.page_query.append(self.queries[query])
        self.sizes.append(n)
        self.documents.extend(map(self.names.__getitem__, documents))
        self.clicks.extend(bytes(n))
        for at in clicks:
            if at <= 0:
                raise DataError(f"clicks are positions on the page, from 1; got {at}.", where=self.place(line))
            if at > n:
                self.dropped_clicks += 1
            else:
                self.clicks[first + at - 1] = 1
        return first

    def set_number(self, name: str, value: float) -> None:
        """Set a number of the page added last: times, counts."""
        self._column(self.per_page, name).put(len(self.lines) - 1, value)

    def set_name(self, name: str, value: str) -> None:
        """Set a name of the page added last, which is numbered: visits, users, rankers, page_ids."""
        if not value.isascii() and not is_unicode(value):
            raise DataError(f"the id {value!a} {_NO_UNICODE}", where=self.place(self.lines[-1]))
        self.set_number(name, self.numberings.setdefault(name, _Numbering())[value])

    def set_text(self, text: str) -> None:
        """Set the text that the user typed for the query of the page added last."""
        self.texts.setdefault(self.page_query[-1], text)

    def set_all(self, name: str, values: Iterable[float]) -> None:
        """Set a number of each impression of the page added last: positions, propensities, grades."""
        self._column(self.per_impression, name).put_all(len(self.clicks) - self.sizes[-1], values)

    def set_click(self, at: int, time: float | None, dwell: float | None) -> None:
        """Set the time of a click at position `at` of the page added last, in ms, and its dwell time in seconds."""
        if at > self.sizes[-1]:
            return
        row = len(self.clicks) - self.sizes[-1] + at - 1
        if time is not None:
            for name, keep in (("click_times", min), ("last_click_times", max)):
                column = self._column(self.per_impression, name)
                before = column.get(row)
                column.put(row, time if math.isnan(before) else keep(before, time))
        if dwell is not None:
            column = self._column(self.per_impression, "dwell")
            before = column.get(row)
            column.put(row, dwell if math.isnan(before) else before + dwell)

    def place(self, line: int) -> str:
        """Name of a line in error messages."""
        return f"{self.source}:{self.unit}{line}"

    def _column(self, columns: dict[str, _Column], name: str) -> _Column:
        if name not in columns:
            columns[name] = _Column()
        return columns[name]

    def log(self) -> ClickLog:
        """Build the click log of all pages that were added."""
        self._check_names()
        sizes = np.frombuffer(self.sizes, np.int32) if self.sizes else np.zeros(0, np.int32)
        offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        more: dict[str, Any] = {name: c.finished(len(sizes)) for name, c in self.per_page.items()}
        more |= {name: c.finished(int(offsets[-1])) for name, c in self.per_impression.items()}
        for name, values in more.items():
            bad = np.flatnonzero(np.abs(values) > _LARGEST)  # missing ones are NaN
            if len(bad):
                page = bad[0] if name in self.per_page else np.searchsorted(offsets, bad[0], side="right") - 1
                raise DataError(
                    f"{name} must be finite numbers up to 2⁵³; got {values[bad[0]]:g}.",
                    where=self.place(self.lines[int(page)]),
                )
        log = ClickLog.from_codes(
            (_ints(self.page_query), list(self.queries)),
            (_ints(self.documents), list(self.names)),
            offsets=offsets,
            clicks=np.frombuffer(bytes(self.clicks), np.uint8),
            where=lambda page: self.place(self.lines[page]),
            repeated=self.repeated,
            more=as_fields(more, offsets=offsets, names={k: list(v) for k, v in self.numberings.items()})
            | {"dropped_clicks": self.dropped_clicks, "dropped_pages": self.dropped_pages, "source": self.source},
        )
        return _with_texts(log, {name: self.texts[code] for name, code in self.queries.items() if code in self.texts})

    def _check_names(self) -> None:
        """Raise a clear error for an id that cannot be written as UTF-8, such as half of a surrogate pair."""
        for names, codes in ((self.queries, self.page_query), (self.names, self.documents)):
            for name, code in names.items():
                if not name.isascii() and not is_unicode(name):
                    row = int(np.flatnonzero(_ints(codes) == code)[0])
                    page = row if codes is self.page_query else int(
                        np.searchsorted(np.cumsum(_ints(self.sizes)), row, side="right")
                    )  # fmt: skip
                    raise DataError(f"the id {name!a} {_NO_UNICODE}", where=self.place(self.lines[page]))


def as_fields(values: dict[str, Any], *, offsets: Ints, names: dict[str, list[str]]) -> dict[str, Any]:
    """Fields of a ClickLog from columns of numbers, NaN if missing, and the names of numbered columns."""
    more = dict(values)
    for name in ("visits", "users", "rankers"):
        if name in more:
            more[name] = np.nan_to_num(more[name], nan=-1).astype(np.int16 if name == "rankers" else np.int32)
    if "rankers" in more:
        more["ranker_names"] = tuple(names["rankers"])
    if "page_ids" in more:
        ids = np.array([*names["page_ids"], ""], object)
        more["page_ids"] = ids[np.nan_to_num(more["page_ids"], nan=-1).astype(np.int64)]
    if "times" in more:
        missing = np.isnan(more["times"])
        more["times"] = np.where(missing, NO_TIME, np.nan_to_num(more["times"]).astype(np.int64))
    if "counts" in more:
        more["counts"] = np.nan_to_num(more["counts"], nan=1.0)
    if "positions" in more:
        counted = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets)) + 1
        more["positions"] = np.where(np.isnan(more["positions"]), counted, more["positions"]).astype(np.int32)
    if "propensities" in more:
        more["propensities"] = np.nan_to_num(more["propensities"], nan=1.0)
    return more


def as_milliseconds(value: object) -> float:
    """Time as whole milliseconds since 1970, from a number of them or an ISO 8601 text (by default in UTC)."""
    if isinstance(value, str):
        when = datetime.datetime.fromisoformat(value)
        return float(((when if when.tzinfo else when.replace(tzinfo=datetime.UTC)) - _EPOCH) // _MILLISECOND)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        raise ValueError("not a time")
    return float(math.floor(value))


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def fold(log: ClickLog) -> ClickLog:
    """Fold equal pages into one, counted; pages are sorted by query and content."""
    hashes = np.empty(log.n_pages, np.uint64)
    _hash_pages(log.pairs, log.clicks, log.ranks(_FARTHEST), log.offsets, hashes)
    order = np.lexsort((hashes, log.page_query))
    first = np.empty(log.n_pages, np.bool_)
    _mark_first(log.pairs, log.clicks, log.ranks(_FARTHEST), log.offsets, hashes, order, first)
    kept = order[first]
    # sorted before they are summed: with fractions the sum would depend on the order of pages
    group = np.cumsum(first) - 1
    weights = log.page_counts[order]
    by_size = np.lexsort((weights, group))
    counts = np.bincount(group[by_size], weights[by_size], minlength=len(kept)).astype(np.float64)
    rows = rows_of(log.offsets, kept)
    return ClickLog(
        log.pairs[rows], log.clicks[rows], np.concatenate(([0], np.cumsum(log.sizes[kept]))), log.page_query[kept],
        log.pair_query, log.query_ids, log.document_ids,
        positions=None if log.positions is None else log.positions[rows],
        counts=counts, dropped_clicks=log.dropped_clicks, dropped_pages=log.dropped_pages, source=log.source,
    )  # fmt: skip


class _Column:
    """Numbers by index, NaN if not set."""

    def __init__(self) -> None:
        self.values = array("d")

    def put(self, at: int, value: float) -> None:
        self.values.extend([math.nan] * (at + 1 - len(self.values)))
        self.values[at] = value

    def put_all(self, at: int, values: Iterable[float]) -> None:
        self.values.extend([math.nan] * (at - len(self.values)))
        self.values.extend(values)

    def get(self, at: int) -> float:
        return self.values[at] if at < len(self.values) else math.nan

    def finished(self, size: int) -> Array:
        self.values.extend([math.nan] * (size - len(self.values)))
        return np.array(self.values, np.float64)


class _Numbering(dict[str, int]):
    """Dictionary that gives each new name the next number."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number


def _ints(values: array[int]) -> Int32s:
    return np.frombuffer(values, np.int32) if values else np.zeros(0, np.int32)


def _with_texts(log: ClickLog, texts: dict[str, str]) -> ClickLog:
    if not texts:
        return log
    return replace(log, query_texts=np.array([texts.get(name, "") for name in log.query_ids], object))


@compiled
def _mixed(h: np.uint64, value: int) -> Any:
    """Mix a number into a 64-bit hash (the finaliser of SplitMix64)."""
    h = (h ^ np.uint64(value)) + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@compiled
def _hash_pages(pairs: Int32s, clicks: Bytes, ranks: Int32s, offsets: Ints, hashes: Words) -> None:
    for page in range(len(offsets) - 1):
        h = np.uint64(offsets[page + 1] - offsets[page])
        for i in range(offsets[page], offsets[page + 1]):
            h = _mixed(h, (np.int64(pairs[i]) << 11) + (ranks[i] << 1) + clicks[i])
        hashes[page] = h


@compiled
def _mark_first(
    pairs: Int32s, clicks: Bytes, ranks: Int32s, offsets: Ints, hashes: Words, order: Ints, first: Flags
) -> None:
    """Mark in `order` each page that differs from the one before it."""
    for k in range(len(order)):
        a, b = order[k - 1], order[k]
        n = offsets[b + 1] - offsets[b]
        same = k > 0 and hashes[a] == hashes[b] and offsets[a + 1] - offsets[a] == n
        if same:
            for j in range(n):
                x, y = offsets[a] + j, offsets[b] + j
                same &= pairs[x] == pairs[y] and clicks[x] == clicks[y] and ranks[x] == ranks[y]
        first[k] = not same
