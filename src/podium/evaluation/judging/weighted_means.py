"""Means of metrics over weighted queries, such as a sample of the traffic, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from podium.base.errors import DataError
from podium.evaluation.evaluate import Evaluation
from podium.evaluation.judging.prediction_powered import weighted_mean
from podium.evaluation.paired import Interval


class WeightedMean(NamedTuple):
    """Mean over weighted queries."""

    value: float
    interval: Interval
    queries: int
    skipped: int


def weighted_means(
    evaluation: Evaluation, weights: Mapping[str, float], *, level: float = 0.95
) -> dict[str, WeightedMean]:
    """Σ w·v/Σ w of each metric over the queries that count, with its interval by linearisation, Student's.

    Every query that counts needs a weight; weights of other queries are ignored.
    """
    from scipy.special import stdtrit

    means: dict[str, WeightedMean] = {}
    for metric, row in zip(evaluation.metrics, evaluation.values, strict=True):
        counts = ~np.isnan(row)
        queries = [query for query, is_counted in zip(evaluation.query_ids, counts.tolist(), strict=True) if is_counted]
        absent = [query for query in queries if query not in weights]
        if absent:
            raise DataError(f"query {absent[0]!r} has no weight, nor have {len(absent) - 1} others.")
        n = len(queries)
        if n < 2:
            means[str(metric)] = WeightedMean(math.nan, Interval(math.nan, math.nan), n, len(row) - n)
            continue
        value, variance = weighted_mean(row[counts], np.array([weights[query] for query in queries]))
        wide = float(stdtrit(n - 1, 0.5 + 0.5 * level)) * math.sqrt(variance)
        means[str(metric)] = WeightedMean(value, Interval(value - wide, value + wide), n, len(row) - n)
    return means
