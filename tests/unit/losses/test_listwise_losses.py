"""ListNet, ListMLE, PMOP-FD: numbers worked by hand, ties, and how they relate."""

import math

import numpy as np
import pytest

from podium.distributions import OrderedPartitionsFD, PlackettLuce
from podium.losses import PMOPFD, ListMLE, ListNet
from reference.losses import listmle_over_all_ties


def test_listnet_is_the_cross_entropy_of_two_softmaxes():
    p, q = math.exp(2) / (math.exp(2) + 1), math.exp(0.5) / (math.exp(0.5) + 1)
    assert ListNet()([0.5, 0.0], [2, 0]).value == pytest.approx(-p * math.log(q) - (1 - p) * math.log(1 - q))


def test_listmle_of_three_documents():
    expected = -math.log(math.exp(2) / (math.exp(2) + math.e + 1)) - math.log(math.e / (math.e + 1))
    assert ListMLE()([2.0, 1.0, 0.0], [2, 1, 0]).value == pytest.approx(expected)


def test_pmop_fd_of_two_blocks():
    expected = -math.log((math.exp(2) + 1) / (math.exp(2) + 1 + math.e))
    assert PMOPFD()([2.0, 1.0, 0.0], [1, 0, 1]).value == pytest.approx(expected)


@pytest.mark.parametrize("loss", [ListNet(), ListMLE(), PMOPFD()], ids=repr)
def test_equal_grades_contribute_nothing(loss):
    got = loss([0.3, 1.0, -2.0], [1, 1, 1])
    assert got.value == 0
    assert not got.gradient.any()


def test_many_samples_come_near_the_mean_over_all_tie_breaks():
    scores, labels = np.array([0.0, 1.5, -1.0, 0.7, 2.0, -0.4]), np.array([1, 1, 1, 0, 0, 1])
    exact = listmle_over_all_ties(scores, labels)
    errors = [abs(ListMLE(samples=n)(scores, labels).value - exact) for n in (20, 20_000)]
    assert errors[1] < 0.01
    assert errors[0] < 0.3


def test_blocks_of_up_to_three_documents_are_averaged_exactly():
    scores, labels = np.array([0.0, 1.5, -1.0, 0.7, 2.0, -0.4]), np.array([2, 1, 0, 0, 1, 0])
    exact = listmle_over_all_ties(scores, labels)
    assert ListMLE(samples=3)(scores, labels).value == pytest.approx(exact, rel=1e-12)


def test_orders_that_begin_all_around_vary_less_than_independent_ones():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=40), np.arange(40) % 2
    values = [ListMLE(samples=12, seed=seed)(scores, labels).value for seed in range(60)]
    alone = [ListMLE(samples=1, seed=seed)(scores, labels).value for seed in range(60)]
    assert np.var(values) < 0.5 * np.var(alone) / 12


def test_equal_scores_make_one_tie_break_exact():
    labels = np.array([2, 0, 0, 1, 0, 2])
    got = ListMLE(samples=1)(np.zeros(6), labels)
    assert got.value == pytest.approx(math.log(math.factorial(6)))
    assert got.gradient[labels == 0] == pytest.approx(np.full(3, got.gradient[1]))
    assert got.gradient[labels == 2] == pytest.approx(np.full(2, got.gradient[0]))


def test_seeds_break_ties_differently_and_the_same_seed_alike():
    scores, labels = np.array([0.0, 1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 1, 1, 0])
    values = [ListMLE(samples=1, seed=seed)(scores, labels).value for seed in (1, 2, 3, 1)]
    assert len(set(values)) > 1
    assert values[0] == values[3]


def test_listmle_is_continuous_where_scores_of_a_block_cross():
    labels = np.array([1, 1, 1, 0])
    left, right = (ListMLE()([0.5, 0.5 + step, 1.0, 0.0], labels).value for step in (-1e-9, 1e-9))
    assert left == pytest.approx(right, abs=1e-8)


def test_strict_orders_make_pmop_fd_and_listmle_equal():
    scores, labels = np.array([0.3, -1.0, 2.0, 0.9]), np.array([3, 0, 1, 2])
    one, other = PMOPFD()(scores, labels), ListMLE()(scores, labels)
    assert one.value == pytest.approx(other.value)
    assert one.gradient == pytest.approx(other.gradient)


def test_listmle_is_minus_the_log_probability_of_the_order():
    scores, labels = np.array([0.3, -1.0, 2.0, 0.9]), np.array([3, 0, 1, 2])
    assert ListMLE()(scores, labels).value == pytest.approx(-PlackettLuce().log_prob(scores, -labels))


def test_pmop_fd_differs_from_minus_the_log_probability_by_a_constant():
    labels = np.array([1, 0, 1, 2, 0])
    gaps = [
        PMOPFD()(s, labels).value + OrderedPartitionsFD().log_prob(s, -labels) for s in (np.zeros(5), np.arange(5.0))
    ]
    assert gaps[0] == pytest.approx(gaps[1])


def test_scores_far_apart_agree_with_those_near_in_listmle():
    labels = np.array([2, 1, 1, 0, 0])
    near = np.array([100.0, 40.0, -30.0, 150.0, -149.0])
    wide = np.append(near, 160.0)  # spread 309: summed by logarithms
    more = np.append(labels, 0)
    steps = 1e-4 * np.eye(6)
    slopes = [(ListMLE()(wide + e, more).value - ListMLE()(wide - e, more).value) / 2e-4 for e in steps]
    assert ListMLE()(wide, more).gradient == pytest.approx(slopes, abs=1e-6)
