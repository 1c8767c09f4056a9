"""Data quality checks of click logs: robots, odd results pages, ranks that cannot be compared, and clicks by rank.

>>> from podium.clicks.log.click_log import ClickLog
>>> [finding.code for finding in check_clicks(ClickLog.from_pages([("q", ["a", "b"], [1]), ("q", ["b", "a"], [])]))]
['clicks-by-rank']
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from podium.base.arrays import Flags
from podium.base.errors import counted
from podium.clicks.connected_ranks import parts_of_ranks
from podium.clicks.log.click_log import NO_TIME, ClickLog
from podium.data.doctor.check import Finding

MANY_PAGES = 100
"""A visit of more pages is taken for a robot."""
FAST = 200.0
"""Faster clicks, in milliseconds, are not human."""
_EXAMPLES = 5


def check_clicks(log: ClickLog) -> list[Finding]:
    """Check a click log: findings, errors first; the last is the table of clicks by rank.

    `log`: a click log; what it did not record is not checked.
    """
    findings = [*_content(log), *_odd(log), *_ranks(log), *_table(log)]
    return sorted(findings, key=lambda finding: ("error", "warning", "note").index(finding.level))


def odd_pages(log: ClickLog) -> dict[str, Flags]:
    """Pages that are probably not of human users: robots, all-clicked, fast-clicks.

    `log`: a click log; robots are known by visits, fast clicks by times.
    """  # (P,) each
    odd = {"robots": np.zeros(log.n_pages, np.bool_)}
    if log.visits is not None and (log.visits >= 0).any():
        pages = np.bincount(log.visits[log.visits >= 0], log.page_counts[log.visits >= 0])
        odd["robots"] = (log.visits >= 0) & (np.append(pages, 0.0)[log.visits] > MANY_PAGES)
    clicks = np.bincount(log.page_of, log.clicks, minlength=log.n_pages)
    odd["all-clicked"] = (clicks == log.sizes) & (log.sizes > 2)
    odd["fast-clicks"] = _fast(log)
    return odd


def _fast(log: ClickLog) -> Flags:
    """Pages with a click within 0.2 s of the page or of another click on it."""
    fast = np.zeros(log.n_pages, np.bool_)
    if log.click_times is None:
        return fast
    rows = np.flatnonzero(~np.isnan(log.click_times))
    page, time = log.page_of[rows], log.click_times[rows]
    order = np.lexsort((time, page))
    page, time = page[order], time[order]
    near = (page[1:] == page[:-1]) & (time[1:] - time[:-1] < FAST)
    fast[page[1:][near]] = True
    if log.times is not None:
        timed = log.times[page] != NO_TIME
        after = time - np.where(timed, log.times[page], 0)
        fast[page[timed & (after >= 0) & (after < FAST)]] = True
    return fast


def _content(log: ClickLog) -> Iterator[Finding]:
    where = log.source or "log"
    if not log.clicks.any():
        yield Finding(
            "error", "no-clicks", f"None of the {counted(log.n_pages, 'page')} has a click.", where,
            "There is nothing to learn from.", "Check the name of the action that means click, and the join of events.",
        )  # fmt: skip
    elif (np.bincount(log.page_of, log.clicks, minlength=log.n_pages) > 0).all() and log.n_pages > 20:
        yield Finding(
            "warning", "only-clicked-pages", "Every page has a click.", where,
            "Pages without clicks show what users do not want; without them click rates are too high.",
            "Export all pages that were shown.",
        )  # fmt: skip
    if log.dropped_clicks:
        yield Finding(
            "warning", "dropped-clicks", f"{counted(log.dropped_clicks, 'click')} on documents not on their page.",
            where, "They were dropped; many of them mean that pages are recorded incompletely.",
            "Check that the page lists all documents that were shown, under the ids that clicks have.",
        )  # fmt: skip
    if log.dropped_pages:
        yield Finding(
            "warning", "dropped-pages", f"{counted(log.dropped_pages, 'page')} without a list of documents or a query.",
            where, "They were dropped.", "Record what was shown with each search.",
        )  # fmt: skip


def _odd(log: ClickLog) -> Iterator[Finding]:
    words = {
        "robots": f"of visits with more than {MANY_PAGES} pages",
        "all-clicked": "every document was clicked",
        "fast-clicks": "clicks within 0.2 s",
    }
    for code, mask in odd_pages(log).items():
        n = int(mask.sum())
        if n:
            examples = [f"page {p + 1} (query {log.query_ids[log.page_query[p]]})" for p in np.flatnonzero(mask)]
            yield Finding(
                "warning", code, f"{n} of {counted(log.n_pages, 'page')}: {words[code]}.", log.source or "log",
                "Clicks of robots teach a model nothing about users.", "Look at them; drop them if so.",
                tuple(examples[:_EXAMPLES]),
            )  # fmt: skip


def _ranks(log: ClickLog) -> Iterator[Finding]:
    parts = parts_of_ranks(log)
    apart = np.flatnonzero((parts > 0) & (parts != parts[0])) + 1 if len(parts) else parts
    if len(apart):
        yield Finding(
            "warning", "unconnected-ranks",
            f"{counted(len(apart), 'rank')} cannot be compared with rank 1.", log.source or "log",
            "No document was shown both there and at rank 1, even by a chain of ranks between, so position cannot be "
            "told from relevance.", "Show documents at changing ranks: shuffle some pages, or run two rankers.",
            tuple(f"rank {rank}" for rank in apart[:_EXAMPLES]),
        )  # fmt: skip


def _table(log: ClickLog) -> Iterator[Finding]:
    """Table of click rates of the first ranks."""
    if log.n_impressions == 0:
        return
    ranks, weights = log.ranks() - 1, np.repeat(log.page_counts, log.sizes)
    shown, clicked = np.bincount(ranks, weights), np.bincount(ranks, weights * log.clicks)
    rows = [
        f"rank {k + 1}: {shown[k]:.0f} shown, {clicked[k] / shown[k]:.4f} clicked" for k in np.flatnonzero(shown)
    ]  # fmt: skip
    yield Finding(
        "note", "clicks-by-rank",
        f"{log.n_page_views:.0f} pages of {counted(log.n_queries, 'query', 'queries')}, "
        f"{counted(log.n_pairs, 'pair')}, {clicked.sum():.0f} clicks.",
        log.source or "log", "Click rates that fall with the rank are position bias and relevance together.",
        "Fit a click model to tell them apart.", tuple(rows[:10]),
    )  # fmt: skip
