"""Statistical significance of differences between systems: tests, confidence intervals, effect sizes, queries needed.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> base = rng.uniform(size=200)
    >>> values = [base, base + rng.normal(0.05, 0.1, 200), base + rng.normal(0.0, 0.1, 200)]
    >>> comparison = compare_systems(values, ["old", "new", "same"])
    >>> comparison.letters
    {'new': 'a', 'same': 'b', 'old': 'b'}

All tests are two-sided and paired: both systems answered the same queries. A query that either skips (NaN) is dropped
from that pair, and counted. Differences are rounded to 12 decimals, so that values equal up to rounding are ties.
Reference: Smucker, Allan and Carterette (2007) on tests; Efron (1987) on BCa intervals; Piepho (2004) on letters.
"""

from __future__ import annotations

import itertools
import math
import typing
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.columns import float_numbers
from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.base.shown import Shown, ShownTable, Value, some_names
from podium.evaluation.evaluate import plain, reported_interval
from podium.evaluation.families.compact_letters import compact_letters
from podium.evaluation.families.tukey import randomised_tukey, tukey
from podium.evaluation.metric_names import paper_names, short_names
from podium.evaluation.paired import (
    Effect,
    Interval,
    bootstrap_intervals,
    bootstrap_test,
    effect_size,
    paired_differences,
    queries_needed,
    randomisation_tests,
    sign_test,
    t_test,
    wilcoxon_test,
)
from podium.metrics import Metric, mean

Correction = Literal["holm", "hochberg", "bonferroni", "sidak", "benjamini-hochberg", "benjamini-yekutieli", "none"]
TESTS = ("randomisation", "t", "wilcoxon", "sign", "bootstrap", "tukey", "randomised-tukey")
CORRECTIONS: tuple[Correction, ...] = typing.get_args(Correction)


@dataclass(frozen=True)
class Pair:
    """Two systems on the queries that both answered."""

    a: str
    b: str
    difference: float  # the mean of a − b
    interval: Interval  # of the difference
    p: float
    adjusted: float  # p, corrected for the number of pairs
    significant: bool
    effect: Effect
    queries: int
    dropped: int  # skipped for one of the two
    needed: int | None  # queries to see a difference like this with power 0.8; None if there is no difference


class System(NamedTuple):
    """One system: its mean over the queries that count for it, with a confidence interval."""

    mean: float
    interval: Interval
    queries: int


