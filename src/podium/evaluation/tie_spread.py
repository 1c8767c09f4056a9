"""Tie spread: expectation and variance of a metric over the orders of documents with equal scores.

    >>> from podium.metrics import Metric
    >>> spread = tie_spread(Metric.parse("p@1"), [1.0, 1.0], [1, 0], [0, 2])
    >>> spread.expected, spread.variance
    (array([0.5]), array([0.25]))

The expectation over all orders of tied documents is exact. So is the variance of a metric that is a sum of document
values times rank weights, such as NDCG, DCG, P, recall, RBP: in a tie group of N documents
Var = Σ(v − v̄)² Σ(w − w̄)²/(N − 1), and groups are independent. For others it is estimated from random orders.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, Flags, Ints
from podium.base.errors import IncompatibleError
from podium.jit.sorting import order_all
from podium.metrics import Average, Metric, kernels, mean


@dataclass(frozen=True, eq=False)
class TieSpread:
    """A metric's expectation and variance over the orders of tied documents, query by query."""

    expected: Array  # (Q,), NaN if a query is skipped
    variance: Array  # (Q,), NaN if a query is skipped
    exact: bool  # whether the variance is

    def mean(self) -> Average:
        """The expected mean over queries."""
        return mean(self.expected)

    def deviation(self) -> float:
        """The standard deviation of the mean over queries; ties of different queries are independent."""
        counted = self.variance[~np.isnan(self.variance)]
        return float(np.sqrt(counted.sum()) / len(counted)) if len(counted) else float("nan")


def tie_spread(
    metric: Metric,
    scores: ArrayLike,
    labels: ArrayLike,
    offsets: ArrayLike,
    *,
    judged: ArrayLike | None = None,
    judged_offsets: ArrayLike | None = None,
    unjudged: ArrayLike | None = None,
    rounds: int = 1000,
    seed: int = 0,
) -> TieSpread:
    """The expectation and variance of a metric over all orders of tied documents, whatever its own convention for ties.

    The arguments are those of `Lists`; `rounds` random orders from `seed` if there is no formula.
    """
    if not metric.kernel.averages_ties:
        raise IncompatibleError(
            f"{metric.name} does not average over the orders of tied documents, so it has no spread."
        )
    s, y = np.ascontiguousarray(scores, np.float64), np.ascontiguousarray(labels, np.float64)
    cuts = np.ascontiguousarray(offsets, np.int64)
    judgments: dict[str, Any] = {"judged": judged, "judged_offsets": judged_offsets}
    expected = _with_ties(metric, "mean")(s, y, cuts, **judgments, unjudged=unjudged)
    exact = metric.kernel.swaps is not None and metric.kernel.swaps[1] is kernels.additive_swap
    if exact:
        ideal = (y, cuts)
        if judged is not None and judged_offsets is not None and metric.convention.ideal == "judged":
            ideal = (np.ascontiguousarray(judged, np.float64), np.ascontiguousarray(judged_offsets, np.int64))
        variance = _variances(metric, s, y, cuts, ideal)
    else:
        hidden = None if unjudged is None else np.asarray(unjudged, np.bool_)
        variance = _sampled(_with_ties(metric, "input"), (s, y, cuts), judgments, hidden, rounds=rounds, seed=seed)
    if metric.convention.short == "zero" and metric.cutoff is not None:
        variance[np.diff(cuts) < metric.cutoff] = 0.0
    return TieSpread(expected, np.where(np.isnan(expected), np.nan, variance), exact)


def _with_ties(metric: Metric, ties: str) -> Metric:
    return dataclasses.replace(metric, convention=dataclasses.replace(metric.convention, ties=ties))  # type: ignore[arg-type]


def _variances(metric: Metric, scores: Array, labels: Array, cuts: Ints, ideal: tuple[Array, Ints]) -> Array:
    """The variance for each query, from the document values and rank weights of one order."""
    single = metric.convention.scores == "float32"
    best_first, ends = order_all(scores.astype(np.float32) if single else scores, cuts)
    ranked, (judged, judged_cuts) = labels[best_first], ideal
    sorted_ideal = np.empty(len(judged))
    kernels.ideal_labels(judged, judged_cuts, sorted_ideal)
    config = metric.config_array(np.concatenate([judged, labels]))
    prepare = metric.swap_functions()[0]
    variances = np.zeros(len(cuts) - 1)
    for q in range(len(variances)):
        a, b = cuts[q], cuts[q + 1]
        work = np.zeros(metric.work_size(int(b - a)))
        prepare(ranked[a:b], sorted_ideal[judged_cuts[q] : judged_cuts[q + 1]], config, work)
        worth, counts = work[: b - a], work[b - a : 2 * (b - a)]
        start = 0
        while start < b - a:
            end = int(ends[a + start])
            if end - start > 1:
                variances[q] += _squares(worth[start:end]) * _squares(counts[start:end]) / (end - start - 1)
            start = end
    return variances


def _squares(values: Array) -> float:
    return float(((values - values.mean()) ** 2).sum())


def _sampled(
    metric: Metric,
    ranking: tuple[Array, Array, Ints],
    judgments: dict[str, Any],
    unjudged: Flags | None,
    *,
    rounds: int,
    seed: int,
) -> Array:
    """The variance for each query over random orders of its documents, with ties in that order."""
    scores, labels, cuts = ranking
    query = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    rng = random_numbers(seed)
    draws = np.empty((rounds, len(cuts) - 1))
    for draw in draws:
        rows = np.lexsort((rng.random(len(scores)), query))
        hidden = None if unjudged is None else unjudged[rows]
        draw[:] = metric(scores[rows], labels[rows], cuts, **judgments, unjudged=hidden)
    return np.asarray(draws.var(axis=0, ddof=1))
