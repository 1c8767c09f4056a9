"""Prediction-powered inference: intervals of a metric from few human and many machine labels.

    >>> human, there = [0.8, 0.5, 0.6, 0.9] * 3, [0.7, 0.4, 0.7, 0.8] * 3
    >>> powered = prediction_powered(human, there, [0.7, 0.5, 0.6, 0.8, 0.4, 0.9, 0.5, 0.6, 0.7, 0.5] * 3)
    >>> round(powered.value, 3), powered.error < powered.human_error
    (0.671, True)

n queries, drawn at random, have a metric Y by human labels and f by machine labels; N others have f alone:

    θ̂_λ = λ·mean_N(f) + mean_n(Y − λf),   λ* = Cov_n(Y, f)/((1 + n/N)·Var_N(f)),
    se² = λ²·Var_N(f)/N + Var_n(Y − λf)/n

λ = 0 is the mean of human labels alone. The estimate is unbiased for any judge: a bad one only brings λ to 0. λ is
clipped to [0, 1]. Below 50 human queries, the λ of each query comes from the others (cross-fitting); intervals are
Student's.

A query may not count, as NDCG skips one without relevant documents, and humans and machine may differ in which: its
value is NaN. θ is then the mean over queries that count by human labels, a ratio. With c the share of these among the n
and θ₀ their mean, every value x above is replaced by θ₀ + (x − θ₀)/c, and by θ₀ where it does not count.

Weights of queries enter all means and variances, with fewer degrees of freedom the less equal they are (`sampling.py`).
If the chances of a sample are known, `prediction_powered_sample` has θ̂_λ = λ·mean(f) over the whole sample + mean(Y −
λf) over its part with human labels, each with its weights; what was drawn for sure adds no variance.
Reference: Angelopoulos et al., Prediction-powered inference, Science 2023; Angelopoulos, Duchi & Zrnic, PPI++, 2023.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.columns import float_numbers
from podium.base.errors import DataError
from podium.evaluation.judging.sampling import Deviations, deviations, equal_weights, equal_weights_of_sum, interval
from podium.evaluation.paired import Interval

LEAST = 10
"""The fewest human queries."""
FEW = 50
"""Human queries below which λ is cross-fitted."""


@dataclass(frozen=True)
class Powered:
    """Mean of a metric by human labels, estimated with the help of machine labels."""

    value: float
    interval: Interval
    error: float  # standard error
    weight: float  # λ: 0 if the machine tells nothing, 1 if it is as good as a human
    human: float  # the mean of human labels alone
    human_interval: Interval
    human_error: float
    human_queries: int  # n
    machine_queries: int  # N, without the n
    level: float
    drawn: int  # human queries that were drawn by chance, not for sure
    equal: float  # as many of equal weight would make the interval as sure
    _machine_variance: float  # λ²·Var_N(f)/N
    _rest_variance: float  # n·Var of the mean of Y − λf

    @property
    def effective_queries(self) -> float:
        """The human queries that alone would give this interval."""
        return self.human_queries * (self.human_error / self.error) ** 2 if self.error else math.inf

    def more_queries(self, half_width: float = 0.01) -> int | None:
        """Human queries to add for an interval of ± half_width; None if the machine's queries are too few for it."""
        from scipy.special import ndtri

        room = (half_width / float(ndtri(0.5 + 0.5 * self.level))) ** 2 - self._machine_variance
        if room <= 0.0:
            return None
        return max(math.ceil(self._rest_variance / room - 1e-9) - self.human_queries, 0)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        plain = {name: value for name, value in asdict(self).items() if not name.startswith("_")}
        spans = {name: list(plain[name]) for name in ("interval", "human_interval")}
        effective = self.effective_queries
        more = {
            "effective_queries": effective if math.isfinite(effective) else None,
            "more_queries": self.more_queries(),
        }
        return {**plain, **spans, **more, "equal": self.equal if math.isfinite(self.equal) else None}


def prediction_powered(
    human: ArrayLike,
    machine_there: ArrayLike,
    machine_elsewhere: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    weights_elsewhere: ArrayLike | None = None,
    level: float = 0.95,
) -> Powered:
    """The mean of `human` values over all queries, from values by machine labels on the same queries and on others.

    A query that does not count has the value NaN. `weights` are those of the queries, e.g. 1/p if a query was drawn
    with probability p.
    """
    y, f, rest = (float_numbers(v, "value of a query") for v in (human, machine_there, machine_elsewhere))
    _check(y, f, rest)
    w, w_rest = _weights(weights, len(y)), _weights(weights_elsewhere, len(rest))
    y, f, rest = _of_all_queries(y, f, rest, w)
    n, others = len(y), len(rest)
    mean_rest, variance_rest = weighted_mean(rest, w_rest)
    each = _weight_of_each(y, f, w, others * variance_rest if np.ptp(rest) > 0.0 else 0.0, others)
    powered = y - each * (f - mean_rest)
    value, variance = weighted_mean(powered, w)
    weight = float(np.average(each, weights=w))
    machine = weight**2 * variance_rest
    error = math.sqrt(machine + variance)
    alone, alone_variance = weighted_mean(y, w)
    own = equal_weights(w, np.ones(n))
    equal = equal_weights_of_sum((own, variance), (equal_weights(w_rest, np.ones(others)), machine))
    return Powered(
        value, interval(value, error**2, equal, level), error, weight, alone,
        interval(alone, alone_variance, own, level), math.sqrt(alone_variance), n, others, level, n, equal,
        machine, n * variance,
    )  # fmt: skip


