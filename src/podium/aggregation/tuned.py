"""Tuning of one parameter of an aggregator on judged queries, with the one-standard-error rule.

>>> from podium.aggregation.rankings.rankings import Rankings
>>> from podium.aggregation.supervised import with_labels
>>> votes = Rankings.from_orders([[["A", "B", "C"], ["B", "A", "C"], ["B", "C", "A"]]] * 4)
>>> judged = with_labels(votes, {(str(q), "A"): 1.0 for q in range(4)})
>>> tuned(Aggregator.parse("rrf"), judged, "k", [0, 60]).best
'rrf(k=0.0)'
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from podium.aggregation.base import Aggregator
from podium.aggregation.rankings.rankings import Rankings
from podium.base.arrays import Array
from podium.base.errors import DataError, ParameterError
from podium.metrics import Metric

_FOLDS = 5
_MOST = 10_000


class TunedAggregator(NamedTuple):
    """The chosen aggregator, and how it was chosen."""

    aggregator: Aggregator
    best: str
    """The candidate with the best mean; the chosen one is the nearest to the default that does not differ from it."""
    record: dict[str, Any]


def tuned(
    aggregator: Aggregator,
    rankings: Rankings,
    parameter: str,
    values: Sequence[Any],
    *,
    metric: str = "ndcg@10",
    seed: int = 0,
) -> TunedAggregator:
    """Choose the value of a parameter by a metric of the judged queries.

    Of the values whose mean is within one standard error of the best, of the differences query by query, it takes the
    one nearest to the present value. The record has the cross-validated mean: of each fifth of the queries, with the
    value that the others choose.
    """
    candidates = [_with(aggregator, parameter, value) for value in values]
    present = float(getattr(aggregator, parameter))
    far = np.abs(np.array([float(getattr(candidate, parameter)) for candidate in candidates]) - present)
    table = _measured(candidates, rankings, Metric.parse(metric))  # (candidates, queries)
    chosen = _choose(table, far)
    record = {
        "queries": table.shape[1],
        "chosen": str(candidates[chosen]),
        metric: float(table[chosen].mean()),
        f"{metric} cross-validated": _cross_validated(table, far, seed),
    }
    return TunedAggregator(candidates[chosen], str(candidates[int(table.mean(axis=1).argmax())]), record)


def read_grid(text: str) -> tuple[str, list[float]]:
    """The parameter and its values in a text such as `k=1..100` or `phi=0.5,0.8`."""
    name, equals, tail = (part.strip() for part in text.partition("="))
    low, dots, high = tail.partition("..")
    try:
        if dots:
            values = [float(value) for value in range(int(low), int(high) + 1)]
        else:
            values = [float(value) for value in tail.split(",")]
    except ValueError:
        values = []
    if not name or not equals or not values or len(values) > _MOST:
        raise ParameterError(
            f"expected a parameter and at most {_MOST} values, as k=1..100 or phi=0.5,0.8; got {text!r}."
        )
    return name, values


def _with(aggregator: Aggregator, parameter: str, value: Any) -> Aggregator:
    fields = {field.name: field.type for field in dataclasses.fields(aggregator)}  # type: ignore[arg-type]
    if fields.get(parameter) not in ("float", "int", float, int):
        numbers = [name for name, kind in fields.items() if kind in ("float", "int", float, int)]
        raise ParameterError(
            f"{aggregator.name} has no number called {parameter!r} to tune; it has {', '.join(numbers) or 'none'}."
        )
    whole = fields[parameter] in ("int", int)
    typed = int(value) if whole else float(value)
    return dataclasses.replace(aggregator, **{parameter: typed})  # type: ignore[type-var]


def _measured(candidates: Sequence[Aggregator], rankings: Rankings, metric: Metric) -> Array:
    """The metric of each candidate for each judged query that it can tell."""
    if rankings.labels is None:
        raise DataError("tuning needs judged queries, and the rankings have no grades.")
    metric.check_tunes()
    labels, known = np.nan_to_num(rankings.labels), ~np.isnan(rankings.labels)
    rows = []
    for candidate in candidates:
        values = metric(candidate(rankings).scores, labels, rankings.offsets)
        judged = np.logical_or.reduceat(known, rankings.offsets[:-1]) if len(known) else np.zeros(0, bool)
        rows.append(np.where(judged, values, np.nan))
    table = np.array(rows)
    table = table[:, ~np.isnan(table).any(axis=0)]
    if table.shape[1] < 2:
        raise DataError(
            f"tuning by {metric} needs two queries with a relevant document that a voter ranks; got {table.shape[1]}. "
            "Check that the judgments write query and document ids as the rankings do."
        )
    return table


def _choose(table: Array, far: Array) -> int:
    """The candidate nearest to the present value among those within one standard error of the best."""
    best = int(table.mean(axis=1).argmax())
    differences = table[best] - table
    errors = differences.std(axis=1, ddof=1) / np.sqrt(table.shape[1])
    close = differences.mean(axis=1) <= errors
    return int(np.flatnonzero(close)[far[close].argmin()])


def _cross_validated(table: Array, far: Array, seed: int) -> float:
    """The mean over queries of the candidate that the queries of other folds choose."""
    n = table.shape[1]
    fold = np.random.default_rng(seed).permutation(n) % min(_FOLDS, n)
    values = np.empty(n)
    for f in np.unique(fold):
        rest = table[:, fold != f]
        values[fold == f] = table[_choose(rest, far) if rest.shape[1] > 1 else int(far.argmin()), fold == f]
    return float(values.mean())
