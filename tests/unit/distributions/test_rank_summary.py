import itertools

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError
from podium.distributions import Boltzmann, Davidson, Mallows, OrderedPartitionsFD, Thurstone
from podium.distributions.plackett_luce import PlackettLuce, closed_up, race_marginals
from podium.distributions.race_moments import race_cdf, race_summary
from podium.distributions.rank_summary import of_draws, of_marginals

PL = PlackettLuce()


def by_enumeration(scores, labels):
    """log Σ P(π) over the orders π in which no document stands before one of a better grade."""
    found = []
    for order in itertools.permutations(range(len(scores))):
        if all(labels[a] >= labels[b] for a, b in itertools.pairwise(order)):
            found.append(PL.log_prob(scores, np.argsort(order)))
    return np.logaddexp.reduce(found)


@pytest.mark.parametrize("scale", [0.01, 1.0, 10.0, 300.0])
@pytest.mark.parametrize("labels", [[2, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 0], [5, 4, 3, 2, 1, 0]])
def test_the_probability_of_grades_is_the_sum_over_orders_that_agree_with_them(labels, scale):
    scores = scale * np.random.default_rng(3).normal(size=6)
    assert PL.log_prob_of_grades(scores, labels) == pytest.approx(by_enumeration(scores, labels), rel=1e-8, abs=1e-8)


def test_equal_grades_are_certain_and_shapes_must_fit():
    assert PL.log_prob_of_grades([1.0, 2.0], [3, 3]) == 0.0
    assert PL.log_prob_of_grades([], []) == 0.0
    with pytest.raises(DataError, match=r"labels of shape \(1,\) for scores of shape \(2,\)"):
        PL.log_prob_of_grades([1.0, 2.0], [3])


def test_a_large_grade_comes_first_with_the_probability_of_equal_scores():
    assert PL.log_prob_of_grades(np.zeros(1000), np.repeat([1.0, 0.0], 500)) == pytest.approx(
        -sum(np.log((500 + k) / k) for k in range(1, 501)), rel=1e-8
    )


def test_an_interval_is_cut_where_the_tails_weigh_half_of_the_rest():
    marginals = np.array([[0.04, 0.06, 0.8, 0.06, 0.04], [1.0, 0.0, 0.0, 0.0, 0.0], *np.full((3, 5), 0.2)])
    found = of_marginals(marginals, 0.9)
    np.testing.assert_array_equal(found.low, [2, 1, 1, 1, 1])
    np.testing.assert_array_equal(found.high, [4, 1, 5, 5, 5])
    np.testing.assert_allclose(found.expected, [3, 1, 3, 3, 3])
    np.testing.assert_allclose(found.first, [0.04, 1, 0.2, 0.2, 0.2])


def test_draws_are_summed_up_like_their_frequencies():
    drawn = PL.sample(np.arange(6.0) / 2, np.random.default_rng(0), 500)
    marginals = np.stack([np.bincount(column - 1, minlength=6) for column in drawn.T]) / 500
    one, other = of_draws(drawn, 0.8), of_marginals(marginals, 0.8)
    for key in ("first", "expected", "low", "high"):
        np.testing.assert_allclose(getattr(one, key), getattr(other, key), rtol=1e-12)


@pytest.mark.parametrize("level", [0.0, 1.0, np.nan])
def test_a_level_lies_between_0_and_1(level):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        PL.summary([1.0, 2.0], level=level)


@pytest.mark.parametrize("scale", [0.1, 1.5, 10.0, 300.0])
def test_moments_give_the_intervals_of_the_exact_distribution_but_for_a_rank(scale):
    s = closed_up(scale * np.random.default_rng(0).standard_normal(400))
    exact, fast = of_marginals(race_marginals(s), 0.9), race_summary(s, 0.9)
    for key in ("low", "high"):
        apart = np.abs(getattr(exact, key) - getattr(fast, key))
        assert apart.max() <= 1
        assert apart.mean() < 0.1
    np.testing.assert_allclose(fast.expected, exact.expected, rtol=1e-5)
    np.testing.assert_allclose(fast.first, exact.first, atol=1e-12)


@pytest.mark.parametrize("distribution", [PL, OrderedPartitionsFD(), Thurstone()], ids=repr)
def test_the_chance_of_a_rank_or_better_adds_up_marginals(distribution):
    s, ranks = np.array([0.5, -1.0, 2.0]), np.array([[0, 1, 3], [-1, 2, 4], [1, 2, 3]])
    marginals = np.column_stack([np.zeros(3), np.cumsum(distribution.rank_marginals(s), axis=1)])
    found = distribution.rank_cdf(s, ranks)
    np.testing.assert_allclose(found, np.take_along_axis(marginals, ranks.clip(0, 3), axis=1), atol=0.05)
    assert found[0, 0] == found[1, 0] == 0.0
    assert found[1, 2] == pytest.approx(1.0)


def test_the_chance_of_a_rank_or_better_by_moments_is_that_of_the_exact_distribution():
    s = np.random.default_rng(0).standard_normal(400)
    ranks = np.random.default_rng(1).integers(0, 401, (400, 3))
    exact = np.column_stack([np.zeros(400), np.cumsum(race_marginals(s), axis=1)])
    np.testing.assert_allclose(race_cdf(s, ranks), np.take_along_axis(exact, ranks, axis=1), atol=2e-3)


def test_ten_thousand_documents_have_odds_without_a_matrix():
    s = np.zeros(10_000)
    s[0] = np.log(10_000)
    found = PL.summary(s)
    assert found.first[0] == pytest.approx(10_000 / 19_999)
    assert found.expected[1] == pytest.approx(1 + 9_998 / 2 + 10_000 / 10_001, rel=1e-6)
    assert (found.low[1], found.high[1]) == pytest.approx((501, 9501), abs=2)


def test_wide_gaps_are_narrowed_without_a_change_of_odds():
    near, far = np.array([0.0, 3.0, 50.0, 52.0]), np.array([0.0, 3.0, 1e9, 1e9 + 2])
    np.testing.assert_allclose(race_marginals(far), race_marginals(near), atol=1e-12)
    np.testing.assert_array_equal(closed_up(near[:2]), near[:2])


@pytest.mark.parametrize(
    ("distribution", "n"),
    [(OrderedPartitionsFD(), 160), (Davidson(), 20), (Boltzmann(), 40), (Thurstone(), 310), (Mallows(), 410)],
    ids=lambda given: str(given),
)
def test_longer_lists_are_drawn_the_same_every_time(distribution, n):
    s = np.random.default_rng(0).normal(size=n)
    one, other = distribution.summary(s), distribution.summary(s)
    np.testing.assert_array_equal(one.first, other.first)
    np.testing.assert_array_equal(one.low, other.low)
    assert (one.low <= one.expected).all()
    assert (one.expected <= one.high).all()


def test_a_distribution_that_is_slow_to_draw_from_raises_a_clear_error_for_long_lists():
    with pytest.raises(DataError, match=r"davidson: rankings of 1001 documents take long to draw.*odds without ties"):
        Davidson().summary(np.zeros(1001))
