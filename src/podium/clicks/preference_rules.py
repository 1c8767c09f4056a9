"""Preferences from clicks: which of two documents users prefer for a query.

    >>> import numpy as np
    >>> from podium.clicks import ClickLog
    >>> from podium.data import Dataset
    >>> log = ClickLog.from_pages([("q", ["a", "b"], [2]), ("q", ["a", "b"], [2]), ("q", ["b", "a"], [2])])
    >>> data = Dataset.from_arrays(np.eye(2), qid=["q", "q"], document_ids=["a", "b"])
    >>> prefer(log, data, rule="click-above").preferences.edges.round(3).tolist()
    [[1.0, 0.0, 0.667, 3.0]]

Each rule gives events, in each of which one document was preferred to another. They are merged to one edge for each two
documents of a query: the winner is the side with more events, its probability P̄ = (for + a)/(m + 2a) of m events with
a = `prior`, and its weight m, so that an edge counts like its events. Equal numbers for and against give no edge.

Rules: those of `page_rules`, query-chains and click-rates.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from podium.base.arrays import AnyArray, Array, Ints
from podium.base.errors import DataError, ParameterError, PodiumWarning, UnknownNameError, counted
from podium.clicks.log.click_log import ClickLog, check_log
from podium.clicks.log.queries_by_text import BY_TEXT
from podium.clicks.page_rules import WITHIN_PAGES, page_events
from podium.clicks.query_chains import chain_events
from podium.clicks.rate_differences import rate_events
from podium.data.table import Table

RULES = (*WITHIN_PAGES, "query-chains", "click-rates")


@dataclass(frozen=True, eq=False)
class ClickPreferences:
    """Preferences of a log: one edge for each two documents that events compare, sorted by query and documents."""

    query_ids: AnyArray  # (M,) text
    winners: AnyArray  # (M,) ids of documents
    losers: AnyArray  # (M,) likewise
    probability: Array  # (M,) that the winner is preferred
    weights: Array  # (M,) events

    def __len__(self) -> int:
        return len(self.winners)

    def join(self, data: Table) -> Table:
        """Add these preferences to a dataset; those of documents that it lacks are dropped, with a warning.

        `data`: a table with query and document ids, those of the log.
        """
        rows = _rows(data)
        at = np.array(
            [
                (rows.get((query, winner), -1), rows.get((query, loser), -1))
                for query, winner, loser in zip(self.query_ids, self.winners, self.losers, strict=True)
            ],
            np.int64,
        ).reshape(-1, 2)
        kept = (at >= 0).all(axis=1)
        if len(self) and not kept.any():
            raise DataError(
                f"the data has no two documents of any of the {counted(len(self), 'preference')} of the log. "
                f"Are query and document ids the same in both? {BY_TEXT}",
                where=data.source,
            )
        if not kept.all():
            warnings.warn(
                f"{(~kept).sum()} of {counted(len(self), 'preference')} dropped: the data lacks their documents.",
                PodiumWarning,
                stacklevel=2,
            )
        return data.with_preferences(at[kept, 0], at[kept, 1], self.probability[kept], self.weights[kept])


def prefer(
    log: ClickLog,
    data: Table,
    *,
    rule: str = "click-rates",
    gap: float | None = None,
    level: float | None = None,
    least: float = 1.0,
    prior: float = 0.0,
) -> Table:
    """Add preferences from clicks to a dataset; see `click_preferences`.

    `log`: the clicks.
    `data`: the dataset, whose ids are those of the log.
    `rule`: how clicks become preferences, with `gap`, `level`, `least` and `prior`.
    """
    return click_preferences(log, rule, gap=gap, level=level, least=least, prior=prior).join(data)


def click_preferences(
    log: ClickLog,
    rule: str = "click-rates",
    *,
    gap: float | None = None,
    level: float | None = None,
    least: float = 1.0,
    prior: float = 0.0,
) -> ClickPreferences:
    """Preferences of a log by a rule; those with fewer than `least` events are left out.

    `gap` (query-chains) is the longest time between two pages of a chain in minutes, by default 30. `level`
    (click-rates) is the significance level of the binomial test that a preference must pass.

    `rule`: how clicks become preferences, such as `click-above`.
    `prior`: pseudo-count of events for and against each preference.
    `log`: the pages with clicks, in the order of time for rules that look at chains of queries.
    """
    check_log(log)
    if rule not in RULES:
        raise UnknownNameError("preference rule", rule, RULES)
    for name, value, own in (("gap", gap, "query-chains"), ("level", level, "click-rates")):
        if value is not None and rule != own:
            raise ParameterError(f"{name} belongs to the rule {own}; got rule {rule}.")
        if value is not None and not value > 0:
            raise ParameterError(f"{name} must be above 0; got {value}.")
    if prior < 0:
        raise ParameterError(f"prior must be at least 0; got {prior}.")
    names, document_of = _documents(log)
    if rule == "query-chains":
        queries, winners, losers, weights = chain_events(log, document_of, gap=gap)
    else:
        better, worse, weights = rate_events(log, level=level) if rule == "click-rates" else page_events(log, rule)
        queries = log.pair_query[better].astype(np.int64)
        winners, losers = document_of[better], document_of[worse]
    merged = merge(winners, losers, queries=queries, weights=weights, least=least, prior=prior)
    query, first, second, odds, events = merged
    return ClickPreferences(log.query_ids[query], names[first], names[second], odds, events)


def _documents(log: ClickLog) -> tuple[AnyArray, Ints]:
    """Ids of all documents, ascending, and the number of each pair's document among them."""
    ids = log.document_ids.tolist()
    number = {name: k for k, name in enumerate(sorted(set(ids)))}
    return np.array([*number, None], object)[:-1], np.fromiter((number[name] for name in ids), np.int64, len(ids))


def merge(
    winners: Ints, losers: Ints, *, queries: Ints, weights: Array, least: float = 1.0, prior: float = 0.0
) -> tuple[Ints, Ints, Ints, Array, Array]:
    """Merge events: query, winner, loser, P̄ and m of each two documents with more events for one side."""
    low, high = np.minimum(winners, losers), np.maximum(winners, losers)
    order = np.lexsort((high, low, queries))
    q, a, b = queries[order], low[order], high[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(q) != 0) | (np.diff(a) != 0) | (np.diff(b) != 0)
    group, first = np.cumsum(new) - 1, np.flatnonzero(new)
    total = np.bincount(group, weights[order], minlength=len(first))
    lower = np.bincount(group, (weights * (winners < losers))[order], minlength=len(first))
    kept = (total >= least) & (2.0 * lower != total)
    first, total, lower = first[kept], total[kept], lower[kept]
    down = 2.0 * lower > total
    wins = np.where(down, lower, total - lower)
    odds = (wins + prior) / (total + 2.0 * prior)
    return q[first], np.where(down, a[first], b[first]), np.where(down, b[first], a[first]), odds, total


def _rows(data: Table) -> dict[tuple[str, str], int]:
    """Row of each (query, document); without document ids, these are numbers of rows, as in simulated logs."""
    names = [data.query_name(q) for q in range(data.n_queries)]
    rows: dict[tuple[str, str], int] = {}
    for row, query in enumerate(data.query_index.tolist()):
        key = names[query], data.document_name(row)
        if key in rows:
            raise DataError(f"document {key[1]!r} is twice in query {key[0]!r}; which is meant?", where=data.source)
        rows[key] = row
    return rows
