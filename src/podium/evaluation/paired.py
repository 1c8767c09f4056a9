"""Paired significance tests, confidence intervals, effect sizes and power for two systems, query by query.

    >>> differences, dropped = paired_differences([0.9, 0.5, 0.7, 0.4], [0.6, 0.4, 0.7, float("nan")])
    >>> dropped, randomisation_test(differences)  # of the signs of 0.3, 0.1, 0, two in four are as extreme
    (1, 0.5)

All tests take differences (n,), are two-sided and return the p-value; if no query differs it is 1. Constant differences
other than 0 have no variance: the t and the bootstrap test return 2^(1 − n) for them, with which n fair coins agree.
Randomisation, t and bootstrap tests are of the mean; Wilcoxon's and the sign test are of symmetry around 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arguments import random_numbers
from podium.base.arrays import Array
from podium.base.columns import float_numbers
from podium.base.errors import DataError, ParameterError


class Interval(NamedTuple):
    """Confidence interval."""

    low: float
    high: float


class Effect(NamedTuple):
    """Effect sizes of a difference."""

    d_z: float
    """Cohen's d for pairs: the mean difference in its standard deviations; infinite if these are 0."""
    rank_biserial: float
    """From −1, every query lost, to 1, every query won, larger differences counting more."""
    wins: int
    ties: int
    losses: int


def paired_differences(a: ArrayLike, b: ArrayLike, *, names: tuple[str, str] = ("a", "b")) -> tuple[Array, int]:
    """Differences a − b for the queries that count for both, and the number of the others."""
    first, second = float_numbers(a, "value of a query"), float_numbers(b, "value of a query")
    if first.shape != second.shape:
        raise DataError(f"{names[0]} has values of shape {first.shape}, {names[1]} {second.shape}; the same is needed.")
    differences = first - second
    kept = differences[~np.isnan(differences)]
    _check_size(len(kept), f"{names[0]} and {names[1]}: ")
    return np.round(kept, _DECIMALS), len(differences) - len(kept)


def randomisation_test(differences: ArrayLike, *, rounds: int = 10_000, seed: int = 0) -> float:
    """Randomisation (permutation) test: the probability of a mean as far from 0 if signs were random.

    Exact, over all signs, for up to 20 differences other than 0. Beyond, `rounds` random draws of all signs, the
    observed one counted among them: p = (1 + as extreme)/(1 + rounds), which keeps the level exactly.
    """
    return float(randomisation_tests(_sample(differences)[None], rounds=rounds, seed=seed)[0])


def randomisation_tests(rows: Array, *, rounds: int = 10_000, seed: int = 0) -> Array:
    """Randomisation tests of many pairs, one per row, with the same random signs; 0 for a query left out."""
    p = np.ones(len(rows))
    counts = np.count_nonzero(rows, axis=1)
    for k in np.flatnonzero((counts > 0) & (counts <= _EXACT)):
        p[k] = _all_signs(rows[k][rows[k] != 0])
    many = np.flatnonzero(counts > _EXACT)
    if not len(many):
        return p
    d = rows[many]
    total, extreme = d.sum(axis=1), _extreme(d)
    rng, as_extreme = random_numbers(seed), np.zeros(len(many), np.int64)
    batch = max(1, min(_COINS, _BATCH // d.shape[1]))  # independent of the number of pairs, so that draws are too
    for start in range(0, rounds, batch):
        shape = (min(batch, rounds - start), d.shape[1])
        positive = rng.integers(0, 2, size=shape, dtype=np.int8).astype(np.float64) @ d.T
        as_extreme += (np.abs(2 * positive - total) >= extreme).sum(axis=0)
    p[many] = (1 + as_extreme) / (1 + rounds)
    return p


def t_test(differences: ArrayLike) -> float:
    """The paired t test."""
    d = _sample(differences)
    if _constant(d):
        return _coins_agree(d)
    from scipy.stats import ttest_1samp

    return float(ttest_1samp(d, 0.0).pvalue)


def wilcoxon_test(differences: ArrayLike) -> float:
    """Wilcoxon's signed-rank test; differences of 0 are left out."""
    d = _sample(differences)
    d = d[d != 0]
    if not len(d):
        return 1.0
    from scipy.stats import wilcoxon

    return float(wilcoxon(d).pvalue)


def sign_test(differences: ArrayLike) -> float:
    """The sign test: wins against losses, exactly; differences of 0 are left out."""
    d = _sample(differences)
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    if wins + losses == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses).pvalue)


