"""Paired: tests, intervals and effect sizes for the differences of two systems, query by query.

    >>> differences, dropped = paired_differences([0.9, 0.5, 0.7, 0.4], [0.6, 0.4, 0.7, float("nan")])
    >>> dropped, randomisation_test(differences)  # of the signs of 0.3, 0.1, 0, two in four are as extreme
    (1, 0.5)

All tests take differences (n,), are two-sided and give the p-value; where no query differs it is 1. Constant
differences other than 0 have no spread to compare with: t gives 0 for them, the other two what the signs alone say.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.errors import DataError, ParameterError

Array = NDArray[np.float64]


class Interval(NamedTuple):
    """From where to where."""

    low: float
    high: float


class Effect(NamedTuple):
    """How large a difference is, beside how sure."""

    d_z: float
    """Cohen's d for pairs: the mean difference in its standard deviations; infinite where these are 0."""
    rank_biserial: float
    """From −1, every query lost, to 1, every query won, larger differences counting more."""
    wins: int
    ties: int
    losses: int


def paired_differences(a: ArrayLike, b: ArrayLike, *, names: tuple[str, str] = ("a", "b")) -> tuple[Array, int]:
    """a − b for the queries that count for both, and the number of the others."""
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise DataError(f"{names[0]} has values of shape {first.shape}, {names[1]} {second.shape}; the same is needed.")
    differences = first - second
    kept = differences[~np.isnan(differences)]
    _check_size(len(kept), f"{names[0]} and {names[1]}: ")
    return np.round(kept, _DECIMALS), len(differences) - len(kept)


def randomisation_test(differences: ArrayLike, *, rounds: int = 10_000, seed: int = 0) -> float:
    """The chance of a mean as far from 0 if every difference had its sign by the toss of a coin.

    Exact, over all signs, for up to 20 differences other than 0. Beyond, `rounds` random draws of all signs, the
    observed one counted among them: p = (1 + as extreme)/(1 + rounds), which keeps the level exactly.
    """
    d = _sample(differences)
    d = d[d != 0]
    if not len(d):
        return 1.0
    extreme = abs(d.sum()) - _SLACK * np.abs(d).sum()  # equal sums may round apart
    if len(d) <= _EXACT:
        sums = d[:1]
        for x in d[1:]:  # the first sign stays: turning all signs changes no absolute sum
            sums = np.concatenate([sums + x, sums - x])
        return float((np.abs(sums) >= extreme).mean())
    rng = np.random.default_rng(seed)
    found, total, batch = 0, d.sum(), max(1, _BATCH // len(d))
    for start in range(0, rounds, batch):
        shape = (min(batch, rounds - start), len(d))
        positive = rng.integers(0, 2, size=shape, dtype=np.int8).astype(np.float64) @ d
        found += int((np.abs(2 * positive - total) >= extreme).sum())
    return (1 + found) / (1 + rounds)


def t_test(differences: ArrayLike) -> float:
    """The paired t test."""
    d = _sample(differences)
    if _constant(d):
        return 1.0 if d[0] == 0 else 0.0
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


def bootstrap_interval(values: ArrayLike, *, level: float = 0.95, rounds: int = 10_000, seed: int = 0) -> Interval:
    """A confidence interval for the mean: bias-corrected and accelerated bootstrap over queries.

    Beyond 2,000 queries it is Student's, mean ± t·s/√n: there the two agree, and the bootstrap costs O(n²).
    """
    x = _sample(values)
    if not 0 < level < 1:
        raise ParameterError(f"The level of an interval must lie between 0 and 1; got {level}.")
    if _constant(x):
        return Interval(float(x[0]), float(x[0]))
    from scipy.stats import bootstrap, t

    if len(x) > _ENOUGH:
        reach = float(t.isf((1 - level) / 2, len(x) - 1)) * float(x.std(ddof=1)) / math.sqrt(len(x))
        return Interval(float(x.mean()) - reach, float(x.mean()) + reach)
    found = bootstrap(
        (x,),
        np.mean,
        confidence_level=level,
        n_resamples=rounds,
        batch=max(1, _BATCH // len(x)),
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(float(found.low), float(found.high))


def effect_size(differences: ArrayLike) -> Effect:
    """Effect sizes of differences."""
    d = _sample(differences)
    middle, spread = float(d.mean()), 0.0 if _constant(d) else float(d.std(ddof=1))
    d_z = middle / spread if spread else math.copysign(math.inf, middle) if middle else 0.0
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    return Effect(d_z, _rank_biserial(d[d != 0]), wins, len(d) - wins - losses, losses)


def power(queries: int, difference: float, spread: float, *, alpha: float = 0.05) -> float:
    """The chance that a paired t test of so many queries finds a true difference.

    `spread` is the standard deviation of the differences: the test statistic has a noncentral t distribution with
    noncentrality √n · difference/spread.
    """
    from scipy.stats import nct, norm, t

    if spread == 0:
        return 1.0
    shift, free = math.sqrt(queries) * abs(difference) / spread, queries - 1
    if free > _MANY:
        limit = norm.isf(alpha / 2)
        return float(norm.sf(limit - shift) + norm.sf(limit + shift))
    limit = t.isf(alpha / 2, free)
    return float(nct.sf(limit, free, shift) + nct.cdf(-limit, free, shift))


def queries_needed(difference: float, spread: float, *, alpha: float = 0.05, wanted: float = 0.8) -> int:
    """The smallest number of queries with which a paired t test finds a true difference with power `wanted`."""
    if difference == 0 or not math.isfinite(difference) or not spread >= 0:
        raise ParameterError(
            f"queries_needed: expected a difference other than 0 and a spread ≥ 0; got {difference}, {spread}."
        )
    if not 0 < alpha < wanted < 1:
        raise ParameterError(f"queries_needed: expected 0 < alpha < wanted < 1; got alpha={alpha}, wanted={wanted}.")
    low, high = 1, 2  # too few, enough
    while power(high, difference, spread, alpha=alpha) < wanted:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if power(middle, difference, spread, alpha=alpha) < wanted:
            low = middle
        else:
            high = middle
    return high


_DECIMALS = 12
_SLACK = 1e-12
_EXACT = 20
_BATCH = 2_000_000  # numbers held at once
_MANY = 100_000  # degrees of freedom from where t is normal
_ENOUGH = 2_000  # queries from where the mean of a sample is normal


def _sample(values: ArrayLike) -> Array:
    sample = np.asarray(values, np.float64)
    if sample.ndim != 1 or not np.isfinite(sample).all():
        raise DataError("Expected a flat list of finite numbers, one per query; drop queries that are skipped.")
    _check_size(len(sample), "")
    return sample


def _check_size(n: int, where: str) -> None:
    if n < 2:
        raise DataError(f"{where}{n} queries count; at least 2 are needed to tell a difference from chance.")


def _constant(values: Array) -> bool:
    """Whether the values differ by no more than rounding."""
    return bool(np.ptp(values) <= _SLACK * np.abs(values).max())


def _rank_biserial(d: Array) -> float:
    """(W⁺ − W⁻)/(W⁺ + W⁻), W the sums of the ranks of the absolute differences."""
    if not len(d):
        return 0.0
    from scipy.stats import rankdata

    ranks = rankdata(np.abs(d))
    return float((ranks * np.sign(d)).sum() / ranks.sum())