def prediction_powered_sample(
    human: ArrayLike,
    machine: ArrayLike,
    rows: Ints,
    *,
    weights: tuple[Array, Array],
    random: tuple[Array, Array],
    level: float = 0.95,
) -> Powered:
    """The mean of `human` values over the traffic, from a sample with `machine` values and a part of it with both.

    `rows`: the places of the queries with human values in the sample. `weights`, and `random`, 1 less the chance of
    each query, are those of the sample and those of the part.
    """
    y, rest = float_numbers(human, "value of a query"), float_numbers(machine, "value of a query")
    _check(y, rest[rows], np.delete(rest, rows))
    (w_all, w), (random_all, random_part) = weights, random
    y, f, rest = _of_all_queries(y, rest[rows], rest, w)
    alone, there = deviations(y, w, random_part), deviations(f, w, random_part)
    everywhere = deviations(rest, w_all, random_all)
    # the two parts share queries: of those, the chance to be in the sample is common to both
    common = random_all[rows] * everywhere.each[rows]
    weight = _best_weight(alone, there, everywhere, common)
    powered = Deviations(alone.mean - weight * there.mean, alone.each - weight * there.each, random_part)
    value = weight * everywhere.mean + powered.mean
    machine_variance = weight**2 * everywhere.variance + 2.0 * weight * float(common @ powered.each)
    variance = max(machine_variance + powered.variance, 0.0)
    own = equal_weights(w, random_part)
    equal = equal_weights_of_sum(
        (own, powered.variance), (equal_weights(w_all, random_all), weight**2 * everywhere.variance)
    )
    n = len(y)
    return Powered(
        value, interval(value, variance, equal, level), math.sqrt(variance), weight, alone.mean,
        interval(alone.mean, alone.variance, own, level), math.sqrt(alone.variance), n, len(rest) - n, level,
        int((random_part > 0.0).sum()), equal, machine_variance, n * powered.variance,
    )  # fmt: skip


def _best_weight(alone: Deviations, there: Deviations, everywhere: Deviations, common: Array) -> float:
    """λ of the smallest variance of the estimate."""
    curvature = everywhere.variance + there.variance - 2.0 * float(common @ there.each)
    slope = float(there.random @ (alone.each * there.each)) - float(common @ alone.each)
    return min(max(slope / curvature, 0.0), 1.0) if curvature > 0.0 else 0.0


def _of_all_queries(y: Array, f: Array, rest: Array, w: Array) -> tuple[Array, Array, Array]:
    """Values of all queries whose mean is that of the queries that count by human labels."""
    counts = ~np.isnan(y)
    if counts.all() and not np.isnan(f).any() and not np.isnan(rest).any():
        return y, f, rest
    middle, share = float(np.average(y[counts], weights=w[counts])), float(w[counts].sum() / w.sum())
    y, f, rest = (np.where(np.isnan(v), middle, middle + (v - middle) / share) for v in (y, f, rest))
    return y, f, rest


def weighted_mean(values: Array, weights: Array) -> tuple[float, float]:
    """The weighted mean, and its variance: Var/n with equal weights."""
    mean = deviations(values, weights, np.ones(len(values)))
    return mean.mean, mean.variance


def _weight_of_each(y: Array, f: Array, w: Array, variance_rest: float, others: int) -> Array:
    """λ for each query with a human label: one for all, or from all other queries if they are few."""  # (n,)
    n = len(y)
    if variance_rest <= 0.0:
        return np.zeros(n)

    def best(rows: Ints) -> float:
        a, b, c = y[rows], f[rows], w[rows] / w[rows].sum()
        covariance = float(c @ ((a - c @ a) * (b - c @ b))) * len(a) / (len(a) - 1)
        return min(max(covariance / ((1.0 + len(a) / others) * variance_rest), 0.0), 1.0)

    every = np.arange(n)
    if n >= FEW:
        return np.full(n, best(every))
    return np.array([best(np.delete(every, i)) for i in range(n)])


def _weights(weights: ArrayLike | None, n: int) -> Array:
    if weights is None:
        return np.ones(n)
    values = float_numbers(weights, "weight of a query")
    if len(values) != n or not ((values > 0.0) & np.isfinite(values)).all():
        raise DataError(f"{n} queries need as many weights above 0.")
    return values


def _check(y: Array, f: Array, rest: Array) -> None:
    if len(y) != len(f):
        raise DataError(f"{len(y)} values by human labels, but {len(f)} by machine labels on the same queries.")
    counting = int((~np.isnan(y)).sum())
    if counting < LEAST:
        raise DataError(
            f"{counting} queries have human labels that the metric counts, and at least {LEAST} are needed to say how "
            "far to trust the machine. Judge more, drawn at random."
        )
    if len(rest) < 2:
        raise DataError(
            f"{len(rest)} queries have machine labels alone; at least 2 are needed. Have the machine judge more."
        )
    for values in (y, f, rest):
        if np.isinf(values).any():
            raise DataError("a value of a query is infinite; it must be a number, or NaN if the query does not count.")
