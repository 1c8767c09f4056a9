"""PMOP with its exact normaliser: against enumeration, against the O(N³) recursion, and what the model is like."""

import itertools
import math

import numpy as np
import pytest

from podium.distributions import OrderedPartitions, RankingDistribution
from podium.kernels.subset_sums import log_sizes, log_sum
from podium.losses import PMOPExact
from podium.testing import all_rankings
from reference.losses import log_subsets, log_subsets_by_recursion

LOSS = PMOPExact()
DISTRIBUTION = OrderedPartitions()


def moments(s):
    """log Z, E[a] and E[a²] by the product."""
    first, second = np.empty(len(s)), np.empty(len(s))
    return log_sum(s, first, second), first, second


@pytest.mark.parametrize("n", [1, 2, 3, 7, 11])
@pytest.mark.parametrize("scale", [0.0, 0.1, 1.0, 30.0, 1000.0])
def test_the_normaliser_is_the_sum_over_all_subsets(n, scale):
    s = scale * np.random.default_rng(n).normal(size=n)
    expected = log_subsets(s)
    assert moments(s)[0] == pytest.approx(expected, abs=1e-12 * max(1.0, abs(expected)))


@pytest.mark.parametrize("n", [40, 150, 400])
@pytest.mark.parametrize("scale", [0.3, 5.0, 60.0, 1000.0])
def test_the_normaliser_is_that_of_the_recursion_for_long_lists(n, scale):
    s = scale * np.random.default_rng(n).normal(size=n)
    assert moments(s)[0] == pytest.approx(log_subsets_by_recursion(s), rel=1e-12, abs=1e-9)


def test_the_recursion_is_the_sum_over_all_subsets():
    s = np.random.default_rng(0).normal(size=9)
    assert log_subsets_by_recursion(s) == pytest.approx(log_subsets(s), abs=1e-12)


def test_outliers_and_groups_are_no_harder():
    s = np.concatenate([np.full(30, 5.0), np.zeros(60), [400.0, -700.0]])
    assert moments(s)[0] == pytest.approx(log_subsets_by_recursion(s), rel=1e-12)


@pytest.mark.parametrize("scale", [0.5, 8.0, 200.0])
def test_moments_are_those_of_all_subsets(scale):
    s = scale * np.random.default_rng(4).normal(size=8)
    subsets = [list(c) for m in range(1, 9) for c in itertools.combinations(range(8), m)]
    weights = np.exp([s[c].mean() - log_subsets(s) for c in subsets])
    shares = np.zeros((len(subsets), 8))
    for row, chosen in zip(shares, subsets, strict=True):
        row[chosen] = 1 / len(chosen)
    _, first, second = moments(s)
    assert first == pytest.approx(weights @ shares, abs=1e-12)
    assert second == pytest.approx(weights @ shares**2, abs=1e-12)


def test_the_gradient_of_long_lists_passes_finite_differences():
    rng = np.random.default_rng(1)
    s, y, direction = 2 * rng.normal(size=120), rng.integers(0, 3, 120), rng.normal(size=120)
    slope = (LOSS(s + 1e-4 * direction, y).value - LOSS(s - 1e-4 * direction, y).value) / 2e-4
    assert LOSS(s, y).gradient @ direction == pytest.approx(slope, rel=1e-7)


def test_probabilities_of_all_541_partitions_sum_to_one():
    s = np.array([0.3, -2.0, 1.1, 0.0, 4.0])
    ways = all_rankings(5, ties=True)
    assert len(ways) == 541
    for distribution in (DISTRIBUTION, OrderedPartitions(backward=True)):
        assert sum(math.exp(distribution.log_prob(s, way)) for way in ways) == pytest.approx(1, abs=1e-12)


def test_the_loss_is_minus_the_log_probability():
    s, y = np.array([0.3, -2.0, 1.1, 0.0, 4.0]), np.array([1, 0, 1, 2, 2])
    for loss in (LOSS, PMOPExact(backward=True)):
        distribution, _ = loss.rank_distribution()
        assert loss(s, y).value == pytest.approx(-distribution.log_prob(s, -y), abs=1e-12)


def test_choosing_and_eliminating_are_different_distributions():
    s = np.array([2.0, 0.0, -1.0])
    assert DISTRIBUTION.log_prob(s, [1, 2, 2]) != pytest.approx(
        OrderedPartitions(backward=True).log_prob(s, [1, 2, 2]), abs=0.01
    )


def test_two_documents_are_davidsons_model():
    a, b = math.exp(0.7), 1.0
    z = a + b + math.sqrt(a * b)
    assert math.exp(DISTRIBUTION.log_prob([0.7, 0.0], [1, 2])) == pytest.approx(a / z)
    assert math.exp(DISTRIBUTION.log_prob([0.7, 0.0], [1, 1])) == pytest.approx(math.sqrt(a * b) / z)


def test_blocks_are_half_of_the_documents_whatever_the_scores():
    s = np.random.default_rng(0).normal(size=150)
    sizes = np.empty(151)
    log_sizes(s, sizes, np.empty(150), np.empty(150))
    chance = np.exp(sizes[1:] - np.logaddexp.reduce(sizes[1:]))
    mean = chance @ np.arange(1, 151)
    assert mean == pytest.approx(75, abs=1)
    assert math.sqrt(chance @ (np.arange(1, 151) - mean) ** 2) == pytest.approx(6, abs=0.5)


@pytest.mark.parametrize("backward", [False, True])
def test_sampled_marginals_come_near_the_exact_ones(backward):
    distribution, s = OrderedPartitions(backward=backward), np.random.default_rng(2).normal(size=9)
    rng = np.random.default_rng(3)
    for exact, drawn in (
        (distribution.rank_marginals(s), RankingDistribution.rank_marginals(distribution, s, rng=rng, samples=4000)),
        (distribution.prefers(s), RankingDistribution.prefers(distribution, s, rng=rng, samples=4000)),
    ):
        assert (np.abs(drawn - exact) <= 5 * np.sqrt(exact * (1 - exact) / 4000) + 1e-3).all()


@pytest.mark.parametrize("scale", [0.5, 3.0, 12.0])
def test_the_mode_of_six_documents_is_the_best_of_all(scale):
    s = scale * np.random.default_rng(6).normal(size=6)
    best = max(DISTRIBUTION.log_prob(s, way) for way in all_rankings(6, ties=True))
    assert DISTRIBUTION.log_prob(s, DISTRIBUTION.mode(s)) == pytest.approx(best, abs=1e-10)


def test_no_documents_have_one_empty_ranking():
    assert DISTRIBUTION.log_prob([], []) == 0
    assert DISTRIBUTION.sample([], np.random.default_rng(0), 3).shape == (3, 0)
    assert DISTRIBUTION.mode([]).shape == (0,)
    assert DISTRIBUTION.rank_marginals([]).shape == DISTRIBUTION.prefers([]).shape == (0, 0)
