"""Plackett–Luce and ordered partitions beyond what can be listed: long lists, wide scores, closed forms."""

import itertools

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.distributions import OrderedPartitionsFD, PlackettLuce, RankingDistribution, subsets

PL, OP = PlackettLuce(), OrderedPartitionsFD()


def test_the_first_place_goes_by_softmax():
    scores = np.random.default_rng(0).normal(size=40)
    assert PL.rank_marginals(scores)[:, 0] == pytest.approx(np.exp(scores) / np.exp(scores).sum(), abs=1e-10)


def test_two_documents_have_closed_forms():
    p = 1 / (1 + np.exp(-0.7))
    assert PL.rank_marginals([0.7, 0.0]) == pytest.approx(np.array([[p, 1 - p], [1 - p, p]]), abs=1e-10)
    q = 2 / 3  # of not being tied: the sizes of subsets {1}, {2}, {1, 2}
    assert OP.prefers([0.7, 0.0]) == pytest.approx(np.array([[0, q * p], [q * (1 - p), 0]]), abs=1e-10)


@pytest.mark.parametrize("scale", [0, 1, 30, 1000])
def test_rows_and_columns_of_long_lists_sum_to_one(scale):
    marginals = PL.rank_marginals(scale * np.random.default_rng(1).normal(size=120))
    assert marginals.sum(axis=0) == pytest.approx(np.ones(120), abs=1e-8)
    assert marginals.sum(axis=1) == pytest.approx(np.ones(120), abs=1e-8)


@pytest.mark.parametrize("distribution", [PL, OP], ids=repr)
def test_marginals_of_longer_lists_match_samples(distribution):
    scores = np.random.default_rng(2).normal(size=25)
    exact = distribution.rank_marginals(scores)
    drawn = RankingDistribution.rank_marginals(distribution, scores, rng=np.random.default_rng(3), samples=4000)
    assert (np.abs(drawn - exact) <= 5 * np.sqrt(exact * (1 - exact) / 4000) + 1e-3).all()


def test_preferences_of_ordered_partitions_match_samples():
    scores = np.random.default_rng(2).normal(size=9)
    exact = OP.prefers(scores)
    drawn = RankingDistribution.prefers(OP, scores, rng=np.random.default_rng(3), samples=4000)
    assert (np.abs(drawn - exact) <= 5 * np.sqrt(exact * (1 - exact) / 4000) + 1e-3).all()


def test_block_sizes_do_not_depend_on_scores():
    """The first block of N has size m with probability C(N, m)/(2^N − 1)."""
    scores = np.array([2.0, -1.0, 0.3, 5.0])
    drawn = OP.sample(scores, np.random.default_rng(0), 8000)
    sizes = np.bincount((drawn == 1).sum(axis=1), minlength=5)[1:] / 8000
    assert sizes == pytest.approx(np.array([4, 6, 4, 1]) / 15, abs=0.02)


@pytest.mark.parametrize("n", [3, 5, 6])
def test_the_mode_of_ordered_partitions_is_the_best_of_all(n):
    ways = [way for way in itertools.product(range(1, n + 1), repeat=n) if len(set(way)) == max(way)]
    for seed, scale in itertools.product(range(2), (0.3, 8.0)):
        scores = scale * np.random.default_rng(seed).normal(size=n)
        best = max(OP.log_prob(scores, way) for way in ways)
        assert OP.log_prob(scores, OP.mode(scores)) == pytest.approx(best, abs=1e-12)


def test_the_probabilities_of_blocks_sum_to_one_for_long_lists():
    found = subsets.block_sizes(60)
    assert found.sum(axis=1) == pytest.approx(np.ones(60), abs=1e-12)
    assert found[0].tolist() == [1.0] + [0.0] * 59  # the first to arrive leads the first block


def test_the_mode_of_plackett_luce_is_the_order_of_scores():
    assert PL.mode([0.1, 0.9, 0.9, -2.0]).tolist() == [3, 1, 2, 4]


def test_a_tie_has_no_probability_in_plackett_luce():
    with pytest.raises(DataError, match=r"ties probability 0.*ordered-partitions"):
        PL.log_prob([0.0, 1.0], [1, 1])


def test_ranks_of_another_length_are_refused():
    with pytest.raises(DataError, match=r"ranks of shape \(3,\) for scores of shape \(2,\)"):
        OP.log_prob([0.0, 1.0], [1, 2, 3])


@pytest.mark.parametrize("distribution", [PL, OP], ids=repr)
def test_no_documents_have_one_empty_ranking(distribution):
    assert distribution.log_prob([], []) == 0
    assert distribution.sample([], np.random.default_rng(0), 3).shape == (3, 0)
    assert distribution.mode([]).shape == (0,)
    assert distribution.rank_marginals([]).shape == distribution.prefers([]).shape == (0, 0)