def bootstrap_test(differences: ArrayLike, *, rounds: int = 10_000, seed: int = 0) -> float:
    """The bootstrap test: resamples of the differences less their mean, compared by Student's t (Sakai 2006).

    p = (1 + as extreme)/(1 + rounds). A resample of one query only has no spread, and counts as extreme.
    """
    d = _sample(differences)
    if _constant(d):
        return _coins_agree(d)
    centred = d - d.mean()
    middle, squares = _resampled(np.array([centred, centred**2]), rounds, seed).T
    spread = np.sqrt(np.maximum(squares - middle**2, 0.0))
    observed = abs(d.mean()) / d.std()
    as_extreme = np.abs(middle) >= (observed - _SLACK) * spread
    return float((1 + as_extreme.sum()) / (1 + rounds))


def bootstrap_interval(values: ArrayLike, *, level: float = 0.95, rounds: int = 10_000, seed: int = 0) -> Interval:
    """Confidence interval for the mean: bias-corrected and accelerated bootstrap over queries (BCa), stretched.

    Resamples vary by the factor √((n − 1)/n) too little, and not as Student's t: each end is moved away from the mean
    by t·√(n/(n − 1))/z, the quantiles of Student's t and of the normal distribution. Beyond 2,000 queries it is
    Student's, mean ± t·s/√n: there the two agree, and the bootstrap costs O(n²).
    """
    return bootstrap_intervals(_sample(values)[None], level=level, rounds=rounds, seed=seed)[0]


