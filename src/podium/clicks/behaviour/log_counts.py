"""Counts of events before each results page of a click log, exact to the millisecond."""

from __future__ import annotations

import functools

import numpy as np

from podium.base.arrays import Array, Flags, Ints
from podium.base.errors import DataError
from podium.clicks.behaviour.base import DAY, EVERYTHING, RANKS, Measure, decay, is_late
from podium.clicks.log.click_log import NO_TIME, ClickLog, check_log

_MOST = 2**52  # sums of whole numbers up to here are exact as floats
_LATEST = 2**50  # ms; later times and dwell times would overflow


class LogCounts:
    """Counts of the events before each impression of a log."""

    def __init__(self, log: ClickLog) -> None:
        check_log(log)
        _check(log)
        assert log.times is not None, "checked"
        self.log = log
        self.at = np.repeat(log.times, log.sizes)  # (I,) of the page
        self.today = np.floor_divide(self.at, DAY)
        self.weights = np.repeat(log.page_counts, log.sizes)
        self.ranks = log.ranks(RANKS)
        self._keys, self._events = functools.cache(self._key_of), functools.lru_cache(4)(self._sorted_events)
        self._order = np.lexsort((self.at, self._keys("query-document")))  # sorted needles are found faster

    def count(self, measure: Measure, by: str, *, days: int, half_life: float = 0.0, rank: int | None = None) -> Array:
        """Events of the last days before each impression, weighted by their age; NaN if its user is not known."""
        until = self.today * DAY if is_late(measure) else self.at
        total, newer = np.zeros(len(self.at)), self._before(measure, by, rank, until)
        if half_life == 0.0:
            total = newer - self._before(measure, by, rank, (self.today - (days - 1)) * DAY)
        else:
            for age, weight in enumerate(decay(days, half_life)):
                older = self._before(measure, by, rank, (self.today - age) * DAY)
                total, newer = total + (newer - older) * weight, older
        return np.where(self._keys(by) < 0, np.nan, total)

    def last(self, by: str, *, days: int) -> Array:
        """Days since the last click before each impression; NaN if there was none in the last days."""
        events = self._events("clicks", by, None)
        place = events.place(self._keys(by), self.at, self._order)
        same = (place > 0) & (np.append(-2, events.keys)[place] == self._keys(by))
        age = self.today - np.floor_divide(np.append(0, events.times)[place], DAY)
        return np.where(same & (age < days), age, np.nan)

    def _before(self, measure: Measure, by: str, rank: int | None, times: Ints) -> Array:
        """Sum of a measure over the events of each impression's key before a time."""
        events = self._events(measure, by, rank)
        return events.sums[events.place(self._keys(by), times, self._order)]

    def _sorted_events(self, measure: Measure, by: str, rank: int | None) -> _Events:
        rows, times, amounts = self._measured(measure)
        keys = self._keys(by)[rows]
        kept = keys >= 0 if rank is None else (keys >= 0) & (self.ranks[rows] == rank)
        return _Events(keys[kept], times[kept], (amounts * self.weights[rows])[kept])

    def _measured(self, measure: Measure) -> tuple[Flags, Ints, Array]:
        """Impressions with such an event, its time and amount."""
        log = self.log
        if measure == "shown":
            return np.ones(len(self.at), bool), self.at, np.ones(len(self.at))
        first = np.full(len(self.at), np.nan) if log.click_times is None else log.click_times
        clicked_at = np.fmax(self.at, first).astype(np.int64)
        if measure == "clicks":
            clicked: Flags = log.clicks == 1
            return clicked, clicked_at[clicked], np.ones(int(clicked.sum()))
        dwell = np.full(len(self.at), np.nan) if log.dwell is None else log.dwell
        rows = ~np.isnan(dwell)
        span = np.rint(1000.0 * dwell[rows])
        return rows, clicked_at[rows] + span.astype(np.int64), np.ones(len(span)) if measure == "dwells" else span

    def _key_of(self, by: str) -> Ints:
        """Key of each impression; -1 if its user is not known."""
        log = self.log
        pages = log.page_of
        if by == EVERYTHING:
            return np.zeros(len(self.at), np.int64)
        if by == "query-document":
            return log.pairs.astype(np.int64)
        if by == "query":
            return log.page_query[pages].astype(np.int64)
        users = np.full(len(pages), -1, np.int64) if log.users is None else log.users[pages].astype(np.int64)
        if by == "user":
            return users
        _, documents = np.unique(log.document_ids.astype(str), return_inverse=True)
        of_row = documents.reshape(-1)[log.pairs]
        if by == "document":
            return of_row
        _, both = np.unique(users * (of_row.max(initial=0) + 1) + of_row, return_inverse=True)  # small: see _Events
        return np.where(users < 0, -1, both.reshape(-1))


class _Events:
    """Events of one kind, sorted by key and time, with running sums."""

    def __init__(self, keys: Ints, times: Ints, amounts: Array) -> None:
        order = np.lexsort((times, keys))
        self.keys, self.times = keys[order], times[order]
        self.sums = np.concatenate(([0.0], np.cumsum(amounts[order])))
        if self.sums[-1] > _MOST:
            raise DataError(f"{self.sums[-1]:.3g} events or milliseconds are too many to count exactly.")
        self._moments, codes = np.unique(self.times, return_inverse=True)
        self._codes = self.keys * (len(self._moments) + 1) + codes.reshape(-1)  # keys and moments are numbered

    def place(self, keys: Ints, times: Ints, order: Ints) -> Ints:
        """Number of events that come before those of a key at a time, in the order of keys and times."""
        moments = np.searchsorted(self._moments, times[order])
        places = np.empty(len(keys), np.int64)
        places[order] = np.searchsorted(self._codes, keys[order] * (len(self._moments) + 1) + moments)
        return places


def _check(log: ClickLog) -> None:
    """Raise a clear error if a page has no time, or a count is not a whole number."""
    missing = log.n_pages if log.times is None else int((log.times == NO_TIME).sum())
    if missing:
        raise DataError(
            f"{missing} of {log.n_pages} pages have no time, and behaviour features count what came before a page. "
            "Import the log with times.",
            where=log.source,
        )
    if (log.page_counts % 1 != 0).any():
        raise DataError("the count of a page must be a whole number here.", where=log.source)
    late = [log.times, log.click_times, None if log.dwell is None else 1000.0 * log.dwell]
    if any(np.nanmax(np.abs(x), initial=0) > _LATEST for x in late if x is not None):
        raise DataError("a time or dwell time is more than 35,000 years: is it in milliseconds?", where=log.source)
