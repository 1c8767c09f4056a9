"""Query chains: preferences for an earlier query from the clicks after its reformulation.

Two results pages follow each other in a chain if they are of the same visit (of the same user, if the log has no
visits), of different queries, and at most `gap` minutes apart. If the log has no times, the pages of a visit follow
each other in the order of the file. Users are taken to have examined a page down to one position below their last
click. With q′ the query of the earlier page and q that of the later one,

    click-above                 for q, and for q′: clicked ≻ not clicked and above it, on the later page
    click-first                 for q, and for q′: the first document, clicked, ≻ the second, not clicked
    click ≻ skip-earlier        for q′: clicked on the later page ≻ examined but not clicked on the earlier one
    click ≻ top-two-earlier     for q′: if the earlier page has no click, clicked on the later page ≻ its top two

The first two are applied to every page. Pairs of q′ may join documents that were never shown for q′.

Reference: Radlinski & Joachims, Query chains: learning to rank from implicit feedback, KDD 2005; Li, Learning to rank
for information retrieval and natural language processing, chapter 7, whose "previous query" is followed here. The text
of the paper was not at hand.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Bytes, Int32s, Ints
from podium.base.errors import DataError
from podium.clicks.log.click_log import NO_TIME, ClickLog
from podium.jit.compiled import compiled

GAP = 30.0
"""Largest number of minutes between two pages of a chain."""
_MINUTE = 60_000.0


def chain_events(log: ClickLog, document_of: Ints, *, gap: float | None) -> tuple[Ints, Ints, Ints, Array]:
    """Preferences of query chains: query, winner, loser (numbers of documents) and weight."""
    arrays = document_of[log.pairs], log.clicks, log.offsets, log.page_query, log.page_counts
    previous = previous_pages(log, gap=gap)
    n = _events(*arrays, previous, np.zeros((0, 3), np.int64), np.zeros(0), False)
    events, weights = np.empty((n, 3), np.int64), np.empty(n)
    _events(*arrays, previous, events, weights, True)
    return events[:, 0], events[:, 1], events[:, 2], weights


def previous_pages(log: ClickLog, *, gap: float | None = None) -> Ints:
    """Page before each page in its chain; -1 if there is none."""  # (P,)
    who = log.visits if log.visits is not None else log.users
    if who is None:
        raise DataError(
            "query chains need the visit or the user of each page, which this log lacks. Record them, or use another "
            "rule.",
            where=log.source,
        )
    timed = log.times is not None
    when = log.times if log.times is not None else log.places
    if when is None or (gap is not None and not timed):
        raise DataError(
            "query chains with a gap need the time of each page, which this log lacks. Record it, or give no gap.",
            where=log.source,
        )
    recorded = np.flatnonzero((who >= 0) & (when != NO_TIME))
    order = recorded[np.lexsort((when[recorded], who[recorded]))]
    before, after = order[:-1], order[1:]
    linked = (who[before] == who[after]) & (log.page_query[before] != log.page_query[after])
    if timed:
        linked &= when[after] - when[before] <= (GAP if gap is None else gap) * _MINUTE
    previous = np.full(log.n_pages, -1, np.int64)
    previous[after[linked]] = before[linked]
    return previous


@compiled
def _events(
    documents: Ints, clicks: Bytes, offsets: Ints, page_query: Int32s, counts: Array, previous: Ints, events: Ints,
    weights: Array, fill: bool,
) -> int:  # fmt: skip
    """Count the preferences; if `fill`, write them to `events` and `weights`."""
    n = 0
    for page in range(len(offsets) - 1):
        a, b, before = offsets[page], offsets[page + 1], previous[page]
        for i in range(a, b):
            if not clicks[i]:
                continue
            for j in range(a, b):
                if not clicks[j] and documents[i] != documents[j] and (j < i or (i == a and j == a + 1)):
                    n = _put(events, weights, n, page_query[page], documents[i], documents[j], counts[page], fill)
                    if before >= 0:
                        n = _put(events, weights, n, page_query[before], documents[i], documents[j], counts[page], fill)
            if before >= 0:
                first = offsets[before]
                for j in range(first, _examined(clicks, first, offsets[before + 1])):
                    if not clicks[j] and documents[i] != documents[j]:
                        n = _put(events, weights, n, page_query[before], documents[i], documents[j], counts[page], fill)
    return n


@compiled
def _examined(clicks: Bytes, a: int, b: int) -> int:
    """End of the examined part of a page: one position below the last click; without clicks, after the top two."""
    last = a - 1
    for i in range(a, b):
        if clicks[i]:
            last = i
    return min(last + 2, b) if last >= a else min(a + 2, b)


@compiled
def _put(
    events: Ints, weights: Array, n: int, query: int, winner: int, loser: int, weight: float, fill: bool
) -> int:  # fmt: skip
    if fill:
        events[n, 0], events[n, 1], events[n, 2], weights[n] = query, winner, loser, weight
    return n + 1
