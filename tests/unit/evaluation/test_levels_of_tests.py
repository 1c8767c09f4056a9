"""Tests and corrections hold their level if no system differs, on values that share the difficulty of queries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest, friedmanchisquare, ttest_rel

from podium.base.errors import DataError, ParameterError
from podium.evaluation.families.tukey import randomised_tukey, tukey
from podium.evaluation.paired import bootstrap_test, sign_test, t_test
from podium.evaluation.significance import CORRECTIONS, adjust, compare_systems

ALL = [(i, j) for i in range(4) for j in range(i)]


def equal_systems(rng: np.random.Generator, systems: int, queries: int = 30) -> np.ndarray:
    """Values of systems that do not differ: half of the spread is that of the queries."""
    return rng.uniform(0.2, 0.8, queries) + rng.normal(0.0, 0.1, (systems, queries))


def three_errors(rounds: int) -> float:
    """Three standard errors of a share that is 0.05."""
    return 3 * math.sqrt(0.05 * 0.95 / rounds)


@pytest.mark.parametrize("test", [t_test, lambda d: bootstrap_test(d, rounds=300)], ids=["t", "bootstrap"])
def test_a_pair_of_equal_systems_seems_to_differ_one_time_in_twenty(test) -> None:
    rng = np.random.default_rng(1)
    seen = [test(np.subtract(*equal_systems(rng, 2))) <= 0.05 for _ in range(600)]
    assert np.mean(seen) == pytest.approx(0.05, abs=three_errors(600))


def test_the_sign_test_never_exceeds_its_level() -> None:
    rng = np.random.default_rng(2)
    seen = [sign_test(np.subtract(*equal_systems(rng, 2))) <= 0.05 for _ in range(600)]
    exact = 2 * sum(math.comb(30, k) for k in range(10)) / 2**30  # at most 9 wins or losses of 30
    assert np.mean(seen) == pytest.approx(exact, abs=three_errors(600))


@pytest.mark.parametrize(
    "family", [tukey, lambda table, pairs: randomised_tukey(table, pairs, rounds=200)], ids=["tukey", "randomised"]
)
def test_any_pair_of_four_equal_systems_seems_to_differ_one_time_in_twenty(family) -> None:
    rng = np.random.default_rng(3)
    seen = []
    for _ in range(200):
        table = equal_systems(rng, 4)
        means = table.mean(axis=1)
        seen.append(family(table, [(int(means.argmax()), int(means.argmin()))])[0] <= 0.05)
    assert np.mean(seen) == pytest.approx(0.05, abs=three_errors(200))


@pytest.fixture(scope="module")
def families() -> list[np.ndarray]:
    """p-values of the six pairs of four equal systems, many times."""
    rng = np.random.default_rng(4)
    tables = [equal_systems(rng, 4) for _ in range(400)]
    return [ttest_rel([t[i] for i, _ in ALL], [t[j] for _, j in ALL], axis=1).pvalue for t in tables]


@pytest.mark.parametrize("correction", [word for word in CORRECTIONS if word != "none"])
def test_a_correction_holds_the_level_of_the_family(correction, families) -> None:
    assert np.mean([adjust(ps, correction).min() <= 0.05 for ps in families]) <= 0.05 + three_errors(400)
    assert np.mean([ps.min() <= 0.05 for ps in families]) > 0.1


def test_pairing_matters_to_tukey() -> None:
    rng = np.random.default_rng(5)
    base = rng.uniform(0.0, 1.0, 40)  # queries differ much, systems little but always
    table = base + rng.normal(0.0, 0.02, (3, 40)) + np.array([[0.0], [0.0], [0.05]])
    assert tukey(table, [(2, 0), (2, 1)]).max() < 1e-6
    assert randomised_tukey(table, [(2, 0)], rounds=200)[0] == pytest.approx(1 / 201)
    assert tukey(table, [(1, 0)])[0] > 0.05
    assert friedmanchisquare(*table).pvalue < 1e-6


def test_tukey_of_two_systems_is_the_paired_t_test() -> None:
    table = equal_systems(np.random.default_rng(6), 2, 12)
    assert tukey(table, [(0, 1)])[0] == pytest.approx(t_test(table[0] - table[1]), abs=1e-6)


def test_the_sign_test_is_binomial_and_leaves_out_ties() -> None:
    assert sign_test([1.0, 2.0, 0.0, 3.0, -1.0, 4.0]) == pytest.approx(binomtest(4, 5).pvalue)
    assert sign_test([0.0, 0.0]) == 1.0


def test_the_bootstrap_test_agrees_with_t_on_normal_values() -> None:
    d = np.random.default_rng(7).normal(0.03, 0.1, 60)
    assert bootstrap_test(d) == pytest.approx(t_test(d), abs=0.02)
    assert bootstrap_test([0.0, 0.0, 0.0]) == 1.0
    assert bootstrap_test([0.1, 0.1, 0.1]) == 0.25  # as three fair coins agree


def test_corrected_values_of_a_worked_example() -> None:
    p = [0.01, 0.02, 0.03, 0.04]
    assert adjust(p, "hochberg") == pytest.approx([0.04] * 4)
    assert adjust(p, "holm") == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert adjust(p, "sidak") == pytest.approx([1 - (1 - x) ** 4 for x in p])
    assert adjust(p, "benjamini-yekutieli") == pytest.approx([0.04 * (1 + 1 / 2 + 1 / 3 + 1 / 4)] * 4)
    assert adjust([0.0, 1.0], "sidak").tolist() == [0.0, 1.0]


def test_systems_are_compared_by_tests_of_all_pairs() -> None:
    table = equal_systems(np.random.default_rng(8), 3) + np.array([[0.0], [0.0], [0.2]])
    for test in ("tukey", "randomised-tukey"):
        comparison = compare_systems(table, ["a", "b", "c"], test=test)
        assert [pair.significant for pair in comparison.pairs if "c" in (pair.a, pair.b)] == [True, True]
        assert comparison.how.endswith("Tukey HSD test of all pairs together, α = 0.05")
    with pytest.raises(ParameterError, match="needs no correction"):
        compare_systems(table, ["a", "b", "c"], test="tukey", correction="sidak")
    table[0, 1:] = np.nan
    with pytest.raises(DataError, match="at least 2"):
        tukey(table, [(0, 1)])
