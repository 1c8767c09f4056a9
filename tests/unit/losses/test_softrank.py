"""SoftRank and Thurstone's distribution: rank marginals against Monte Carlo, long lists, wide scores."""

import math

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.distributions import Thurstone
from podium.losses import SoftRank
from podium.metrics import Metric
from podium.testing import draw_query

SCORES = np.random.default_rng(0).normal(size=12)


def drawn_marginals(distribution, scores, size=20_000):
    """P(rank) by counting draws, and five standard errors of it."""
    drawn = distribution.sample(scores, np.random.default_rng(1), size)
    found = np.stack([(drawn == rank).mean(axis=0) for rank in range(1, len(scores) + 1)], axis=1)
    return found, 5 * np.sqrt(found * (1 - found) / size) + 1 / size


def test_rank_marginals_match_monte_carlo():
    distribution = Thurstone(sigma=0.7)
    found, slack = drawn_marginals(distribution, SCORES)
    assert (np.abs(distribution.rank_marginals(SCORES) - found) <= slack).all()


def test_the_recursion_gives_a_distribution_for_every_document():
    soft = SoftRank(sigma=0.7).soft_ranks(SCORES)
    np.testing.assert_allclose(soft.sum(axis=1), 1.0, atol=1e-12)
    assert soft.min() >= 0


def test_the_rank_marginals_of_thurstone_are_a_distribution_for_every_document():
    np.testing.assert_allclose(Thurstone(sigma=0.7).rank_marginals(SCORES).sum(axis=1), 1.0, atol=1e-10)


def test_the_recursion_matches_monte_carlo_of_independent_wins():
    """Its own definition: a document's rank is 1 + the number of others that beat it, each by a coin of its own."""
    loss, rng, n, size = SoftRank(sigma=0.7), np.random.default_rng(2), len(SCORES), 20_000
    beaten = rng.random((size, n, n)) < Thurstone(sigma=0.7).prefers(SCORES)  # a document never beats itself
    ranks = 1 + beaten.sum(axis=1)  # (size, n)
    found = np.stack([(ranks == rank).mean(axis=0) for rank in range(1, n + 1)], axis=1)
    soft = loss.soft_ranks(SCORES)
    assert (np.abs(soft - found) <= 5 * np.sqrt(soft * (1 - soft) / size) + 2 / size).all()
    assert (np.abs(Thurstone(sigma=0.7).rank_marginals(SCORES) - found) > 0.05).any()


@pytest.mark.parametrize(("n", "share"), [(12, 0.5), (50, 0.25)])
def test_the_recursion_has_the_part_of_the_spread_that_its_page_says(n, share):
    scores, ranks, loss = np.random.default_rng(0).normal(size=n), np.arange(1, n + 1), SoftRank()
    soft, exact = (
        np.sqrt(p @ ranks**2 - (p @ ranks) ** 2) for p in (loss.soft_ranks(scores), Thurstone().rank_marginals(scores))
    )
    assert np.mean(soft / exact) == pytest.approx(share, abs=0.08)


def test_the_recursion_has_the_mean_ranks_of_thurstone_and_too_little_spread():
    """The others that beat a document are not independent: sharing S_j, they come together."""
    loss = SoftRank(sigma=0.7)
    ranks = np.arange(1, 13)
    soft, exact = loss.soft_ranks(SCORES), Thurstone(sigma=0.7).rank_marginals(SCORES)
    np.testing.assert_allclose(soft @ ranks, exact @ ranks, atol=1e-9)
    assert (soft @ ranks**2 < exact @ ranks**2).all()
    _, slack = drawn_marginals(Thurstone(sigma=0.7), SCORES)
    assert (np.abs(soft - exact) > slack).any()


def test_a_small_sigma_gives_ndcg_itself():
    for n in (2, 8, 30):
        scores, labels = draw_query(np.random.default_rng(n), n)
        exact = Metric.parse("ndcg@10")(scores, labels, [0, n])[0]
        assert 1 - SoftRank(sigma=0.001)(scores, labels).value == pytest.approx(exact, abs=1e-9)


def test_two_documents_rank_as_their_difference_does():
    assert Thurstone(sigma=2.0).log_prob([0.3, 1.0], [1, 2]) == pytest.approx(
        math.log(0.5 * math.erfc((1.0 - 0.3) / (2 * 2.0)))
    )


def test_equal_scores_make_all_rankings_alike_however_long():
    assert Thurstone().log_prob(np.zeros(40), np.arange(1, 41)) == pytest.approx(-math.lgamma(41), rel=1e-10)


def test_clusters_far_apart_rank_on_their_own():
    near = [0.2, -0.5, 0.1]
    both = Thurstone().log_prob([*near, *(np.array(near) + 1000)], [4, 6, 5, 2, 1, 3])
    alone = Thurstone().log_prob(near, [1, 3, 2]) + Thurstone().log_prob(near, [2, 1, 3])
    assert both == pytest.approx(alone, rel=1e-9)


def test_the_hopeless_keep_the_exponent_of_their_likeliest_case():
    assert Thurstone().log_prob([0.0, 1000.0], [1, 2]) == pytest.approx(-(1000**2) / 4, rel=1e-4)
    just_within, beyond = (Thurstone().log_prob([0.0, gap], [1, 2]) for gap in (34.6, 34.7))
    assert beyond < just_within + 5


def test_labels_without_a_gain_are_refused_in_words():
    with pytest.raises(DataError, match="at least 0"):
        SoftRank()([1.0, 2.0], [-1, 0])
