"""Inter-annotator agreement of judges: Cohen's κ, Fleiss' κ and Krippendorff's α, with bootstrap intervals over items.

    >>> from podium.judgments.judgments import Judgments
    >>> votes = Judgments.from_rows(list("qqqqqq"), list("aabbcc"), list("xyxyxy"), [1, 1, 0, 0, 1, 0])
    >>> round(krippendorff(votes, level="nominal").value, 4), round(cohen(votes, "x", "y").value, 4)
    (0.4444, 0.4)

1 is perfect agreement, 0 agreement by chance; systematic disagreement is below 0. Krippendorff's α takes any number of
judges, missing judgments and the order of grades: use it unless a paper asks for another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.judgments.judgments import Judgments

Weights = Literal["none", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True)
class Agreement:
    """Agreement coefficient, with its percentile interval over resamplings of items."""

    name: str
    value: float
    low: float
    high: float
    items: int  # graded by two or more judges; others do not count
    judgments: int  # of those items
    note: str = ""


def cohen(
    judgments: Judgments,
    first: str,
    second: str,
    *,
    weights: Weights = "none",
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Agreement:
    """Cohen's κ of two judges, over the items that both graded.

    Formula: κ = (p_o − p_e)/(1 − p_e), p_o the mean weight of the pairs of grades given to an item, p_e its expectation
        were the two independent. The weight of grades g, h is 1[g = h], or 1 − |g − h|/(max − min) for `linear`, or
        1 − (g − h)²/(max − min)² for `quadratic`.
    Reference: Cohen, A coefficient of agreement for nominal scales, 1960; weights: 1968.
    """
    _check_choice("weights", weights, get_args(Weights))
    a, b = (_judge(judgments, name) for name in (first, second))
    if a == b:
        raise ParameterError(f"two different judges are needed; got {first!r} twice.")
    table = np.full((2, judgments.n_items), -1)
    codes = np.searchsorted(judgments.scale, judgments.grades)
    for row, judge in enumerate((a, b)):
        rows = judgments.judge_of == judge
        table[row, judgments.items[rows]] = codes[rows]
    left, right = table[:, (table >= 0).all(axis=0)]
    if not len(left):
        raise DataError(f"judges {first!r} and {second!r} graded no item in common.", where=judgments.source)
    scale, level = judgments.scale, _LEVELS[weights]
    apart = _distance(scale[left], scale[right], level)

    def kappa(times: Array) -> float:
        p, q = (np.bincount(of_judge, times, len(scale)) / times.sum() for of_judge in (left, right))
        return _beyond_chance(times @ apart / times.sum(), _expected_distance(p, q, scale, level))

    alike, n = len(np.union1d(left, right)) == 1, len(left)
    name = f"Cohen's κ{'' if weights == 'none' else f' ({weights})'}"
    return _with_interval(name, kappa, n, 2 * n, alike=alike, draws=draws, confidence=confidence, seed=seed)


def fleiss(judgments: Judgments, *, draws: int = 1000, confidence: float = 0.95, seed: int = 0) -> Agreement:
    """Fleiss' κ of many judges; every item needs the same number of judgments.

    Formula: κ = (P̄ − p_e)/(1 − p_e), P_i = (Σ_j n_ij² − n)/(n(n − 1)), p_e = Σ_j p̄_j², with n_ij the judges who gave
        item i the grade j.
    Reference: Fleiss, Measuring nominal scale agreement among many raters, 1971.
    """
    votes, counts = judgments.votes, judgments.counts().astype(np.float64)
    if (votes != votes[0]).any():
        raise DataError(
            f"Fleiss' κ needs the same number of judgments for every item; got from {votes.min()} to {votes.max()}. "
            "Use Krippendorff's α, which takes missing judgments.",
            where=judgments.source,
        )
    n = int(votes[0])
    if n < 2:
        raise DataError("Fleiss' κ needs two or more judgments an item; got 1.", where=judgments.source)
    agreed = ((counts**2).sum(axis=1) - n) / (n * (n - 1))

    def kappa(times: Array) -> float:
        total = times @ rows
        share = total[1:] / total[1:].sum()
        return _beyond_chance(1.0 - total[0] * n / total[1:].sum(), 1.0 - (share**2).sum())

    rows = np.column_stack([agreed, counts])
    used, alike = len(judgments.grades), len(judgments.scale) == 1
    return _with_interval(
        "Fleiss' κ", kappa, len(rows), used, alike=alike, draws=draws, confidence=confidence, seed=seed
    )


def krippendorff(
    judgments: Judgments, *, level: Level = "ordinal", draws: int = 1000, confidence: float = 0.95, seed: int = 0
) -> Agreement:
    """Krippendorff's α of any number of judges; judgments may be missing, and items with one judgment do not count.

    Formula: α = 1 − (N − 1) Σ o_cd δ_cd / Σ n_c n_d δ_cd, o_cd the pairs of grades c, d that two judges gave to one
        item, each over (judgments of the item − 1); n_c = Σ_d o_cd, N = Σ n_c. δ is 1[c ≠ d] (`nominal`), (c − d)²
        (`interval`), or (Σ_{g=c}^{d} n_g − (n_c + n_d)/2)² (`ordinal`).
    Reference: Krippendorff, Content analysis: an introduction to its methodology, 2004, chapter 11.
    """
    _check_choice("level", level, get_args(Level))
    used = judgments.grades[judgments.votes[judgments.items] > 1]
    if not len(used):
        raise DataError(
            "no item has two or more judgments, so that there is nothing to agree on.", where=judgments.source
        )
    votes, scale = _shared_votes(judgments), judgments.scale

    def alpha(times: Array) -> float:
        of_grade = np.bincount(votes.grades, times[votes.items] * votes.counts, len(scale))
        values = np.cumsum(of_grade) - of_grade / 2.0 if level == "ordinal" else scale
        of_items, n = _disagreement(votes, values, level), of_grade.sum()
        expected = n * n * _expected_distance(of_grade / n, of_grade / n, values, _LEVELS_OF_ALPHA[level])
        return _beyond_chance(times @ of_items / n, expected / (n * (n - 1.0)))

    name, alike, n = f"Krippendorff's α ({level})", len(np.unique(used)) == 1, len(votes.sizes)
    return _with_interval(name, alpha, n, len(used), alike=alike, draws=draws, confidence=confidence, seed=seed)


class _SharedVotes(NamedTuple):
    """Votes of the items with two or more judges: how often each item has each grade."""

    items: Ints  # (C,) rising
    grades: Ints  # (C,) places on the scale
    counts: Array  # (C,)
    sizes: Array  # (I,) votes of each item


def _shared_votes(judgments: Judgments) -> _SharedVotes:
    shared = np.flatnonzero(judgments.votes > 1)
    kept = np.isin(judgments.items, shared)
    items, scale = np.searchsorted(shared, judgments.items[kept]), judgments.scale
    codes = items * len(scale) + np.searchsorted(scale, judgments.grades[kept])
    cells, counts = np.unique(codes, return_counts=True)
    rows, grades = np.divmod(cells, len(scale))
    return _SharedVotes(rows, grades, counts.astype(np.float64), judgments.votes[shared].astype(np.float64))


def _disagreement(votes: _SharedVotes, values: Array, level: Level) -> Array:
    """Distances between the votes of two judges of each item, over (its votes − 1)."""  # (I,)
    n, m = len(votes.sizes), votes.sizes
    if level == "nominal":
        return np.asarray((m * m - np.bincount(votes.items, votes.counts**2, n)) / (m - 1.0))
    first = np.searchsorted(votes.items, np.arange(n))
    x = values[votes.grades] - values[votes.grades[first]][votes.items]  # 0 where all votes are equal
    sums, squares = (np.bincount(votes.items, votes.counts * power, n) for power in (x, x * x))
    return np.asarray(2.0 * (m * squares - sums * sums) / (m - 1.0))


_LEVELS: dict[Weights, str] = {"none": "nominal", "linear": "linear", "quadratic": "squared"}
_LEVELS_OF_ALPHA: dict[Level, str] = {"nominal": "nominal", "ordinal": "squared", "interval": "squared"}


def _distance(a: Array, b: Array, level: str) -> Array:
    """Distances of grades; only their ratios matter."""
    apart = np.abs(a - b)
    return np.asarray(apart > 0, np.float64) if level == "nominal" else apart if level == "linear" else apart**2


def _expected_distance(p: Array, q: Array, values: Array, level: str) -> float:
    """Mean distance of two independent draws of `values`, by their chances p and q."""
    if level == "nominal":
        return float(1.0 - p @ q)
    if level == "linear":
        P, Q = np.cumsum(p)[:-1], np.cumsum(q)[:-1]
        return float(np.diff(values) @ (P * (1.0 - Q) + Q * (1.0 - P)))
    x = values - p @ values
    return float(p @ x**2 + q @ x**2 - 2.0 * (p @ x) * (q @ x))


def _beyond_chance(observed: float, expected: float) -> float:
    """1 − observed/expected disagreement; 1 if no disagreement is expected."""
    return 1.0 if expected <= 0.0 else float(1.0 - observed / expected)


def _with_interval(
    name: str,
    coefficient: Callable[[Array], float],
    n: int,
    used: int,
    *,
    alike: bool,
    draws: int,
    confidence: float,
    seed: int,
) -> Agreement:
    """Coefficient of n items, by how often each counts, and its percentiles over `draws` resamplings of the items."""
    if draws < 1 or not 0.0 < confidence < 1.0:
        raise ParameterError(f"draws must be at least 1 and confidence between 0 and 1; got {draws}, {confidence}.")
    rng, resampled = random_numbers(seed), list[float]()
    value = coefficient(np.ones(n))
    for _ in range(draws):
        times = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
        resampled.append(coefficient(times))
    low, high = np.quantile(resampled, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    note = "all judgments are equal, as they would be by chance" if alike else ""
    return Agreement(name, value, float(low), float(high), n, used, note)


def _judge(judgments: Judgments, name: str) -> int:
    if name not in judgments.judges:
        raise UnknownNameError("judge", name, judgments.judges)
    return judgments.judges.index(name)


def _check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ParameterError(f"{what} must be one of {', '.join(choices)}; got {value!r}.")
