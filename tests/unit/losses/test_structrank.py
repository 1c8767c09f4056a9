"""StructRank: the fast sum against the double sum, networks that are known losses, what is no law over rankings."""

import itertools
import math

import numpy as np
import pytest

from podium.errors import IncompatibleError
from podium.losses import ListMLE, Loss, RankNet, StructRank
from podium.losses.pair_sums import sum_over_pairs
from podium.testing import draw_query


def double_sum(r, weight, w1, w2):
    """F and its two slopes, pair by pair."""
    u, v = -w1 * r[:, None], -w2 * r
    f = np.logaddexp(np.logaddexp(0.0, u), v)
    pairs = weight[:, None] * weight
    return (pairs * f).sum(), np.exp(u - f) @ weight, np.exp(v - f).T @ weight


@pytest.mark.parametrize("spread", [1e-3, 0.1, 1.0, 10.0, 100.0, 1e3])
@pytest.mark.parametrize(("w1", "w2"), [(1.0, 1.0), (2.0, 0.4)])
@pytest.mark.parametrize("shape", ["normal", "ordered", "few values"])
def test_the_fast_sum_is_the_double_sum_for_every_range_of_scores(spread, w1, w2, shape):
    rng = np.random.default_rng(0)
    r = {
        "normal": rng.normal(size=2000), "ordered": rng.uniform(size=2000), "few values": rng.choice([-1, 0.0, 2], 2000)
    }[shape] * spread  # fmt: skip
    weight, won, lost = rng.uniform(size=2000), np.empty(2000), np.empty(2000)
    value = sum_over_pairs(r, weight, w1, w2, won, lost)
    expected, won_slowly, lost_slowly = double_sum(r, weight, w1, w2)
    assert value == pytest.approx(expected, rel=1e-8)
    np.testing.assert_allclose(won, won_slowly, atol=1e-8 * won_slowly.max())
    np.testing.assert_allclose(lost, lost_slowly, atol=1e-8 * lost_slowly.max())


def test_a_query_of_many_edges_is_the_sum_over_all_pairs_of_them():
    rng = np.random.default_rng(1)
    scores, labels = rng.normal(size=70), rng.integers(0, 3, 70)
    i, j = np.nonzero(labels[:, None] > labels)
    r = scores[i] - scores[j]
    assert len(r) > 1000
    expected = double_sum(r, np.ones(len(r)), 1.0, 1.0)[0] - np.logaddexp(0.0, math.log(2) - r).sum()
    assert StructRank()(scores, labels).value == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("log_w", [0.0, 0.5])
def test_a_disconnected_network_is_ranknet(log_w):
    scores, labels = draw_query(np.random.default_rng(2), 9)
    got = StructRank(topology="disconnected", log_w1=log_w)(scores, labels)
    ranknet = RankNet(sigma=math.exp(log_w))(scores, labels)
    assert got.value == pytest.approx(ranknet.value, rel=1e-12)
    np.testing.assert_allclose(got.gradient, ranknet.gradient, rtol=1e-10)
    np.testing.assert_allclose(got.curvature, ranknet.curvature, rtol=1e-10)


def test_a_plackett_luce_network_of_a_full_order_is_listmle():
    scores, labels = draw_query(np.random.default_rng(3), 9)[0], np.random.default_rng(3).permutation(9)
    got, listmle = (loss(scores, labels) for loss in (StructRank(topology="plackett-luce"), ListMLE()))
    assert got.value == pytest.approx(listmle.value, rel=1e-12)
    np.testing.assert_allclose(got.gradient, listmle.gradient, rtol=1e-10)
    np.testing.assert_allclose(got.curvature, listmle.curvature, rtol=1e-10)


def test_uncertain_edges_give_the_mean_over_their_directions():
    scores = np.array([0.3, -0.2, 1.1])
    edges = np.array([[0, 1, 0.7], [1, 2, 0.2], [0, 2, 1.0]])
    mean = 0.0
    for ways in itertools.product([0, 1], repeat=3):
        chance = math.prod(p if way else 1 - p for way, (_, _, p) in zip(ways, edges, strict=True))
        r = [(scores[int(i)] - scores[int(j)]) * (1 if way else -1) for way, (i, j, _) in zip(ways, edges, strict=True)]
        mean += chance * sum(math.log(1 + math.exp(-a) + math.exp(-b)) for a, b in itertools.permutations(r, 2))
    assert StructRank()(scores, edges).value == pytest.approx(mean)


def test_one_edge_is_a_sigmoid():
    assert StructRank()([1.0, 0.0], [1, 0]).value == pytest.approx(math.log(1 + math.exp(-1)))


def test_it_is_no_law_over_rankings():
    total = sum(math.exp(StructRank().log_cdf([0.2, 0.1, -0.4], order)) for order in itertools.permutations(range(3)))
    assert 0 < total < 0.1
    with pytest.raises(IncompatibleError, match="no law over rankings"):
        StructRank().sample([1.0, 0.0], np.random.default_rng(0))


def test_the_plackett_luce_network_draws_rankings():
    drawn = StructRank(topology="plackett-luce", log_w1=math.log(2))
    often = (drawn.sample([0.5, 0.0], np.random.default_rng(0), 4000)[:, 0] == 1).mean()
    assert often == pytest.approx(1 / (1 + math.exp(-1)), abs=5 * 0.5 / math.sqrt(4000))


@pytest.mark.parametrize("text", ["full", "disconnected", "random", "plackett-luce"])
def test_marginals_are_the_joint_probability_with_all_other_preferences_left_open(text):
    """A document far below the others leaves only the preference between these in question."""
    loss = Loss.parse(f"structrank(topology={text},log_w1=0.3,log_w2=-0.2,normalise=true)")
    scores, labels = np.array([0.4, 0.1, -400.0]), np.array([2, 1, 0])
    marginals = loss.pair_marginals(scores, labels)
    assert marginals[0, 1] == pytest.approx(math.exp(loss.log_cdf(scores, labels)))
    assert np.isnan(marginals[1, 0])


def test_weights_that_are_not_learned_stay():
    assert StructRank().learned == ("log_w1", "log_w2")
    assert StructRank(learn=False)([1.0, 0.0], [1, 0]).params.shape == (0,)
