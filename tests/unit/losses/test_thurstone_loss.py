"""Thurstone's loss: pairs, two grades against the distribution itself, and scores far apart."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import log_ndtr

from podium import distributions
from podium.losses import Thurstone


@pytest.mark.parametrize("gap", [-300.0, -3.0, 0.0, 0.5, 4.0])
def test_a_pair_is_thurstone_mostellers(gap):
    """P(S_1 > S_2) = Φ((s_1 − s_2)/(√2σ)), in tails too."""
    found = Thurstone(sigma=1.5)([gap, 0.0], [1, 0])
    assert found.value == pytest.approx(-float(log_ndtr(gap / (1.5 * math.sqrt(2)))), rel=1e-9)


def test_two_grades_have_the_probability_of_all_orders_that_agree():
    scores, labels = np.array([0.3, -0.4, 1.1, 0.2, 0.9]), np.array([1, 0, 1, 0, 0])
    ways = itertools.product(itertools.permutations([1, 2]), itertools.permutations([3, 4, 5]))
    total = 0.0
    for top, rest in ways:
        ranks = np.empty(5)
        ranks[labels == 1], ranks[labels == 0] = top, rest
        total += math.exp(distributions.Thurstone().log_prob(scores, ranks))
    assert Thurstone()(scores, labels).value == pytest.approx(-math.log(total), rel=1e-9)


def test_every_cut_between_grades_has_its_probability_under_one_draw_of_noise():
    scores, labels = np.array([0.8, 0.5, 0.0, -0.3]), np.array([2, 1, 1, 0])
    cuts = [Thurstone()(scores, labels >= grade).value for grade in (1, 2)]
    assert Thurstone()(scores, labels).value == pytest.approx(sum(cuts), rel=1e-12)


def test_the_loss_is_convex():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 9)
    for scale in (1.0, 20.0):
        a, b = scale * rng.normal(size=(2, 9))
        ends = [Thurstone()(s, labels).value for s in (a, b)]
        assert Thurstone()((a + b) / 2, labels).value <= np.mean(ends)


def test_its_scores_have_odds():
    assert Thurstone(sigma=2.0).rank_distribution() == (distributions.Thurstone(sigma=2.0), 1.0)
