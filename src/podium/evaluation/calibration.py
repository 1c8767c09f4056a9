"""Calibration of rank probabilities (odds): do documents with a probability of 30 % come first 30 % of the time?

>>> import podium
>>> from podium.evaluation.calibration import calibration
>>> data, _ = podium.make_letor_like(60, seed=1)
>>> train, valid, test = podium.split(data)
>>> model = podium.train(train, "ranknet", valid=valid)
>>> report = calibration(model.distribution(test), test)
>>> bool(report.brier < report.brier_even)  # better than the same probability k/n for all documents
True

The outcome is known from grades. If k documents have the best grade, these come first, in an unknown order. For a
distribution without ties the forecast is therefore P(rank ≤ k), which for k = 1 is P(first). Counting each of the k as
first with 1/k instead would make a correct distribution look overconfident, since it knows more about the order within
a grade. A rank interval is compared with the ranks that a document's grade allows, weighted by the distribution's own
probabilities, so a correct distribution reaches its level however coarse the grades are. For a distribution with ties
the forecast is P(rank 1), and ranks are dense: the best grade has rank 1, the next one 2. Queries with one grade only
are left out.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, counted
from podium.base.shown import Shown, ShownTable, Value
from podium.data.inputs import labelled_table
from podium.evaluation.evaluate import all_plain
from podium.jit import sorting as ranking

if TYPE_CHECKING:
    from podium.data.table import Table
    from podium.odds import Odds, QueryOdds

EDGES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Edges of the bins of the reliability table."""


@dataclass(frozen=True)
class Bin:
    """The documents with a probability in (low, high]; the first bin holds 0 too."""

    low: float
    high: float
    documents: int
    predicted: float  # their mean probability
    observed: float  # the share that came first
    standard_error: float  # of observed − predicted, over queries


