"""BoltzRank: its gradient against enumeration, its chain, its normaliser, and any measure."""

import itertools
import math

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.distributions import Boltzmann
from podium.distributions.boltzmann import filled_places, integrated, pull, visit
from podium.losses import BoltzRank, Loss
from podium.metrics import MAP, NDCG, Precision
from podium.testing import check_loss
from reference.losses import boltzrank

S, Y = np.array([0.9, -1.2, 0.4, 2.0, -0.3]), np.array([2.0, 0.0, 1.0, 0.0, 1.0])


def expected_measure(scores, loss):
    """−Σ Φ(r)P(r) over all rankings."""
    ways = [np.array(way) for way in itertools.permutations(range(1, 6))]
    chances = [math.exp(Boltzmann(alpha=loss.alpha).log_prob(scores, way)) for way in ways]
    return -sum(p * loss.metric(-way, Y, [0, 5])[0] for p, way in zip(chances, ways, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("proposals", ["chain", "plackett-luce"])
@pytest.mark.parametrize("metric", [NDCG(), MAP(), Precision(2)], ids=repr)
def test_value_and_gradient_come_near_the_expectation_over_all_rankings(metric, proposals):
    loss = BoltzRank(alpha=2.0, metric=metric, samples=40_000, proposals=proposals)
    steps = 1e-5 * np.eye(5)
    slopes = [(expected_measure(S + e, loss) - expected_measure(S - e, loss)) / 2e-5 for e in steps]
    got = loss(S, Y)
    assert got.value == pytest.approx(expected_measure(S, loss), abs=0.01)
    assert got.gradient == pytest.approx(slopes, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["map", "err", "mrr", "p@3"])
def test_other_measures_keep_the_promises(metric):
    check_loss(Loss.parse(f"boltzrank(metric={metric})"), reference=boltzrank, examples=4)


def test_a_measure_without_a_value_contributes_nothing():
    got = BoltzRank(metric=NDCG())([0.3, 1.0], [0, -0.0])
    assert got.value == 0
    got = Loss.parse("boltzrank(metric=map[relevant=5])")([0.3, 1.0, 0.2], [1, 0, 2])
    assert got.value == 0
    assert not got.gradient.any()


@pytest.mark.parametrize("alpha", [0.5, 8.0])
def test_the_chain_converges_to_the_distribution(alpha):
    """40,000 rankings of five documents, 120 of which are possible."""
    distribution, rows = Boltzmann(alpha=alpha), visit(S, pull(alpha, 5), 40_000, np.uint64(1))
    ways, counts = np.unique(rows, axis=0, return_counts=True)
    exact = {way: math.exp(distribution.log_prob(S, np.argsort(way) + 1)) for way in itertools.permutations(range(5))}
    seen = dict(zip(map(tuple, ways.tolist()), counts / len(rows), strict=True))
    assert 0.5 * sum(abs(exact[way] - seen.get(way, 0.0)) for way in exact) < 0.03


@pytest.mark.parametrize("scale", [0.0, 0.1, 3.0, 100.0])
def test_the_integral_comes_near_the_sum_over_subsets(scale):
    s = scale * np.random.default_rng(0).normal(size=12)
    s, c = s - s.mean(), pull(1.0, 12)
    found, error = integrated(s, c)
    assert error < 0.1
    assert abs(found - filled_places(s, c)[-1]) <= 4 * error + 1e-9


def test_the_error_of_a_log_probability_is_told():
    few, many = np.arange(14.0), np.random.default_rng(0).normal(size=20)
    assert Boltzmann().log_normaliser(few)[1] == 0.0
    assert 0.0 < Boltzmann().log_normaliser(many)[1] < 0.1
    found, again = (Boltzmann().log_normaliser(many) for _ in range(2))
    assert found == again


def test_equal_scores_make_all_rankings_alike():
    assert Boltzmann().log_prob(np.ones(6), [1, 2, 3, 4, 5, 6]) == pytest.approx(-math.log(math.factorial(6)))
    assert Boltzmann().log_prob(np.ones(20), np.arange(20)) == pytest.approx(-math.lgamma(21))


def test_two_documents_have_the_odds_of_a_logistic():
    """E = ±α(s_2 − s_1), so P(1 before 2) = 1/(1 + e^{−2α(s_1 − s_2)})."""
    assert Boltzmann(alpha=0.7).prefers([1.5, 0.5])[0, 1] == pytest.approx(1 / (1 + math.exp(-1.4)))


def test_longer_lists_are_sampled():
    s = np.random.default_rng(0).normal(size=30)
    distribution = Boltzmann(alpha=5.0)
    marginals = distribution.rank_marginals(s, samples=3000)
    assert marginals.sum(axis=0) == pytest.approx(np.ones(30))
    assert np.corrcoef(marginals @ np.arange(1, 31), s)[0, 1] < -0.95
    assert np.array_equal(
        distribution.sample(s, np.random.default_rng(1), 5), distribution.sample(s, np.random.default_rng(1), 5)
    )
    assert np.isfinite(distribution.log_prob(s, np.arange(1, 31)))


def test_ties_have_no_probability():
    with pytest.raises(DataError, match=r"ties probability 0.*ordered-partitions"):
        Boltzmann().log_prob([0.0, 1.0], [1, 1])


def test_no_documents_have_one_empty_ranking():
    distribution = Boltzmann()
    assert distribution.log_prob([], []) == 0
    assert distribution.sample([], np.random.default_rng(0), 3).shape == (3, 0)
    assert distribution.rank_marginals([]).shape == distribution.prefers([]).shape == (0, 0)
