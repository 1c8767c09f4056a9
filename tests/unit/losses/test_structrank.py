"""StructRank: the fast sum against the double sum, networks that are known losses, and what is no distribution."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from podium.base.errors import IncompatibleError, ParameterError
from podium.kernels.blocks import by_grade_and_score, count_edges
from podium.kernels.grade_grid import is_cheaper
from podium.kernels.pair_sums import sum_over_edge_pairs
from podium.losses import ListMLE, Loss, RankNet, StructRank
from podium.losses.structrank import edges_between, over_grades, over_grid, over_listed
from podium.model import Model
from podium.testing import draw_query, linear_data
from podium.training import train


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
    value = sum_over_edge_pairs(r, weight, w1, w2, won, lost)
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


def test_it_is_not_a_distribution_over_rankings():
    total = sum(math.exp(StructRank().log_cdf([0.2, 0.1, -0.4], order)) for order in itertools.permutations(range(3)))
    assert 0 < total < 0.1
    with pytest.raises(IncompatibleError, match="no distribution over rankings"):
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


def run(kernel, loss, *args):
    """Value, gradient, curvature and derivatives of parameters of one of its kernels."""
    params = np.vstack([loss.kernel_constants(np.empty(0)), np.zeros(len(loss.numeric_fields()))])
    gradient, curvature = np.empty(len(args[0])), np.empty(len(args[0]))
    return kernel(*args, gradient, curvature, params), gradient, curvature, params[1]


TEXTS = [
    "structrank", "structrank(log_w1=0.7,log_w2=-0.4,normalise=true)", "structrank(functions=2)",
    "structrank(topology=disconnected)",
]  # fmt: skip


@pytest.mark.parametrize("spread", [1e-3, 0.1, 1.0, 10.0, 100.0, 1e3])
@pytest.mark.parametrize("text", TEXTS)
def test_edges_need_not_be_listed_for_any_range_of_scores(text, spread):
    rng, loss = np.random.default_rng(4), Loss.parse(text)
    scores, labels = spread * rng.uniform(size=60), rng.choice(4, 60, p=[0.5, 0.3, 0.1, 0.1]).astype(float)
    order, ends = by_grade_and_score(scores, labels)
    if spread < 1e3:  # beyond, a grid has millions of points, and is not used
        grid = run(over_grid, loss, scores, order, ends)
    else:
        grid = run(over_grades, loss, scores, labels)
    listed = run(over_listed, loss, scores, order, ends, edges_between(order, ends))
    for got, expected in zip(grid, listed, strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-8 * np.abs(expected).max())


def test_a_grid_is_used_where_it_is_cheaper():
    """2,000 documents of two grades have 1,000,000 edges; the range of scores decides how many points there are."""
    labels = np.arange(2000) % 2
    order, ends = by_grade_and_score(np.zeros(2000), labels.astype(float))
    assert count_edges(ends) == 10**6
    narrow, wide = (is_cheaper(spread * np.linspace(0, 1, 2000), ends, 10**6, 1.0) for spread in (10.0, 10_000.0))
    assert narrow
    assert not wide
    scores = np.random.default_rng(5).normal(size=2000)
    listed = run(over_listed, StructRank(), scores, order, ends, edges_between(order, ends))
    assert StructRank()(scores, labels).value == pytest.approx(listed[0], rel=1e-8)


def test_every_document_of_a_grade_of_its_own_lists_its_edges_where_that_is_cheaper():
    labels = np.arange(150.0)
    _, ends = by_grade_and_score(labels, labels)
    assert not is_cheaper(3 * labels, ends, count_edges(ends), 1.0)


@pytest.mark.parametrize("log_w", [30.0, 400.0])
def test_weights_may_be_huge(log_w):
    """A solver that steps too far sees a value to turn back from: each pair with an edge that is lost costs w·|r|."""
    got = StructRank(log_w1=log_w, log_w2=0.0)([0.0, 1.0, 3.0], [1, 0, 0])
    assert got.value == pytest.approx(math.exp(log_w) * (1.0 + 3.0), rel=1e-9)
    assert np.isfinite(got.gradient).all()


def test_functions_multiply():
    scores, labels = draw_query(np.random.default_rng(6), 8)
    both = StructRank(functions=2, more=(0.5, -0.4))(scores, labels)
    alone = [StructRank(log_w1=a, log_w2=b)(scores, labels) for a, b in ((0.0, 0.0), (0.5, -0.4))]
    assert both.value == pytest.approx(alone[0].value + alone[1].value)
    np.testing.assert_allclose(both.params, np.concatenate([one.params for one in alone]), rtol=1e-10)


def test_functions_start_apart_and_are_learned():
    loss = StructRank(functions=3, log_w1=0.1)
    np.testing.assert_allclose(np.exp(loss.learned_values() - [0.1, 0, 0.1, 0, 0.1, 0]), [1, 1, 2, 1 / 2, 3, 1 / 3])
    moved = loss.with_learned(np.arange(6.0))
    assert (moved.log_w1, moved.log_w2, moved.more) == (0.0, 1.0, (2.0, 3.0, 4.0, 5.0))
    assert Loss.parse(repr(moved)) == moved
    assert StructRank(functions=3, learn=False).with_learned([]) == StructRank(functions=3, learn=False)


def test_a_model_keeps_the_weights_of_all_its_functions(tmp_path):
    data = linear_data(6, 5)
    model = train(data, "structrank(functions=2,epochs=2,starts=1)")
    model.save(tmp_path / "m.podium")
    assert model.learner.loss.more != tuple(StructRank(functions=2).learned_values()[2:])
    assert Model.load(tmp_path / "m.podium").learner.loss == model.learner.loss


def test_weights_for_other_functions_are_refused():
    with pytest.raises(ParameterError, match="2 functions have 2 weights more"):
        StructRank(functions=2, more=(1.0,))


@pytest.mark.parametrize("text", ["functions=2", "topology=random,functions=2"])
def test_marginals_of_other_functions_too(text):
    loss = Loss.parse(f"structrank({text},log_w1=0.3,log_w2=-0.2)")
    scores, labels = np.array([0.4, 0.1, -400.0]), np.array([2, 1, 0])
    assert loss.pair_marginals(scores, labels)[0, 1] == pytest.approx(math.exp(loss.log_cdf(scores, labels)))


def test_several_plackett_luce_networks_are_no_distribution():
    with pytest.raises(IncompatibleError, match="no distribution over rankings"):
        StructRank(topology="plackett-luce", functions=2).sample([1.0, 0.0], np.random.default_rng(0))


@pytest.mark.parametrize(("correlation", "expected"), [(0.0, 4.021515), (0.5, 3.363701)])
def test_a_gaussian_network_has_its_worked_value(correlation, expected):
    loss = StructRank(function="gaussian", correlation=correlation)
    assert loss([0.5, 0.2, -0.4], [2, 1, 0]).value == pytest.approx(expected, abs=1e-6)


def test_a_gaussian_network_without_correlation_is_a_disconnected_one_several_times():
    scores, grades = [0.5, 0.2, -0.4], [2, 1, 0]  # 3 edges: each is in 2·2 functions
    apart = StructRank(function="gaussian", topology="disconnected")(scores, grades).value
    assert StructRank(function="gaussian", correlation=0.0)(scores, grades).value == pytest.approx(4 * apart)
    assert apart == pytest.approx(-np.log(norm.cdf([0.3, 0.9, 0.6])).sum())


def test_plackett_luce_has_no_gaussian_function():
    with pytest.raises(ParameterError, match="no gaussian function"):
        StructRank(function="gaussian", topology="plackett-luce")