@dataclass(frozen=True, repr=False)
class SystemComparison(Shown):
    """Systems, best mean first, and the pairs that were tested."""

    systems: dict[str, System]
    pairs: tuple[Pair, ...]
    letters: dict[str, str] | None  # systems that share a letter do not differ significantly; None with a baseline
    test: str
    correction: str
    alpha: float
    seed: int
    metric: Metric | None = None  # of the values
    baseline: str | None = None

    @property
    def how(self) -> str:
        """The test and its correction, in words."""
        if self.test in _OF_ALL:
            return f"{_TESTED[self.test]} test of all pairs together, α = {self.alpha:g}"
        correction = "no correction" if self.correction == "none" else _CORRECTED[self.correction]
        return f"paired {_TESTED.get(self.test, self.test)} test, {correction}, α = {self.alpha:g}"

    def pair_with_baseline(self, name: str) -> Pair | None:
        """The test of a system against the baseline; None for the baseline itself, and without one."""
        return next((pair for pair in self.pairs if self.baseline is not None and pair.a == name), None)

    def verdict(self, word: str = "system") -> str:
        """The result in a sentence; `word` says what is compared, e.g. run."""
        by = "" if self.metric is None else f" by {self.metric}"
        if self.baseline is not None:
            return f"{by.strip()}: {'; '.join(self._against(name) for name in self.systems if name != self.baseline)}"
        best, *others = self.systems
        letters = self.letters or {}
        close = [name for name in others if set(letters[name]) & set(letters[best])]
        if close:
            return f"best{by}: {best}, but not significantly better than {some_names(close)}"
        return f"best{by}: {best}, significantly better than every other {word}"

    def _against(self, name: str) -> str:
        pair = self.pair_with_baseline(name)
        assert pair is not None, "of a comparison with a baseline"
        gained = pair.difference if self.metric is None or self.metric.higher_is_better else -pair.difference
        better = f"is significantly {'better' if gained > 0 else 'worse'} than"
        words = better if pair.significant else "does not differ significantly from"
        return f"{name} {words} {self.baseline} ({pair.difference:+.4f}, {p_text(pair.adjusted)})"

    def _shown(self) -> ShownTable:
        rows: list[list[Value]] = []
        heads = ["system", "mean" if self.metric is None else short_names([self.metric])[0], "from", "to", "queries"]
        for name, system in self.systems.items():
            row: list[Value] = [name, system.mean, *system.interval, system.queries]
            pair = self.pair_with_baseline(name)
            against: list[Value] = [None, None] if pair is None else [pair.difference, pair.adjusted]
            rows.append([*row, *against] if self.letters is None else [*row, self.letters[name]])
        heads += ["difference", "p"] if self.letters is None else ["letters"]
        level = f"from, to: {100 * (1 - self.alpha):g} % intervals"
        letters = "" if self.letters is None else "; systems that share a letter do not differ significantly"
        comments = [] if self.metric is None else [self.metric.tag()]
        verdict, explained = f"{self.verdict()} ({self.how})", level + letters
        names = [heads[1]] if self.metric is None else paper_names([self.metric])
        return ShownTable(
            "", heads, rows, notes=[verdict, explained], comments=[*comments, verdict, explained],
            latex_heads=[heads[0], *names, *heads[2:]],
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        systems = [
            {"name": name, "mean": plain(system.mean), "interval": list(system.interval), "queries": system.queries}
            for name, system in self.systems.items()
        ]
        how = {"test": self.test, "correction": self.correction, "alpha": self.alpha, "seed": self.seed}
        return {**how, "systems": systems, "letters": self.letters, "pairs": [_plain_pair(pair) for pair in self.pairs]}


def compare_systems(
    values: ArrayLike,
    names: Sequence[str],
    *,
    metric: Metric | None = None,
    baseline: str | None = None,
    test: str = "randomisation",
    correction: Correction = "holm",
    alpha: float = 0.05,
    seed: int = 0,
) -> SystemComparison:
    """Compare systems by their values of one metric, (systems × queries), NaN if a query is skipped.

    `metric` says whether larger is better, and whether another number than the mean over queries is reported (counts,
    GMAP): each system's mean and its interval are then that number, differences between systems are of the values.
    Every two systems are compared, or with a `baseline` every other system with it. The test is randomisation, t,
    wilcoxon, sign or bootstrap, or of all pairs together tukey or randomised-tukey, which need no correction. The
    correction for multiple comparisons is holm, hochberg, sidak or bonferroni (the probability of any false positive is
    at most alpha), benjamini-hochberg or benjamini-yekutieli (the false discovery rate is at most alpha) or none.
    """
    table = _table(values, names)
    means = {name: mean(row).value for name, row in zip(names, table, strict=True)}
    sign = -1.0 if metric is None or metric.higher_is_better else 1.0
    order = sorted(range(len(names)), key=lambda s: sign * means[names[s]])
    tested = _pairs(names, order, baseline)
    differences = [paired_differences(table[i], table[j], names=(names[i], names[j])) for i, j in tested]
    if test in _OF_ALL:
        correction = _no_correction(test, correction)
        ps = _OF_ALL[test](table, tested, _rounds(len(tested), alpha), seed)
    else:
        ps = _tested(test, [d for d, _ in differences], alpha, seed)
    adjusted = adjust(ps, correction)
    intervals = _intervals([d for d, _ in differences], alpha, seed)
    pairs = tuple(
        _pair((names[i], names[j]), sample, interval, p=(float(p), float(q)), alpha=alpha)
        for (i, j), sample, interval, p, q in zip(tested, differences, intervals, ps, adjusted, strict=True)
    )
    counted = [table[s][~np.isnan(table[s])] for s in order]
    systems = {
        names[s]: _system(metric, values, interval)
        for s, values, interval in zip(order, counted, _intervals(counted, alpha, seed), strict=True)
    }
    apart = {(pair.a, pair.b) for pair in pairs if pair.significant}
    letters = compact_letters(list(systems), apart) if baseline is None else None
    return SystemComparison(systems, pairs, letters, test, correction, alpha, seed, metric, baseline)


def adjust(p: ArrayLike, correction: Correction = "holm") -> Array:
    """p-values corrected for multiple comparisons."""
    values = float_numbers(p, "p-value")
    if correction == "none" or not len(values):
        return values.copy()
    if correction in ("benjamini-hochberg", "benjamini-yekutieli"):
        from scipy.stats import false_discovery_control

        return np.asarray(false_discovery_control(values, method="bh" if correction.endswith("hochberg") else "by"))
    if correction == "bonferroni":
        return np.minimum(values * len(values), 1.0)
    if correction == "sidak":
        with np.errstate(divide="ignore"):  # log1p(−1) of p = 1
            return np.asarray(-np.expm1(len(values) * np.log1p(-values)))
    if correction not in ("holm", "hochberg"):
        raise UnknownNameError("correction", correction, CORRECTIONS)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    steps = np.maximum.accumulate(steps) if correction == "holm" else np.minimum.accumulate(steps[::-1])[::-1]
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def p_text(p: float) -> str:
    """A p-value in words."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


_ROUNDS = 10_000
_TESTED = {"wilcoxon": "Wilcoxon", "tukey": "Tukey HSD", "randomised-tukey": "randomised Tukey HSD"}
_CORRECTED = {
    "holm": "Holm", "hochberg": "Hochberg", "bonferroni": "Bonferroni", "sidak": "Šidák",
    "benjamini-hochberg": "Benjamini–Hochberg", "benjamini-yekutieli": "Benjamini–Yekutieli",
}  # fmt: skip
_OF_ALL: dict[str, Callable[[Array, list[tuple[int, int]], int, int], Array]] = {
    "tukey": lambda table, pairs, rounds, seed: tukey(table, pairs),
    "randomised-tukey": lambda table, pairs, rounds, seed: randomised_tukey(table, pairs, rounds=rounds, seed=seed),
}
"""Tests of all pairs together: (table, pairs, rounds, seed) → p-values that need no correction."""


def _no_correction(test: str, correction: Correction) -> Correction:
    if correction not in ("holm", "none"):  # holm is the default
        raise ParameterError(f"{test} tests all pairs together and needs no correction; leave {correction} out.")
    return "none"


def _rounds(pairs: int, alpha: float) -> int:
    """A corrected p is at least pairs/rounds, so more pairs need more rounds to be significant at all."""
    return max(_ROUNDS, math.ceil(10 * pairs / alpha))


def _table(values: ArrayLike, names: Sequence[str]) -> Array:
    rows = [float_numbers(row, "value of a query") for row in cast(Any, values)]
    if len(rows) != len(names) or len(set(map(len, rows))) > 1:
        raise DataError(
            f"{len(names)} systems need values of shape (systems, queries); got {len(rows)} rows of "
            f"{', '.join(map(str, sorted(set(map(len, rows)))))}."
        )
    table = np.array(rows).reshape(len(rows), -1)
    if len(set(names)) != len(names):
        raise ParameterError(f"Systems need names of their own; got {', '.join(names)}.")
    return table


def _pairs(names: Sequence[str], order: list[int], baseline: str | None) -> list[tuple[int, int]]:
    """The pairs to test, the better system first; against a baseline, the baseline second."""
    if baseline is None:
        return list(itertools.combinations(order, 2))
    if baseline not in names:
        raise UnknownNameError("system", baseline, names)
    base = list(names).index(baseline)
    return [(s, base) for s in order if s != base]


def _system(metric: Metric | None, values: Array, interval: Interval) -> System:
    n, middle = len(values), float(values.mean())
    if metric is None:
        return System(middle, interval, n)
    return System(metric.reported(middle, n), reported_interval(metric, values, interval), n)


def _tested(name: str, differences: list[Array], alpha: float, seed: int) -> Array:
    """The p-value of each pair; pairs with equally many queries are randomised together."""
    rounds = _rounds(len(differences), alpha)
    if name == "randomisation":
        return np.array(_together(differences, lambda rows: randomisation_tests(rows, rounds=rounds, seed=seed)))
    if name == "bootstrap":
        return np.array([bootstrap_test(d, rounds=rounds, seed=seed) for d in differences])
    tests = {"t": t_test, "wilcoxon": wilcoxon_test, "sign": sign_test}
    if name not in tests:
        raise UnknownNameError("test", name, TESTS)
    return np.array([tests[name](d) for d in differences])


def _intervals(samples: list[Array], alpha: float, seed: int) -> list[Interval]:
    return _together(samples, lambda rows: bootstrap_intervals(rows, level=1 - alpha, seed=seed))


def _together(samples: list[Array], function: Callable[[Array], Any]) -> list[Any]:
    """The result of a function of many rows for each sample; samples of one length go into one call."""
    lengths = np.array([len(sample) for sample in samples])
    results: dict[int, Any] = {}
    for length in np.unique(lengths):
        places = np.flatnonzero(lengths == length)
        results |= zip(places.tolist(), function(np.array([samples[k] for k in places])), strict=True)
    return [results[k] for k in range(len(samples))]


def _pair(
    names: tuple[str, str], sample: tuple[Array, int], interval: Interval, *, p: tuple[float, float], alpha: float
) -> Pair:
    differences, dropped = sample
    middle, spread = float(differences.mean()), float(differences.std(ddof=1))
    return Pair(
        *names,
        difference=middle,
        interval=interval,
        p=p[0],
        adjusted=p[1],
        significant=p[1] <= alpha,
        effect=effect_size(differences),
        queries=len(differences),
        dropped=dropped,
        needed=queries_needed(middle, spread, alpha=alpha) if middle else None,
    )


def _plain_pair(pair: Pair) -> dict[str, Any]:
    effect = {**pair.effect._asdict(), "d_z": pair.effect.d_z if np.isfinite(pair.effect.d_z) else None}
    return {**asdict(pair), "interval": list(pair.interval), "effect": effect}
