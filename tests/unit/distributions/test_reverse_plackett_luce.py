"""Reverse Plackett–Luce: the last rank by softmax, leaders that may fall, and long lists by moments."""

import itertools

import numpy as np
import pytest
from scipy.special import softmax

from podium.distributions import PlackettLuce, ReversePlackettLuce
from podium.distributions.reverse_plackett_luce import _chance_of_first

PL, REVERSE = PlackettLuce(), ReversePlackettLuce()


def test_the_last_rank_goes_by_softmax():
    scores = np.random.default_rng(0).normal(size=40)
    assert REVERSE.rank_marginals(scores)[:, -1] == pytest.approx(softmax(-scores), abs=1e-10)


def test_a_clear_leader_falls_more_often_than_in_plackett_luce():
    scores = np.array([3.0, *np.zeros(9)])
    fallen = [distribution.rank_marginals(scores)[0, 5:].sum() for distribution in (PL, REVERSE)]
    assert fallen[1] > 10 * fallen[0]


def test_the_probability_of_grades_is_the_sum_over_their_rankings():
    scores, labels = np.array([0.3, -1.0, 2.0, 0.7]), np.array([1, 0, 2, 0])
    orders = [np.array(ranks) for ranks in itertools.permutations(range(1, 5))]
    agreeing = [r for r in orders if all(r[i] < r[j] for i in range(4) for j in range(4) if labels[i] > labels[j])]
    total = sum(np.exp(REVERSE.log_prob(scores, ranks)) for ranks in agreeing)
    assert REVERSE.log_prob_of_grades(scores, labels) == pytest.approx(np.log(total), abs=1e-7)


@pytest.mark.parametrize("scale", [0.0, 1.0, 8.0, 60.0])
def test_the_chance_to_be_first_is_that_of_the_exact_marginals(scale):
    scores = scale * np.random.default_rng(1).normal(size=60)
    assert _chance_of_first(scores) == pytest.approx(REVERSE.rank_marginals(scores)[:, 0], abs=1e-9)


def test_long_lists_are_summarised_by_moments_as_short_ones_exactly(monkeypatch):
    scores = 2 * np.random.default_rng(2).normal(size=280)
    exact, ranks = REVERSE.summary(scores), np.tile([[1, 30, 280]], (280, 1))
    exact_cdf = REVERSE.rank_cdf(scores, ranks)
    monkeypatch.setattr(PlackettLuce, "has_exact_marginals", lambda self, n: False)
    fast = REVERSE.summary(scores)
    assert fast.first == pytest.approx(exact.first, abs=1e-9)
    assert fast.expected == pytest.approx(exact.expected, abs=1e-2)
    assert np.abs(fast.low - exact.low).max() <= 1
    assert np.abs(fast.high - exact.high).max() <= 1
    assert REVERSE.rank_cdf(scores, ranks) == pytest.approx(exact_cdf, abs=0.02)
