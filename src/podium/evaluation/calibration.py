"""Calibration: do documents given 30 % come first 30 % of the time?

>>> import podium
>>> from podium.evaluation import calibration
>>> data, _ = podium.make_letor_like(60, seed=1)
>>> train, valid, test = podium.split(data)
>>> model = podium.train(train, "ranknet", valid=valid)
>>> found = calibration(model.distribution(test), test)
>>> bool(found.log_loss < found.log_loss_even)  # the odds know more than that one document of n comes first
True

What happened is known from grades. Under a law of strict rankings one document comes first; where k share the best
grade, which one is not known, and each counts as 1/k of it, as if by lot. Ranks within a grade are taken as even in the
same way. Under a law with ties, all k come first, and ranks are dense: the best grade has rank 1, the next one 2.
Queries without two grades say nothing and are left out.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium import ranking
from podium.data.dataset import Dataset
from podium.errors import DataError
from podium.evaluation.evaluate import all_plain
from podium.odds import Odds, QueryOdds

EDGES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
"""Where the bins of the reliability table begin and end."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bin:
    """The documents whose P(first) lies in (low, high]; the first bin holds 0 too."""

    low: float
    high: float
    documents: int
    predicted: float  # mean P(first)
    observed: float  # the share that came first
    standard_error: float  # of observed − predicted, over queries


@dataclass(frozen=True)
class Calibration:
    """How odds compare with what happened."""

    how: str  # where the odds are from
    ties: bool  # whether documents can share the first rank
    queries: int
    skipped: int  # queries without two grades
    documents: int
    bins: tuple[Bin, ...]  # those with documents
    error: float  # the mean over documents of |observed − predicted| of their bin: the expected calibration error
    brier: float  # the mean over documents of (P(first) − whether it came first)²
    brier_even: float  # the same where all documents of a query have the same chance
    log_loss: float | None  # the mean over queries of −log P(first) of what came first; None with ties
    log_loss_even: float | None
    level: float
    coverage: float  # the share of documents whose rank lies in its interval
    width: float  # the mean length of intervals, in ranks

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return dict(all_plain(dataclasses.asdict(self)))


def calibration(odds: Odds, data: Dataset, *, level: float = 0.9) -> Calibration:
    """Compare odds with the grades of data that neither training nor validation has seen."""
    if data.labels is None:
        raise DataError("calibration compares odds with grades, and there are no labels.", where=data.source)
    if len(odds.scores) != data.n_documents:
        raise DataError(f"odds of {len(odds.scores)} documents for {data.n_documents}.", where=data.source)
    queries = list(_outcomes(odds, data.labels, level))
    if not queries:
        raise DataError("no query has two grades, so nothing is known of any order.", where=data.source)
    query = np.repeat(np.arange(len(queries)), [len(one.first) for one in queries])
    given, came, even = (np.concatenate([getattr(one, key) for one in queries]) for key in ("first", "came", "even"))
    bins = _bins(given, came, query)
    strict = not odds.law.has_ties
    return Calibration(
        how=odds.how,
        ties=not strict,
        queries=len(queries),
        skipped=data.n_queries - len(queries),
        documents=len(given),
        bins=bins,
        error=sum(one.documents * abs(one.observed - one.predicted) for one in bins) / len(given),
        brier=float(np.mean((given - came) ** 2)),
        brier_even=float(np.mean((even - came) ** 2)),
        log_loss=_log_loss(given, came) / len(queries) if strict else None,
        log_loss_even=_log_loss(even, came) / len(queries) if strict else None,
        level=level,
        coverage=float(np.mean(np.concatenate([one.covered for one in queries]))),
        width=float(np.mean(np.concatenate([one.width for one in queries]))),
    )


@dataclass(frozen=True, eq=False)
class _Outcome:
    """One query: what was given, and what happened."""

    first: Array  # (n,) P(first)
    came: Array  # (n,) whether it came first, or its share of that
    even: Array  # (n,) P(first) if all documents had the same chance
    covered: Array  # (n,) whether its rank lies in the interval, or how much of its grade's ranks do
    width: Array  # (n,)


def _outcomes(odds: Odds, labels: Array, level: float) -> Iterator[_Outcome]:
    for q, query in enumerate(odds):
        y = labels[odds.offsets[q] : odds.offsets[q + 1]]
        if len(y) and y.min() < y.max():
            yield _outcome(query, y, level)


def _outcome(query: QueryOdds, y: Array, level: float) -> _Outcome:
    found, top = query.summary(level), (y == y.max()).astype(np.float64)
    if query.law.has_ties:
        came, begin = top, ranking.ranks(y)
        end = begin
    else:
        came = top / top.sum()
        begin = (y[:, None] < y).sum(axis=1) + 1
        end = (y[:, None] <= y).sum(axis=1)
    inside = np.minimum(end, found.high) - np.maximum(begin, found.low) + 1
    return _Outcome(
        first=found.first,
        came=came,
        even=np.full(len(y), came.mean()),
        covered=np.maximum(inside, 0) / (end - begin + 1),
        width=(found.high - found.low + 1).astype(np.float64),
    )


def _bins(given: Array, came: Array, query: NDArray[np.int64]) -> tuple[Bin, ...]:
    place = np.searchsorted(EDGES[1:-1], given, side="left")
    made = []
    for b in np.unique(place).tolist():
        mine = place == b
        n = int(mine.sum())
        per_query = np.bincount(query[mine], (came - given)[mine])
        error = math.sqrt(float(per_query @ per_query)) / n
        made.append(Bin(EDGES[b], EDGES[b + 1], n, float(given[mine].mean()), float(came[mine].mean()), error))
    return tuple(made)


def _log_loss(given: Array, came: Array) -> float:
    happened = came > 0
    with np.errstate(divide="ignore"):
        return float(-(came[happened] * np.log(given[happened])).sum())
