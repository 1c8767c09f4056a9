"""Mallows' loss: the mean over centres by enumeration, the limit of far scores, and θ."""

import itertools
import math

import numpy as np
import pytest

from podium import distributions
from podium.losses import Mallows

SCORES, LABELS = np.array([0.3, -0.4, 1.1, 0.2]), np.array([1, 0, 0, 2])


def minus_log_grades(theta, centre):
    """−log of the probability that grades come in order, around a centre given by scores; orders within one open."""
    distribution, total = distributions.Mallows(theta=theta), 0.0
    for ranks in itertools.permutations(range(1, 5)):
        if all(ranks[i] < ranks[j] for i, j in itertools.permutations(range(4), 2) if LABELS[i] > LABELS[j]):
            total += math.exp(distribution.log_prob(centre, ranks))
    return -math.log(total)


@pytest.mark.parametrize("log_theta", [-1.0, 0.0, 0.7])
def test_it_is_the_mean_over_centres_drawn_from_plackett_luce(log_theta):
    total = 0.0
    for ranks in itertools.permutations(range(1, 5)):
        chance = math.exp(distributions.PlackettLuce().log_prob(SCORES, ranks))
        total += chance * minus_log_grades(math.exp(log_theta), -np.array(ranks))
    assert Mallows(log_theta=log_theta)(SCORES, LABELS).value == pytest.approx(total, rel=1e-10)


def test_scores_far_apart_give_mallows_likelihood_itself():
    assert Mallows()(1000 * SCORES, LABELS).value == pytest.approx(minus_log_grades(1.0, SCORES), rel=1e-10)


def test_the_mean_over_many_pairs_is_the_sum_over_their_number():
    pairs = 5
    one, other = Mallows(normalise=True)(SCORES, LABELS), Mallows()(SCORES, LABELS)
    assert one.value == pytest.approx(other.value / pairs)
    assert one.params[0] == pytest.approx(other.params[0] / pairs)


def test_its_scores_have_odds():
    assert Mallows(log_theta=0.0).rank_distribution() == (distributions.Mallows(theta=1.0), 1.0)
