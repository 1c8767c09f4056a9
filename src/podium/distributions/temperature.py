"""Temperature scaling: fit the scale at which scores give calibrated odds (probabilities of ranks), on validation data.

A distribution over rankings of s/T is overconfident if T is too small, and too flat if it is too large. It is reverse
Plackett–Luce, in which documents may be far worse than their scores, unless validation data clearly favours
Plackett–Luce, in which they may be far better.

>>> import podium
>>> data, _ = podium.make_letor_like(60, seed=1)
>>> train, valid, _ = podium.split(data)
>>> scores = podium.train(train, "ranking-svm").score(valid)
>>> fitted, tenfold = fit_temperature(scores, valid), fit_temperature(10 * scores, valid)
>>> fitted.distribution, bool(abs(tenfold.temperature / fitted.temperature - 10) < 0.01)
(reverse-plackett-luce, True)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from podium.base.arrays import Array, Ints
from podium.distributions import PlackettLuce, ReversePlackettLuce

if TYPE_CHECKING:
    from podium.data.dataset import Dataset

_MOST = 20_000  # documents that the fit uses: more change the temperature by less than its error

_WHOLE, _USUAL = (-7.0, 5.0), (-2.0, 3.0)  # log 1/T of scores of root mean square 1: where to look, and where first
_NEAR = 0.5  # distance of log 1/T within which another distribution's is looked for first

Race = PlackettLuce | ReversePlackettLuce


@dataclass(frozen=True)
class Temperature:
    """Distribution of odds, and the temperature that scores are divided by."""

    distribution: Race
    temperature: float


TRIED: tuple[Race, ...] = (ReversePlackettLuce(), PlackettLuce())
"""Distributions to try, the default first."""


def fit_temperature(scores: Array, data: Dataset, *, tried: tuple[Race, ...] = TRIED) -> Temperature | None:
    """Distribution and T > 0 that maximise the likelihood of the grades; None if no query has two grades.

    The likelihood is that every document comes before all of lower grade, in any order within a grade
    (`graded_race.py`). Its negative logarithm is convex in 1/T. The mean over the orders within a grade would make odds
    too flat, since most documents share the lowest grade; P(a document of the grade comes next), as in pmop-fd, would
    make them too sharp, since it needs one document of a grade and not all. Both are measured in
    docs/benchmarks/odds.md. A pair of typical distance, once won and once lost, is added to the data as a prior, so
    that a few queries without a mistake do not give certainty.

    The first distribution of `tried` is kept unless another is likelier by more than one standard error of the
    difference over queries: a smaller advantage often does not hold on other queries.
    """
    assert data.labels is not None, "checked before training"
    queries = [(scores[a:b], data.labels[a:b], w) for a, b, w in _spread_out(data)]
    queries = [(s - s.mean(), y, w) for s, y, w in queries if len(s) and y.min() < y.max()]
    if not queries:
        return None
    spread = math.sqrt(np.mean([float(np.mean(s * s)) for s, _, _ in queries]))
    if not spread > 0:
        return Temperature(tried[0], 1.0)  # all temperatures give the same odds
    scaled = _Judged(
        scores=np.concatenate([s / spread for s, _, _ in queries]),
        labels=np.concatenate([y for _, y, _ in queries]),
        offsets=np.cumsum([0, *(len(s) for s, _, _ in queries)]),
        weights=np.array([w for _, _, w in queries]),
    )
    distribution, (sharpness, likelihoods) = tried[0], _fit_sharpness(tried[0], scaled)
    for other in tried[1:]:
        near = math.log(sharpness) - _NEAR, math.log(sharpness) + _NEAR
        difference = _fit_sharpness(other, scaled, within=near, precision=_NEAR / 20)[1] - likelihoods
        if difference.sum() > np.linalg.norm(difference):  # a standard error of the sum
            distribution, (sharpness, likelihoods) = other, _fit_sharpness(other, scaled)
    return Temperature(distribution, spread / sharpness)


class _Judged(NamedTuple):
    """Queries for the fit."""

    scores: Array
    labels: Array
    offsets: Ints
    weights: Array  # of queries


def _fit_sharpness(
    distribution: Race, data: _Judged, *, within: tuple[float, float] = _USUAL, precision: float = 1e-3
) -> tuple[float, Array]:
    """1/T that maximises the likelihood of the grades, and the log-likelihood of each query there.

    Looked for `within` these bounds of log 1/T first, and everywhere if it is at one of them.
    """
    from scipy.optimize import minimize_scalar

    likelihood = distribution.likelihood_of_grades(data.labels, data.offsets)

    @functools.cache  # the last one is asked for twice
    def likelihoods(sharpness: float) -> Array:
        return data.weights * likelihood(sharpness * data.scores)

    def cost(log_sharpness: float) -> float:
        sharpness = math.exp(log_sharpness)
        prior = np.logaddexp(0.0, sharpness) + np.logaddexp(0.0, -sharpness)
        return float(prior - likelihoods(sharpness).sum())

    low, high = within
    result = minimize_scalar(cost, bounds=within, method="bounded", options={"xatol": precision})
    if within != _WHOLE and min(result.x - low, high - result.x) < _EDGE * (high - low):
        return _fit_sharpness(distribution, data, within=_WHOLE)
    sharpness = math.exp(result.x)
    return sharpness, likelihoods(sharpness)


_EDGE = 0.1
"""Share of an interval, at either end, in which its best may lie outside."""


def _spread_out(data: Dataset) -> Iterator[tuple[int, int, float]]:
    """First and last row and weight of each query; of a large dataset every k-th query."""
    for q in range(0, data.n_queries, 1 + data.n_documents // _MOST):
        weight = 1.0 if data.query_weights is None else float(data.query_weights[q])
        yield int(data.offsets[q]), int(data.offsets[q + 1]), weight
