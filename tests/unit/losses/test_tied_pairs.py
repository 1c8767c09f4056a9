"""Rao & Kupper's and Davidson's pairs with ties: probabilities, corrected derivatives, and RankNet as their limit."""

import math

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.data.dataset import Dataset
from podium.losses import FRank, PairTiesD, PairTiesRK, RankNet
from podium.problem import Problem
from podium.scorers import Linear
from podium.solvers import LBFGS, Watch

LOSSES = [PairTiesRK(), PairTiesRK(alpha=-1.3), PairTiesRK(alpha=40.0), PairTiesD(), PairTiesD(beta=0.7)]
SCORES = np.array([0.3, -1.0, 2.2, 0.4, 0.4])


def test_one_pair_of_rao_and_kupper():
    theta, delta = 1 + math.exp(-0.5), 0.8
    loss = PairTiesRK(alpha=-0.5)
    win, lose = math.exp(delta) / (math.exp(delta) + theta), 1 / (1 + theta * math.exp(delta))
    assert loss([delta, 0.0], [1, 0]).value == pytest.approx(-math.log(win))
    assert loss([delta, 0.0], [0, 0]).value == pytest.approx(-math.log(1 - win - lose))


def test_one_pair_of_davidson():
    nu, delta = math.exp(0.3), 0.8
    z = math.exp(delta) + 1 + nu * math.exp(delta / 2)
    loss = PairTiesD(beta=0.3)
    assert loss([delta, 0.0], [1, 0]).value == pytest.approx(-math.log(math.exp(delta) / z))
    assert loss([delta, 0.0], [1, 1]).value == pytest.approx(-math.log(nu * math.exp(delta / 2) / z))


def test_derivatives_of_a_win_by_hand():
    """∂/∂s_j of log P(i ≻ j): −θP*_j with P*_j = φ_j/(φ_i + θφ_j); and −(P_j + ½P_ij) of Davidson."""
    s_i, s_j, alpha = 0.8, 0.1, -0.5
    phi_i, phi_j, theta = math.exp(s_i), math.exp(s_j), 1 + math.exp(alpha)
    starred = phi_j / (phi_i + theta * phi_j)
    got = PairTiesRK(alpha=alpha)([s_i, s_j], [1, 0])
    assert got.gradient == pytest.approx([-theta * starred, theta * starred])
    assert got.params == pytest.approx([starred * math.exp(alpha)])
    before, tied, after = PairTiesD(beta=0.3).rank_distribution()[0].pair_probabilities([s_i, s_j])
    expected = after[0, 1] + 0.5 * tied[0, 1]
    assert before[0, 1] + tied[0, 1] + after[0, 1] == pytest.approx(1)
    assert PairTiesD(beta=0.3)([s_i, s_j], [1, 0]).gradient == pytest.approx([-expected, expected])


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_what_pairs_may_do_sums_to_one(loss):
    for scale in (1.0, 300.0):
        before, tied, after = loss.rank_distribution()[0].pair_probabilities(scale * SCORES)
        np.testing.assert_allclose(before + tied + after, 1.0, rtol=1e-12)
        np.testing.assert_array_equal(after, before.T)
        np.testing.assert_allclose(tied, tied.T, rtol=1e-9)
        assert before.diagonal().tolist() == [0.0] * 5


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_loss_is_minus_the_logarithm_of_those_probabilities(loss):
    labels = np.array([2, 0, 2, 1, 1])
    before, tied, _ = loss.rank_distribution()[0].pair_probabilities(SCORES)
    expected = -np.log(before[labels[:, None] > labels]).sum() - np.log(tied[0, 2]) - np.log(tied[3, 4])
    assert loss(SCORES, labels).value == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("loss", [PairTiesRK(alpha=-45.0), PairTiesD(beta=-45.0)], ids=repr)
