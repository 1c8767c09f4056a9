"""Means of metrics over weighted queries, such as a sample of the traffic, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.evaluation.evaluate import Evaluation
from podium.evaluation.judging.sampling import deviations, equal_weights, interval
from podium.evaluation.paired import Interval
from podium.formats.query_weights import QueryWeight


class WeightedMean(NamedTuple):
    """Mean over weighted queries."""

    value: float
    interval: Interval
    queries: int
    skipped: int
    drawn: int  # queries that were drawn by chance, not for sure
    equal: float  # as many of equal weight would make the interval as sure


def weighted_means(
    evaluation: Evaluation, weights: Mapping[str, float | QueryWeight], *, level: float = 0.95
) -> dict[str, WeightedMean]:
    """Σ w·v/Σ w of each metric over the queries that count, with its interval (`sampling.py`).

    Every query that counts needs a weight; weights of other queries are ignored. If some queries were drawn for human
    judges, the weights are those of this part.
    """
    means: dict[str, WeightedMean] = {}
    for metric, row in zip(evaluation.metrics, evaluation.values, strict=True):
        counts = ~np.isnan(row)
        queries = [query for query, is_counted in zip(evaluation.query_ids, counts.tolist(), strict=True) if is_counted]
        n = len(queries)
        if n < 2:
            means[str(metric)] = WeightedMean(math.nan, Interval(math.nan, math.nan), n, len(row) - n, n, math.nan)
            continue
        w, random = human_sample(weights, queries)
        mean, equal = deviations(row[counts], w, random), equal_weights(w, random)
        ends = interval(mean.mean, mean.variance, equal, level)
        means[str(metric)] = WeightedMean(mean.mean, ends, n, len(row) - n, int((random > 0.0).sum()), equal)
    return means


def human_sample(
    weights: Mapping[str, float | QueryWeight], queries: list[str], *, part: float = 1.0
) -> tuple[Array, Array]:
    """Weights of queries with human labels, and how far each was a matter of chance.

    `part`: the share of the sample that humans judged, taken for random unless the weights say which were drawn.
    """
    drawn = weights_of(weights, queries)
    if all(entry.human_weight is None for entry in map(as_weight, weights.values())):
        return np.array([entry.weight for entry in drawn]), np.array([1.0 - part * entry.chance for entry in drawn])
    others = [query for query, entry in zip(queries, drawn, strict=True) if entry.human_weight is None]
    if others:
        raise DataError(
            f"query {others[0]!r} was not drawn for human judges, nor were {len(others) - 1} others that have human "
            "labels. Leave these labels out."
        )
    return (
        np.array([entry.human_weight for entry in drawn], np.float64),
        np.array([1.0 - entry.human_chance for entry in drawn]),
    )


def weights_of(weights: Mapping[str, float | QueryWeight], queries: list[str]) -> list[QueryWeight]:
    """The weight of each query; an error if one has none."""
    absent = [query for query in queries if query not in weights]
    if absent:
        raise DataError(f"query {absent[0]!r} has no weight, nor have {len(absent) - 1} others.")
    return [as_weight(weights[query]) for query in queries]


def as_weight(weight: float | QueryWeight) -> QueryWeight:
    """A weight, of unknown chance if it is a number alone."""
    return weight if isinstance(weight, QueryWeight) else QueryWeight(float(weight))
