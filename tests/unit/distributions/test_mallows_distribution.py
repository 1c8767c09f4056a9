"""Mallows' distribution: equal scores, long lists, and what is known of it in closed form."""

import itertools
import math

import numpy as np
import pytest

from podium.distributions import Mallows
from reference.distributions import mallows


def test_equal_scores_are_exchangeable():
    distribution, scores = Mallows(theta=0.8), np.array([1.0, 0.0, 1.0, 0.0, 2.0])
    marginals, before = np.zeros((5, 5)), np.zeros((5, 5))
    for ranks in itertools.permutations(range(1, 6)):
        p = mallows(distribution, scores, ranks)
        assert math.exp(distribution.log_prob(scores, ranks)) == pytest.approx(p, rel=1e-10)
        marginals[np.arange(5), np.array(ranks) - 1] += p
        before += p * (np.array(ranks)[:, None] < ranks)
    assert distribution.rank_marginals(scores) == pytest.approx(marginals, abs=1e-12)
    assert distribution.prefers(scores) == pytest.approx(before, abs=1e-12)
    drawn = distribution.sample(scores, np.random.default_rng(0), 4000)
    assert np.stack([(drawn == r + 1).mean(axis=0) for r in range(5)], axis=1) == pytest.approx(marginals, abs=0.04)


@pytest.mark.parametrize("theta", [1e-7, 0.02, 0.5, 30.0])
def test_ranks_of_a_long_list_add_up(theta):
    """Columns and rows of the marginals sum to 1, and expected ranks are 1 plus the chances to be passed."""
    distribution, scores = Mallows(theta=theta), np.linspace(1, 0, 60)
    marginals, before = distribution.rank_marginals(scores), distribution.prefers(scores)
    assert marginals.sum(axis=0) == pytest.approx(np.ones(60), abs=1e-10)
    assert marginals.sum(axis=1) == pytest.approx(np.ones(60), abs=1e-10)
    assert marginals @ np.arange(1, 61) == pytest.approx(1 + before.sum(axis=0), abs=1e-7)
    first = np.exp(-theta * np.arange(60))
    assert marginals[:, 0] == pytest.approx(first / first.sum(), abs=1e-12)


def test_only_the_order_of_scores_counts():
    distribution = Mallows()
    assert distribution.log_prob([3.0, 2.0, 1.0], [2, 1, 3]) == distribution.log_prob([300.0, 2.0, 1.9], [2, 1, 3])
