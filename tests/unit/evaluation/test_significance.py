"""Tests keep their level, corrections keep theirs, intervals cover, and comparisons say what they are made of."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats

from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.evaluation.paired import (
    bootstrap_interval,
    bootstrap_intervals,
    bootstrap_test,
    effect_size,
    paired_differences,
    power,
    queries_needed,
    randomisation_test,
    randomisation_tests,
    t_test,
    wilcoxon_test,
)
from podium.evaluation.significance import adjust, compact_letters, compare_systems

TESTS: dict[str, Callable] = {
    "randomisation, exact": lambda d: randomisation_test(d[:8]),
    "randomisation": lambda d: randomisation_test(d, rounds=199),
    "t": t_test,
    "wilcoxon": wilcoxon_test,
}


def all_signs(d: np.ndarray) -> float:
    """The share of all signs with an absolute sum at least as large."""
    sums = [
        abs(sum(s * x for s, x in zip(signs, d, strict=True))) for signs in itertools.product([-1, 1], repeat=len(d))
    ]
    return sum(one >= abs(sum(d)) - 1e-9 for one in sums) / len(sums)


def test_few_differences_are_tested_over_all_signs() -> None:
    rng = np.random.default_rng(0)
    for n in range(2, 9):
        for d in (rng.normal(0.3, 1, n), rng.integers(-2, 4, n) / 10):  # the latter with many equal sums, and zeros
            assert randomisation_test(d) == pytest.approx(all_signs(d), abs=1e-12)


def test_many_differences_are_tested_over_random_signs_within_their_error() -> None:
    d = np.round(np.random.default_rng(1).normal(0.1, 1, 21), 3)
    rounds, exact = 20_000, np.array([d[0]])
    for x in d[1:]:
        exact = np.concatenate([exact + x, exact - x])
    p = (np.abs(exact) >= abs(d.sum()) - 1e-9).mean()
    assert 0.05 < p < 0.95
    assert randomisation_test(d, rounds=rounds) == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / rounds))


def test_the_observed_signs_count_among_the_random_ones() -> None:
    assert randomisation_test(np.ones(100), rounds=99) == 1 / 100


def test_the_same_seed_gives_the_same_p_and_another_seed_another() -> None:
    d = np.random.default_rng(2).normal(0.1, 1, 50)
    assert randomisation_test(d, seed=3) == randomisation_test(d, seed=3) != randomisation_test(d, seed=4)


def test_t_and_wilcoxon_are_those_of_scipy() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=40), rng.normal(size=40)
    assert t_test(a - b) == pytest.approx(scipy.stats.ttest_rel(a, b).pvalue, rel=1e-12)
    assert wilcoxon_test(a - b) == pytest.approx(scipy.stats.wilcoxon(a, b).pvalue, rel=1e-12)


@pytest.mark.parametrize("name", TESTS)
def test_false_alarms_are_as_frequent_as_the_level_says(name: str) -> None:
    rng = np.random.default_rng(4)
    repeats, alpha = 1500, 0.05
    alarms = np.mean([TESTS[name](rng.laplace(size=25)) <= alpha for _ in range(repeats)])
    low = 0.046 if "exact" in name else alpha  # of 128 sums, 6 are at most 5 %
    assert low - 4 * math.sqrt(alpha / repeats) < alarms < alpha + 4 * math.sqrt(alpha / repeats)


@pytest.mark.parametrize("test", [randomisation_test, t_test, wilcoxon_test])
def test_identical_systems_have_p_one(test: Callable) -> None:
    assert test(np.zeros(30)) == 1.0


def test_constant_differences_are_as_sure_as_their_signs() -> None:
    d = np.full(6, 0.1)
    assert t_test(d) == bootstrap_test(d) == randomisation_test(d) == wilcoxon_test(d) == 2 / 2**6
    assert t_test(np.full(2, 0.1)) == 0.5
    assert bootstrap_interval(d) == (0.1, 0.1)
    assert effect_size(d).d_z == math.inf
    assert effect_size(-d).d_z == -math.inf


def test_queries_that_one_system_skips_are_dropped_and_counted() -> None:
    d, dropped = paired_differences([1, 2, np.nan, 4], [0, np.nan, 1, 1])
    assert (d.tolist(), dropped) == ([1.0, 3.0], 2)


def test_what_only_rounding_separates_is_a_tie() -> None:
    d, _ = paired_differences([0.1 + 0.2, 0.5, 0.7], [0.3, 0.4, 0.9])
    assert effect_size(d)[2:] == (1, 1, 1)


def test_fewer_than_two_queries_are_refused() -> None:
    with pytest.raises(DataError, match="new and old: 1 query counts; at least 2"):
        paired_differences([1.0, np.nan], [0.0, 1.0], names=("new", "old"))
    for function in (randomisation_test, t_test, wilcoxon_test, bootstrap_interval, effect_size):
        with pytest.raises(DataError, match="at least 2"):
            function([0.5])
        with pytest.raises(
            DataError, match="a flat list of finite numbers, one per query; drop queries that are skipped"
        ):
            function([0.5, np.nan, 1.0])


def test_intervals_cover_the_mean_as_often_as_they_say() -> None:
    rng, covered, repeats = np.random.default_rng(5), 0, 200
    for _ in range(repeats):
        low, high = bootstrap_interval(rng.exponential(size=50), rounds=400, level=0.9)
        covered += low <= 1 <= high
    assert 0.9 - 4 * math.sqrt(0.09 / repeats) < covered / repeats < 0.9 + 3 * math.sqrt(0.09 / repeats)


def test_intervals_narrow_with_their_level() -> None:
    x = np.random.default_rng(6).normal(size=60)
    wide, narrow = (bootstrap_interval(x, rounds=2000, level=level) for level in (0.99, 0.5))
    assert wide.low < narrow.low < x.mean() < narrow.high < wide.high
    with pytest.raises(ParameterError, match="between 0 and 1"):
        bootstrap_interval(x, level=95)


def test_effect_sizes_follow_their_formulas() -> None:
    found = effect_size([3.0, -1.0, 0.0, 2.0])
    assert found.d_z == pytest.approx(1.0 / np.std([3, -1, 0, 2], ddof=1))
    assert found.rank_biserial == pytest.approx((3 + 2 - 1) / (3 + 2 + 1))  # ranks of 3, 2 and 1
    tied = effect_size([2.0, -1.0, 1.0, 1.0]).rank_biserial
    assert tied == pytest.approx((4 + 2 + 2 - 2) / (4 + 2 + 2 + 2))  # equals share the mean of ranks 1 to 3
    assert (found.wins, found.ties, found.losses) == (2, 1, 1)
    assert effect_size([0.0, 0.0])[:2] == (0.0, 0.0)


@pytest.mark.parametrize(("d", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])  # the usual tables for a paired t test
def test_queries_needed_are_those_of_the_tables(d: float, n: int) -> None:
    assert queries_needed(d * 0.3, 0.3) == n
    assert power(n, d, 1.0) >= 0.8 > power(n - 1, d, 1.0)


def test_power_is_the_share_of_experiments_that_find_the_difference() -> None:
    rng, repeats = np.random.default_rng(7), 1500
    found = np.mean([t_test(rng.normal(0.5, 1, 34)) <= 0.05 for _ in range(repeats)])
    assert found == pytest.approx(power(34, 0.5, 1.0), abs=4 * math.sqrt(0.16 / repeats))


def test_needs_that_have_no_answer_are_refused() -> None:
    assert queries_needed(0.1, 0.0) == 2
    with pytest.raises(ParameterError, match="other than 0"):
        queries_needed(0.0, 1.0)
    with pytest.raises(ParameterError, match=r"expected 0 < alpha < wanted < 1; got alpha=0\.9, wanted=0\.8"):
        queries_needed(0.1, 1.0, alpha=0.9)


def test_corrections_follow_their_definitions() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    np.testing.assert_allclose(adjust(p, "holm"), [3 * 0.01, 2 * 0.03, 2 * 0.03, 4 * 0.005])
    np.testing.assert_allclose(adjust(p, "benjamini-hochberg"), [4 / 2 * 0.01, 0.04, 4 / 3 * 0.03, 4 / 2 * 0.01])
    np.testing.assert_array_equal(adjust(p, "none"), p)
    assert adjust([0.9, 0.8], "holm").max() == 1.0
    assert len(adjust([], "holm")) == 0
    with pytest.raises(UnknownNameError, match="'holm'"):
        adjust(p, "holms")  # type: ignore[arg-type]


def test_holm_keeps_the_chance_of_any_false_alarm_and_bh_the_share_of_false_alarms() -> None:
    rng, repeats, alpha = np.random.default_rng(8), 1500, 0.05
    any_false, share, single = [], [], []
    for _ in range(repeats):
        p = rng.uniform(size=20)
        p[:8] **= 8  # eight true differences
        any_false.append((adjust(p, "holm")[8:] <= alpha).any())
        found = adjust(p, "benjamini-hochberg") <= alpha
        share.append(found[8:].sum() / max(found.sum(), 1))
        single.append((p[8:] <= alpha).any())
    assert np.mean(any_false) < alpha + 4 * math.sqrt(alpha / repeats)
    assert np.mean(share) < alpha + 4 * np.std(share) / math.sqrt(repeats)
    assert np.mean(share) > 0.4 * alpha
    assert np.mean(single) > 0.4  # without a correction


def test_letters_of_some_small_cases() -> None:
    assert compact_letters(["x", "y", "z"], set()) == {"x": "a", "y": "a", "z": "a"}
    assert compact_letters(["x", "y", "z"], {("x", "z")}) == {"x": "a", "y": "ab", "z": "b"}
    assert compact_letters(["x", "y"], {("y", "x")}) == {"x": "a", "y": "b"}


def test_two_systems_share_a_letter_exactly_if_they_are_not_apart() -> None:
    rng = np.random.default_rng(9)
    for _ in range(100):
        names = [f"s{k}" for k in range(rng.integers(2, 9))]
        apart = {pair for pair in itertools.combinations(names, 2) if rng.random() < 0.5}
        letters = compact_letters(names, apart)
        for pair in itertools.combinations(names, 2):
            assert bool(set(letters[pair[0]]) & set(letters[pair[1]])) == (pair not in apart)
        columns = [{name for name in names if letter in letters[name]} for letter in set("".join(letters.values()))]
        assert not any(one < other for one in columns for other in columns)


def systems() -> np.ndarray:
    rng = np.random.default_rng(10)
    base = rng.uniform(0.2, 0.6, 80)
    values = np.array([base, base + rng.normal(0.1, 0.1, 80), base + rng.normal(0, 0.1, 80), base])
    values[2, 5] = np.nan
    return values


def test_a_comparison_ranks_tests_and_letters_systems() -> None:
    values = systems()
    found = compare_systems(values, ["old", "new", "other", "copy"])
    assert next(iter(found.systems)) == "new"
    assert len(found.pairs) == 6
    first = next(pair for pair in found.pairs if {pair.a, pair.b} == {"new", "old"})
    assert first.difference == pytest.approx((values[1] - values[0]).mean())
    assert first.interval.low < first.difference < first.interval.high
    assert first.significant
    assert first.needed == queries_needed(first.difference, (values[1] - values[0]).std(ddof=1))
    same = next(pair for pair in found.pairs if {pair.a, pair.b} == {"old", "copy"})
    assert (same.p, same.adjusted, same.difference, same.needed, same.effect.ties) == (1.0, 1.0, 0.0, None, 80)
    assert [pair.dropped for pair in found.pairs if "other" in (pair.a, pair.b)] == [1, 1, 1]
    assert found.letters is not None
    assert not set(found.letters["new"]) & set(found.letters["old"])
    assert found.letters["old"] == found.letters["copy"]


def test_the_order_of_systems_does_not_matter() -> None:
    values, names = systems(), ["old", "new", "other", "copy"]
    there, back = compare_systems(values, names), compare_systems(values[::-1], names[::-1])
    assert there.letters == back.letters
    p = [{frozenset((pair.a, pair.b)): pair.adjusted for pair in found.pairs} for found in (there, back)]
    assert p[0] == p[1]


@pytest.mark.parametrize("test", ["randomisation", "t", "wilcoxon"])
def test_with_a_baseline_only_pairs_with_it_are_tested(test: str) -> None:
    found = compare_systems(systems(), ["old", "new", "other", "copy"], baseline="old", test=test)
    assert [pair.b for pair in found.pairs] == ["old"] * 3
    assert found.letters is None
    assert [pair.a for pair in found.pairs if pair.significant] == ["new"]


def test_a_comparison_is_plain_json() -> None:
    found = compare_systems([[0.1] * 6, [0.2] * 6], ["a", "b"], correction="none", test="t")
    made = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert made["pairs"][0]["effect"]["d_z"] is None  # infinite
    assert (made["letters"], made["correction"], made["seed"]) == ({"b": "a", "a": "b"}, "none", 0)


def test_wrong_arguments_are_refused_in_words() -> None:
    values = np.zeros((2, 5))
    with pytest.raises(DataError, match="3 systems need values of shape"):
        compare_systems(values, ["a", "b", "c"])
    with pytest.raises(ParameterError, match="names of their own"):
        compare_systems(values, ["a", "a"])
    with pytest.raises(UnknownNameError, match="No system 'c'"):
        compare_systems(values, ["a", "b"], baseline="c")
    with pytest.raises(UnknownNameError, match="'wilcoxon'"):
        compare_systems(values, ["a", "b"], test="wilcoxn")


def test_intervals_of_many_queries_agree_with_the_bootstrap_of_fewer():
    x = np.random.default_rng(0).beta(2, 3, 2001)
    many, fewer = bootstrap_interval(x), bootstrap_interval(x[:2000])
    assert many.low == pytest.approx(fewer.low, abs=5e-4)
    assert many.high == pytest.approx(fewer.high, abs=5e-4)


def test_many_pairs_at_once_are_each_alone() -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(0.1, 1.0, (600, 30))
    rows[0], rows[1, :15], rows[2, :29] = 0.0, 0.0, 0.0
    tests, intervals = randomisation_tests(rows, rounds=700), bootstrap_intervals(rows, rounds=700)
    for k in (0, 1, 2, 3, 599):
        assert tests[k] == randomisation_test(rows[k], rounds=700)
        assert intervals[k] == pytest.approx(bootstrap_interval(rows[k], rounds=700), abs=1e-12)


def test_intervals_are_scipys_stretched_to_students_t() -> None:
    x = np.random.default_rng(6).exponential(size=40)
    rounds = 40_000
    theirs = scipy.stats.bootstrap((x,), np.mean, n_resamples=rounds, method="BCa", rng=np.random.default_rng(1))
    ours = bootstrap_interval(x, rounds=rounds)
    chance = 5 * x.std() / math.sqrt(40) / math.sqrt(rounds * 0.025)
    stretch = scipy.stats.t.ppf(0.975, 39) / scipy.stats.norm.ppf(0.975) * math.sqrt(40 / 39)
    expected = [x.mean() + stretch * (end - x.mean()) for end in theirs.confidence_interval]
    assert ours == pytest.approx(tuple(expected), abs=chance)


@pytest.mark.parametrize(("n", "least"), [(5, 0.87), (10, 0.92)])
def test_intervals_of_few_queries_hold(n: int, least: float) -> None:
    """400 samples of normal differences: BCa alone held in 81 % (5 queries) and 90 % (10)."""
    rows = np.random.default_rng(n).normal(size=(400, n))
    held = np.mean([low <= 0.0 <= high for low, high in bootstrap_intervals(rows, rounds=1000)])
    assert held >= least


@pytest.mark.parametrize(("alpha", "wanted"), [(0.05, 0.8), (0.2, 0.25), (0.001, 0.99)])
@pytest.mark.parametrize("difference", [1e-4, 0.03, 0.4, 5.0])
def test_one_query_less_would_not_be_enough(difference: float, alpha: float, wanted: float) -> None:
    n = queries_needed(difference, 0.3, alpha=alpha, wanted=wanted)
    assert power(n, difference, 0.3, alpha=alpha) >= wanted
    assert n == 2 or power(n - 1, difference, 0.3, alpha=alpha) < wanted


@pytest.mark.slow
def test_among_many_systems_a_clear_difference_is_still_seen() -> None:
    rng = np.random.default_rng(7)
    base = rng.uniform(0.3, 0.7, 60)
    values = [base + rng.normal(0, 0.05, 60) for _ in range(40)] + [base - 0.3 + rng.normal(0, 0.05, 60)]
    found = compare_systems(values, [*(f"system {k}" for k in range(40)), "bad"])
    assert found.letters is not None
    assert all(not set(letters) & set(found.letters["bad"]) for name, letters in found.letters.items() if name != "bad")
