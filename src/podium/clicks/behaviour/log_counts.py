"""Counts of events before each results page of a click log, exact to the millisecond."""

from __future__ import annotations

import functools

import numpy as np

from podium.base.arrays import Array, Flags, Ints
from podium.base.errors import DataError
from podium.clicks.behaviour.base import DAY, RANKS, Measure, decay, is_late
from podium.clicks.behaviour.document_fields import DocumentFields
from podium.clicks.behaviour.log_keys import AskedPages, LogKeys
from podium.clicks.behaviour.recent_clicks import RecentClicks, exact_sums
from podium.clicks.log.click_log import NO_TIME, ClickLog, check_log

_LATEST = 2**50  # ms; later times and dwell times would overflow


class LogCounts:
    """Counts of the events of a log before each impression: its own, or those of pages that are asked for."""

    def __init__(self, log: ClickLog, fields: DocumentFields | None = None, asked: AskedPages | None = None) -> None:
        check_log(log)
        check_times(log)
        self.log = log
        self.keys = LogKeys(log, asked, fields)
        self._at, self._asked = self.keys.own.times, self.keys.asked
        self._today = np.floor_divide(self._asked.times, DAY)
        self._weights = np.repeat(log.page_counts, log.sizes)
        self._ranks = log.ranks(RANKS)
        self._of, self._events = functools.cache(self.keys.of), functools.lru_cache(4)(self._sorted_events)
        self._order = np.lexsort((self.times, self._of("query-document")[1]))  # sorted needles are found faster

    @property
    def times(self) -> Ints:
        return self._asked.times

    @property
    def pages(self) -> Ints:
        return self._asked.pages

    def count(self, measure: Measure, by: str, *, days: int, half_life: float = 0.0, rank: int | None = None) -> Array:
        """Events of the last days before each impression, weighted by their age; NaN if it has no key."""
        until = self._today * DAY if is_late(measure) else self.times
        total, newer = np.zeros(len(self.times)), self._before(measure, by, rank, until)
        if half_life == 0.0:
            total = newer - self._before(measure, by, rank, (self._today - (days - 1)) * DAY)
        else:
            for age, weight in enumerate(decay(days, half_life)):
                older = self._before(measure, by, rank, (self._today - age) * DAY)
                total, newer = total + (newer - older) * weight, older
        return np.where(self._of(by)[1] < 0, np.nan, total)

    def last(self, by: str, *, days: int) -> Array:
        """Days since the last click before each impression; NaN if there was none in the last days."""
        events, keys = self._events("clicks", by, None), self._of(by)[1]
        place = events.place(keys, self.times, self._order)
        same = (place > 0) & (np.append(-2, events.keys)[place] == keys)
        age = self._today - np.floor_divide(np.append(0, events.times)[place], DAY)
        return np.where(same & (age < days), age, np.nan)

    def share(self, field: str, *, clicks: int, days: int) -> Array:
        """Share of the document's value of a field among those of the user's last clicks."""
        values, asked, own = self.keys.values(field), self._asked, self.keys.own
        rows, times, weights = self._measured("clicks")
        of_event, users = values[self.keys.documents(own)[rows]], own.users[rows]
        kept = (of_event >= 0) & (users >= 0)
        recent = RecentClicks(users[kept], times[kept], of_event[kept], (weights * self._weights[rows])[kept])
        since = (self._today - (days - 1)) * DAY
        return recent.share(asked.users, values[self.keys.documents(asked)], since, self.times, clicks=clicks)

    def numbers(self, field: str) -> Array:
        return self.keys.numbers(field)

    def dates(self, field: str) -> Array:
        return self.keys.dates(field)

    def _before(self, measure: Measure, by: str, rank: int | None, times: Ints) -> Array:
        """Sum of a measure over the events of each impression's key before a time."""
        events = self._events(measure, by, rank)
        return events.sums[events.place(self._of(by)[1], times, self._order)]

    def _sorted_events(self, measure: Measure, by: str, rank: int | None) -> _Events:
        rows, times, amounts = self._measured(measure)
        keys = self._of(by)[0][rows]
        kept = keys >= 0 if rank is None else (keys >= 0) & (self._ranks[rows] == rank)
        return _Events(keys[kept], times[kept], (amounts * self._weights[rows])[kept])

    def _measured(self, measure: Measure) -> tuple[Flags, Ints, Array]:
        """Impressions with such an event, its time and amount."""
        log = self.log
        if measure == "shown":
            return np.ones(len(self._at), bool), self._at, np.ones(len(self._at))
        first = np.full(len(self._at), np.nan) if log.click_times is None else log.click_times
        clicked_at = np.fmax(self._at, first).astype(np.int64)
        if measure == "clicks":
            clicked: Flags = log.clicks == 1
            return clicked, clicked_at[clicked], np.ones(int(clicked.sum()))
        dwell = np.full(len(self._at), np.nan) if log.dwell is None else log.dwell
        rows = ~np.isnan(dwell)
        span = np.rint(1000.0 * dwell[rows])
        return rows, clicked_at[rows] + span.astype(np.int64), np.ones(len(span)) if measure == "dwells" else span


class _Events:
    """Events of one kind, sorted by key and time, with running sums."""

    def __init__(self, keys: Ints, times: Ints, amounts: Array) -> None:
        order = np.lexsort((times, keys))
        self.keys, self.times = keys[order], times[order]
        self.sums = exact_sums(amounts[order])
        self._moments, codes = np.unique(self.times, return_inverse=True)
        self._codes = self.keys * (len(self._moments) + 1) + codes.reshape(-1)  # keys and moments are numbered

    def place(self, keys: Ints, times: Ints, order: Ints) -> Ints:
        """Number of events that come before those of a key at a time, in the order of keys and times."""
        moments = np.searchsorted(self._moments, times[order])
        places = np.empty(len(keys), np.int64)
        places[order] = np.searchsorted(self._codes, keys[order] * (len(self._moments) + 1) + moments)
        return places


def check_times(log: ClickLog) -> None:
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