@dataclass(frozen=True, repr=False)
class Calibration(Shown):
    """Forecast probabilities compared with outcomes."""

    how: str  # the distribution, and the source of its temperature
    ties: bool  # whether documents can share the first rank
    queries: int
    skipped: int  # queries without two grades
    documents: int
    bins: tuple[Bin, ...]  # those with documents
    error: float  # the mean over documents of |observed − predicted| of their bin: the expected calibration error
    brier: float  # the mean over documents of (probability − whether it came first)²
    brier_even: float  # the same if all documents of a query have the same probability
    log_loss: float  # the mean over documents of −log of the probability of the outcome
    log_loss_even: float
    level: float
    coverage: float  # the share of ranks inside their interval
    width: float  # the mean length of intervals, in ranks

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, for JSON."""
        return dict(all_plain(dataclasses.asdict(self)))

    def _shown(self) -> ShownTable:
        rows: list[list[Value]] = [
            [f"{100 * row.low:g}–{100 * row.high:g} %", row.documents, row.predicted, row.observed, row.standard_error]
            for row in self.bins
        ]
        scores = f"Brier score {self.brier:.4f}, even chances {self.brier_even:.4f}"
        holds = f"{100 * self.level:g} % intervals hold {100 * self.coverage:.1f} % of ranks"
        return ShownTable(
            f"Calibration on {counted(self.queries, 'query', 'queries')}: {self.how}",
            ["given", "documents", "predicted", "came first", "standard error"],
            rows,
            notes=[f"calibration error {self.error:.4f}; {scores}; {holds}"],
            bars=3,
        )


def calibration(odds: Odds, data: Any, *, level: float = 0.9) -> Calibration:
    """Compare odds with the grades of the same data, a dataset or frame that training and validation have not seen.

    `level`: the level of the intervals of ranks whose coverage is counted.
    `odds`: probabilities of ranks, as `Model.distribution` gives them for this data.
    `data`: their documents with labels, in the same row order.
    """
    data = labelled_table(data)
    if data.labels is None:
        raise DataError("calibration compares odds with grades, and there are no labels.", where=data.source)
    if len(odds.scores) != data.n_documents:
        raise DataError(
            f"{data.n_documents} documents, but the odds are of {len(odds.scores)}. "
            "Give the data that they were computed for.",
            where=data.source,
        )
    if not _same_rows(odds, data):
        raise DataError("the odds are of rows in another order. Give the data that they were computed for.")
    queries = list(_outcomes(odds, data.to_grouped(data.labels), level))
    if not queries:
        raise DataError("no query has two grades, so there is no order to compare odds with.", where=data.source)
    query = np.repeat(np.arange(len(queries)), [len(outcome.forecast) for outcome in queries])
    keys = ("forecast", "came", "even")
    forecast, came, even = (np.concatenate([getattr(outcome, key) for outcome in queries]) for key in keys)
    if odds.distribution.has_ties:  # it does not know how many share the best grade
        even = np.full(len(came), came.mean())
    bins = _bins(forecast, came, query)
    return Calibration(
        how=odds.how,
        ties=odds.distribution.has_ties,
        queries=len(queries),
        skipped=data.n_queries - len(queries),
        documents=len(forecast),
        bins=bins,
        error=sum(row.documents * abs(row.observed - row.predicted) for row in bins) / len(forecast),
        brier=float(np.mean((forecast - came) ** 2)),
        brier_even=float(np.mean((even - came) ** 2)),
        log_loss=_log_loss(forecast, came),
        log_loss_even=_log_loss(even, came),
        level=level,
        coverage=float(np.mean(np.concatenate([outcome.covered for outcome in queries]))),
        width=float(np.mean(np.concatenate([outcome.width for outcome in queries]))),
    )


def _same_rows(odds: Odds, data: Table) -> bool:
    grouped = data.grouped()
    rows = None if grouped is data else grouped.rows
    return np.array_equal(odds.offsets, grouped.offsets) and (
        odds.rows is rows or (odds.rows is not None and rows is not None and np.array_equal(odds.rows, rows))
    )


@dataclass(frozen=True, eq=False)
class _Outcome:
    """One query: forecast probabilities, and the outcome."""

    forecast: Array  # (n,) the probability to come first
    came: Array  # (n,) 1 if it did
    even: Array  # (n,) the probability if all documents had the same one
    covered: Array  # (n,) the share of the ranks that its grade allows inside the interval
    width: Array  # (n,)


def _outcomes(odds: Odds, labels: Array, level: float) -> Iterator[_Outcome]:
    for q, query in enumerate(odds):
        y = labels[odds.offsets[q] : odds.offsets[q + 1]]
        if len(y) and y.min() < y.max():
            yield _outcome(query, y, level)


def _outcome(query: QueryOdds, y: Array, level: float) -> _Outcome:
    ranked, came = query.summary(level), (y == y.max()).astype(np.float64)
    if query.distribution.has_ties:
        begin = end = ranking.dense_ranks(y)
        first = np.ones(len(y), np.int64)
    else:
        begin, end = (y[:, None] < y).sum(axis=1) + 1, (y[:, None] <= y).sum(axis=1)
        first = np.full(len(y), int(came.sum()))
    inside = np.maximum(begin, ranked.low), np.minimum(end, ranked.high)
    ranks = np.column_stack([first, begin - 1, end, inside[0] - 1, np.maximum(inside[1], inside[0] - 1)])
    chance = query.distribution.rank_cdf(query.scores, ranks)
    possible, held = chance[:, 2] - chance[:, 1], chance[:, 4] - chance[:, 3]
    return _Outcome(
        forecast=chance[:, 0],
        came=came,
        even=np.full(len(y), came.mean()),
        covered=np.divide(held, possible, out=np.zeros(len(y)), where=possible > 0),
        width=(ranked.high - ranked.low + 1).astype(np.float64),
    )


def _bins(forecast: Array, came: Array, query: Ints) -> tuple[Bin, ...]:
    place = np.searchsorted(EDGES[1:-1], forecast, side="left")
    bins = []
    for b in np.unique(place).tolist():
        inside = place == b
        n = int(inside.sum())
        per_query = np.bincount(query[inside], (came - forecast)[inside])
        error = math.sqrt(float(per_query @ per_query)) / n
        bins.append(Bin(EDGES[b], EDGES[b + 1], n, float(forecast[inside].mean()), float(came[inside].mean()), error))
    return tuple(bins)


def _log_loss(forecast: Array, came: Array) -> float:
    with np.errstate(divide="ignore"):
        return float(-np.log(np.where(came == 1, forecast, 1 - forecast)).mean())