def test_without_ties_both_become_ranknet(loss):
    labels = np.array([3, 1, 4, 0, 2])
    got, expected = loss(SCORES, labels), RankNet()(SCORES, labels)
    assert got.value == pytest.approx(expected.value, rel=1e-14)
    np.testing.assert_allclose(got.gradient, expected.gradient, rtol=1e-12)
    np.testing.assert_allclose(got.curvature, expected.curvature, rtol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("width", [30.0, 150.0, 199.0])
def test_rows_and_pairs_one_by_one_agree(loss, width):
    """Scores a little too far apart for rows, against the same with a document in between."""
    rng = np.random.default_rng(0)
    scores, labels = rng.uniform(-width / 2, width / 2, 40), rng.integers(0, 4, 40)
    by_rows, parts = loss(scores, labels), np.zeros(40)
    value = 0.0
    for i in range(40):
        for j in range(i):
            pair = loss(scores[[i, j]], labels[[i, j]])
            value += pair.value
            parts[[i, j]] += pair.gradient
    assert by_rows.value == pytest.approx(value, rel=1e-11)
    np.testing.assert_allclose(by_rows.gradient, parts, rtol=1e-9, atol=1e-9)


def test_normalise_divides_by_all_pairs():
    for loss, mean in ((PairTiesRK(), PairTiesRK(normalise=True)), (PairTiesD(), PairTiesD(normalise=True))):
        whole, part = loss(SCORES, [2, 0, 2, 1, 1]), mean(SCORES, [2, 0, 2, 1, 1])
        assert part.value == pytest.approx(whole.value / 10)
        assert part.gradient == pytest.approx(whole.gradient / 10)
        assert part.params == pytest.approx(whole.params / 10)


@pytest.mark.parametrize("loss", [PairTiesRK(), PairTiesD()], ids=repr)
def test_training_finds_how_often_documents_tie(loss):
    """Features say nothing, so scores are equal, and a pair ties as often as in the data: in 2 of 6."""
    data = Dataset.from_arrays(np.zeros((40, 1)), np.tile([0, 0, 1, 1], 10), group=np.full(10, 4))
    found = LBFGS(penalty=0.0, tolerance=1e-14).solve(Problem(loss, Linear(), data), np.random.default_rng(0), Watch())
    assert found.loss.rank_distribution()[0].pair_probabilities([0.0, 0.0])[1][0, 1] == pytest.approx(2 / 6, rel=1e-4)


def test_ranknet_with_ties_has_a_target_of_one_half():
    scores, labels = [0.5, -0.2, 1.0], [1, 1, 0]
    edges = [[0, 1, 0.5], [0, 2, 1.0], [1, 2, 1.0]]
    for normalise in (False, True):
        loss = RankNet(ties=True, normalise=normalise)
        assert loss(scores, labels).value == pytest.approx(loss(scores, edges).value)
        assert loss(scores, labels).gradient == pytest.approx(loss(scores, edges).gradient)


def test_fidelity_lies_between_zero_and_one_and_is_zero_at_its_target():
    assert FRank()([1000.0, 0.0], [0, 1]).value == pytest.approx(1.0)
    assert FRank()([1000.0, 0.0], [1, 0]).value == 0.0
    target = 0.7
    at_target = FRank()([math.log(target / (1 - target)), 0.0], [[0, 1, target]])
    assert at_target.value == pytest.approx(0, abs=1e-15)
    assert at_target.gradient == pytest.approx([0, 0], abs=1e-15)


@pytest.mark.parametrize("loss", [PairTiesRK(), PairTiesD(beta=-0.5)], ids=repr)
def test_two_documents_do_what_their_pair_does(loss):
    before, tied, _ = loss.rank_distribution()[0].pair_probabilities([0.4, -0.3])
    assert loss.rank_distribution()[0].log_prob([0.4, -0.3], [1, 2]) == pytest.approx(math.log(before[0, 1]))
    assert loss.rank_distribution()[0].log_prob([0.4, -0.3], [1, 1]) == pytest.approx(math.log(tied[0, 1]))


@pytest.mark.parametrize("loss", [PairTiesRK(alpha=-1.0), PairTiesD(beta=-0.5)], ids=repr)
def test_the_chain_draws_from_the_distribution_that_sums_give(loss, monkeypatch):
    scores = np.random.default_rng(0).normal(size=7)
    exact, before = loss.rank_distribution()[0].rank_marginals(scores), loss.rank_distribution()[0].prefers(scores)
    monkeypatch.setattr(type(loss.rank_distribution()[0]), "max_exact_n", 0)
    drawn = loss.rank_distribution()[0].rank_marginals(scores, rng=np.random.default_rng(1), samples=40_000)
    np.testing.assert_allclose(drawn, exact, atol=0.015)
    np.testing.assert_allclose(
        loss.rank_distribution()[0].prefers(scores, rng=np.random.default_rng(2), samples=40_000), before, atol=0.015
    )


def test_long_lists_are_drawn_quickly_and_follow_their_scores():
    scores = np.linspace(8, -8, 60)
    marginals = PairTiesD(beta=-2.0).rank_distribution()[0].rank_marginals(scores, samples=500)
    mean_rank = marginals @ np.arange(60)
    assert np.corrcoef(mean_rank, scores)[0, 1] < -0.98


def test_the_probability_of_a_long_ranking_is_refused_with_advice():
    with pytest.raises(DataError, match=r"up to 12 documents; got 13\. Use `sample`"):
        PairTiesD().rank_distribution()[0].log_prob(np.zeros(13), np.arange(13))