def bootstrap_intervals(rows: Array, *, level: float = 0.95, rounds: int = 10_000, seed: int = 0) -> list[Interval]:
    """Confidence intervals of many samples of the same queries, one per row, with the same resamples."""
    if not 0 < level < 1:
        raise ParameterError(f"The level of an interval must lie between 0 and 1; got {level}.")
    n, intervals = rows.shape[1], [Interval(float(x[0]), float(x[0])) for x in rows]
    varying = [k for k, x in enumerate(rows) if not _constant(x)]
    step = len(varying) if n > _ENOUGH else max(1, _BATCH // rounds)
    for first in range(0, len(varying), max(step, 1)):
        block = varying[first : first + step]
        x = rows[block]
        ends = _student(x, level) if n > _ENOUGH else _accelerated(x, _resampled(x, rounds, seed), level)
        for k, low, high in zip(block, *ends, strict=True):
            intervals[k] = Interval(float(low), float(high))
    return intervals


def effect_size(differences: ArrayLike) -> Effect:
    """Effect sizes of differences."""
    d = _sample(differences)
    middle, spread = float(d.mean()), 0.0 if _constant(d) else float(d.std(ddof=1))
    d_z = middle / spread if spread else math.copysign(math.inf, middle) if middle else 0.0
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    return Effect(d_z, _rank_biserial(d[d != 0]), wins, len(d) - wins - losses, losses)


def power(queries: int, difference: float, spread: float, *, alpha: float = 0.05) -> float:
    """Power of a paired t test: the probability that n queries show a true difference.

    `spread` is the standard deviation of the differences: the test statistic has a noncentral t distribution with
    noncentrality √n · difference/spread.
    """
    from scipy.special import nctdtr, ndtr, ndtri, stdtrit

    if spread == 0:
        return 1.0
    shift, free = math.sqrt(queries) * abs(difference) / spread, queries - 1
    if free > _MANY:
        limit = float(-ndtri(alpha / 2))
        return float(ndtr(shift - limit) + ndtr(-shift - limit))
    limit = float(-stdtrit(free, alpha / 2))
    wrong_side = np.nan_to_num(nctdtr(free, shift, -limit))  # NaN if it is too small to compute
    return float(1.0 - nctdtr(free, shift, limit) + wrong_side)


def queries_needed(difference: float, spread: float, *, alpha: float = 0.05, wanted: float = 0.8) -> int:
    """The smallest number of queries with which a paired t test finds a true difference with power `wanted`."""
    if difference == 0 or not math.isfinite(difference) or not spread >= 0:
        raise ParameterError(
            f"queries_needed: expected a difference other than 0 and a spread ≥ 0; got {difference}, {spread}."
        )
    if not 0 < alpha < wanted < 1:
        raise ParameterError(f"queries_needed: expected 0 < alpha < wanted < 1; got alpha={alpha}, wanted={wanted}.")
    from scipy.special import ndtri

    def enough(n: int) -> bool:
        return power(n, difference, spread, alpha=alpha) >= wanted

    about = ((ndtri(1 - alpha / 2) + ndtri(wanted)) * spread / difference) ** 2  # right if the spread were known
    low = high = max(2, math.ceil(about))
    step = 1
    while not enough(high):
        low, high, step = high, high + step, 2 * step
    while low > 1 and enough(low):
        low, high, step = max(low - step, 1), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


_DECIMALS = 12
_SLACK = 1e-12
_EXACT = 20
_BATCH = 2_000_000  # numbers held at once
_COINS = 500  # rounds at once
_MANY = 100_000  # degrees of freedom above which t is normal
_ENOUGH = 2_000  # queries above which the mean of a sample is normal


def _sample(values: ArrayLike) -> Array:
    sample = float_numbers(values, "value of a query")
    if not np.isfinite(sample).all():
        raise DataError("Expected a flat list of finite numbers, one per query; drop queries that are skipped.")
    _check_size(len(sample), "")
    return sample


def _check_size(n: int, where: str) -> None:
    if n < 2:
        few = "1 query counts" if n == 1 else f"{n} queries count"
        raise DataError(f"{where}{few}; at least 2 are needed to tell a difference from chance.")


def _constant(values: Array) -> bool:
    """Whether the values differ by no more than rounding."""
    return bool(np.ptp(values) <= _SLACK * np.abs(values).max())


def _coins_agree(d: Array) -> float:
    """The p-value of constant differences: 1 if they are 0, otherwise that all signs of fair coins agree."""
    return 1.0 if d[0] == 0 else 2.0 ** (1 - len(d))


def _extreme(d: Array) -> Array:
    """The absolute sum of each row, less a rounding error, so that equal sums stay equal."""
    return np.asarray(np.abs(d.sum(axis=-1)) - _SLACK * np.abs(d).sum(axis=-1))


def _all_signs(d: Array) -> float:
    """The share of signs that give an absolute sum as large as the one observed."""
    sums = d[:1]
    for x in d[1:]:  # the first sign stays: turning all signs changes no absolute sum
        sums = np.concatenate([sums + x, sums - x])
    return float((np.abs(sums) >= _extreme(d)).mean())


def _resampled(x: Array, rounds: int, seed: int) -> Array:
    """The means of resamples of each row; a resample draws the same queries in all rows."""  # (rounds, m)
    n, rng = x.shape[1], random_numbers(seed)
    batch = max(1, _BATCH // n)
    means = [
        rng.multinomial(n, np.full(n, 1 / n), size=min(batch, rounds - start)).astype(np.float64) @ x.T / n
        for start in range(0, rounds, batch)
    ]
    return np.concatenate(means)


def _accelerated(x: Array, means: Array, level: float) -> tuple[Array, Array]:
    """Efron's BCa: quantiles at Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))), with the bias z₀ and the acceleration a of a mean.

    They are stretched as `bootstrap_interval` says.
    """
    from scipy.special import ndtr, ndtri, stdtrit

    middle, n = x.mean(axis=1), x.shape[1]
    high = (1 + level) / 2
    stretch = float(stdtrit(n - 1, high) / ndtri(high)) * math.sqrt(n / (n - 1))
    z0 = ndtri(((means < middle).mean(axis=0) + (means <= middle).mean(axis=0)) / 2)
    centred = x - middle[:, None]
    a = (centred**3).sum(axis=1) / (6.0 * (centred**2).sum(axis=1) ** 1.5)
    means = np.sort(means, axis=0)
    ends = []
    for z in (ndtri((1 - level) / 2), ndtri((1 + level) / 2)):
        at = ndtr(z0 + (z0 + z) / (1 - a * (z0 + z))) * (len(means) - 1)
        below = np.floor(at).astype(np.int64)
        left, right = (np.take_along_axis(means, np.minimum(k, len(means) - 1)[None], 0)[0] for k in (below, below + 1))
        ends.append(middle + stretch * (left + (at - below) * (right - left) - middle))
    return ends[0], ends[1]


def _student(x: Array, level: float) -> tuple[Array, Array]:
    from scipy.stats import t

    middle, n = x.mean(axis=1), x.shape[1]
    reach = float(t.isf((1 - level) / 2, n - 1)) * x.std(axis=1, ddof=1) / math.sqrt(n)
    return middle - reach, middle + reach


def _rank_biserial(d: Array) -> float:
    """(W⁺ − W⁻)/(W⁺ + W⁻), W the sums of the ranks of the absolute differences."""
    if not len(d):
        return 0.0
    _, which, counts = np.unique(np.abs(d), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[which]  # of equals, the mean
    return float((ranks * np.sign(d)).sum() / ranks.sum())
