"""Inter-annotator agreement of judges: Cohen's κ, Fleiss' κ and Krippendorff's α, with bootstrap intervals over items.

    >>> from podium.judgments.judgments import Judgments
    >>> votes = Judgments.from_rows(list("qqqqqq"), list("aabbcc"), list("xyxyxy"), [1, 1, 0, 0, 1, 0])
    >>> round(krippendorff(votes, level="nominal").value, 4), round(cohen(votes, "x", "y").value, 4)
    (0.4444, 0.4)

1 is perfect agreement, 0 agreement by chance; systematic disagreement is below 0. Krippendorff's α takes any number of
judges, missing judgments and the order of grades: use it unless a paper asks for another.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.judgments.judgments import Judgments

if TYPE_CHECKING:
    import scipy.sparse as sp

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
    size = len(judgments.scale)
    cells = _sparse(np.arange(len(left)), left * size + right, np.ones(len(left)), (len(left), size * size))
    apart = _distances(judgments.scale, {"none": "nominal", "linear": "linear", "quadratic": "interval"}[weights])

    def kappa(total: Array) -> float:
        pairs = total.reshape(size, size) / total.sum()
        return _beyond_chance((pairs * apart).sum(), pairs.sum(axis=1) @ apart @ pairs.sum(axis=0))

    alike = len(np.union1d(left, right)) == 1
    name = f"Cohen's κ{'' if weights == 'none' else f' ({weights})'}"
    return _with_interval(name, kappa, cells, 2 * len(left), alike=alike, draws=draws, confidence=confidence, seed=seed)


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

    def kappa(total: Array) -> float:
        share = total[1:] / total[1:].sum()
        return _beyond_chance(1.0 - total[0] * n / total[1:].sum(), 1.0 - (share**2).sum())

    rows = np.column_stack([agreed, counts])
    used, alike = len(judgments.grades), len(judgments.scale) == 1
    return _with_interval("Fleiss' κ", kappa, rows, used, alike=alike, draws=draws, confidence=confidence, seed=seed)


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
    pairs = _coincidences(judgments)
    used = judgments.grades[judgments.votes[judgments.items] > 1]
    if not len(used):
        raise DataError(
            "no item has two or more judgments, so that there is nothing to agree on.", where=judgments.source
        )
    size = len(judgments.scale)

    def alpha(total: Array) -> float:
        observed = total.reshape(size, size)
        of_grade = observed.sum(axis=1)
        apart = _ordinal(of_grade) if level == "ordinal" else _distances(judgments.scale, level)
        n = of_grade.sum()
        return _beyond_chance((observed * apart).sum() / n, of_grade @ apart @ of_grade / (n * (n - 1.0)))

    name, alike = f"Krippendorff's α ({level})", len(np.unique(used)) == 1
    return _with_interval(name, alpha, pairs, len(used), alike=alike, draws=draws, confidence=confidence, seed=seed)


def _coincidences(judgments: Judgments) -> sp.csr_array:
    """Pairs of grades that two judges gave, over m − 1, of each item with m ≥ 2 judgments."""
    votes, size = judgments.votes, len(judgments.scale)
    codes = np.searchsorted(judgments.scale, judgments.grades)
    ends = np.cumsum(votes)
    rows, cells, values = [], [], []
    for row, item in enumerate(np.flatnonzero(votes > 1).tolist()):
        m = int(votes[item])
        grades = Counter(codes[ends[item] - m : ends[item]].tolist())
        for (c, n_c), (d, n_d) in itertools.product(grades.items(), repeat=2):
            rows.append(row)
            cells.append(c * size + d)
            values.append(n_c * (n_d - (c == d)) / (m - 1))
    shape = (int((votes > 1).sum()), size * size)
    return _sparse(np.array(rows, np.int64), np.array(cells, np.int64), np.array(values), shape)


def _ordinal(of_grade: Array) -> Array:
    """(Σ_{g=c}^{d} n_g − (n_c + n_d)/2)²."""
    middle = np.cumsum(of_grade) - of_grade / 2.0
    return np.asarray((middle[:, None] - middle) ** 2)


def _distances(scale: Array, level: str) -> Array:
    """Distances between grades; only their ratios matter."""
    apart = np.abs(scale[:, None] - scale)
    if level == "nominal":
        return (apart > 0).astype(np.float64)
    return apart if level == "linear" else apart**2


def _beyond_chance(observed: float, expected: float) -> float:
    """1 − observed/expected disagreement; 1 if no disagreement is expected."""
    return 1.0 if expected <= 0.0 else float(1.0 - observed / expected)


def _with_interval(
    name: str,
    coefficient: Callable[[Array], float],
    rows: sp.csr_array | Array,
    used: int,
    *,
    alike: bool,
    draws: int,
    confidence: float,
    seed: int,
) -> Agreement:
    """Coefficient of the sum of the items' rows, and its percentiles over `draws` resamplings of the items."""
    if draws < 1 or not 0.0 < confidence < 1.0:
        raise ParameterError(f"draws must be at least 1 and confidence between 0 and 1; got {draws}, {confidence}.")
    n, rng, resampled = rows.shape[0], random_numbers(seed), []
    value = coefficient(np.asarray(rows.sum(axis=0)).ravel())
    for _ in range(draws):
        times = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
        resampled.append(coefficient(np.asarray(rows.T @ times).ravel()))
    low, high = np.quantile(resampled, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    note = "all judgments are equal, as they would be by chance" if alike else ""
    return Agreement(name, value, float(low), float(high), n, used, note)


def _sparse(rows: Ints, cells: Ints, values: Array, shape: tuple[int, int]) -> sp.csr_array:
    import scipy.sparse as sp

    return sp.csr_array((values, (rows, cells)), shape=shape)


def _judge(judgments: Judgments, name: str) -> int:
    if name not in judgments.judges:
        raise UnknownNameError("judge", name, judgments.judges)
    return judgments.judges.index(name)


def _check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ParameterError(f"{what} must be one of {', '.join(choices)}; got {value!r}.")
