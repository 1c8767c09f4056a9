"""Losses with odds of their own: on data drawn from their law, the scores of the law are best, with their scale."""

import math

import numpy as np
import pytest

from podium import distributions
from podium.data import Dataset
from podium.losses import Loss
from podium.testing.distributions import all_rankings
from podium.training import train

SCORES = np.array([1.1, 0.2, -0.4, -0.9])
WITH_A_LAW = [name for name, loss in Loss.catalogue().items() if loss().rank_distribution() is not None]
NOT_LIKELIHOODS = {
    "mallows": "its distance to the order of scores is smoothed",
    "pairties-d": "pairs are learned one by one",
    "pairties-rk": "pairs are learned one by one",
    "pmop-gibbs": "its gradient is drawn",
    "pmop-mh": "its gradient is drawn",
}


def expected_slope(loss, grades_of):
    """The mean gradient at the scores of the law, over all rankings with their probabilities under it."""
    law, temperature = loss.rank_distribution()
    total = np.zeros(len(SCORES))
    for ranks in all_rankings(len(SCORES), ties=law.has_ties):
        total += math.exp(law.log_prob(SCORES / temperature, ranks)) * loss(SCORES, grades_of(ranks)).gradient
    return total


@pytest.mark.slow
@pytest.mark.parametrize("name", [*WITH_A_LAW, "structrank(topology=plackett-luce,learn=false,log_w1=0.5)"])
def test_rankings_drawn_from_the_law_of_a_loss_make_its_scores_the_best(name):
    slope = np.abs(expected_slope(Loss.parse(name), lambda ranks: 4.0 - ranks)).max()
    assert (slope > 1e-3) if name in NOT_LIKELIHOODS else (slope < 1e-9)


@pytest.mark.parametrize("cuts", [(1, 3), (2,), (1,), (2, 3)])
@pytest.mark.parametrize("sigma", [1.0, 2.0])
def test_grades_with_ties_that_are_drawn_from_thurstones_law_have_its_scores_as_best(cuts, sigma):
    loss = Loss.parse(f"thurstone(sigma={sigma})")
    assert np.abs(expected_slope(loss, lambda ranks: -np.searchsorted(cuts, ranks).astype(float))).max() < 1e-9


def test_odds_of_a_trained_thurstone_model_come_true():
    """On one draw of noise a query: given 0.5, came 0.5; noise drawn anew for each grade made them too flat."""
    rng, n, queries = np.random.default_rng(0), 6, 1500
    features = rng.standard_normal((2 * queries * n, 3))
    worth = features @ np.array([1.0, -0.7, 0.4])
    drawn = (worth + rng.standard_normal(len(worth))).reshape(-1, n)
    grades = np.argsort(np.argsort(drawn)).ravel().astype(float)
    data = Dataset.from_arrays(features, grades, group=np.full(2 * queries, n))
    model = train(data.select(range(queries)), "thurstone(penalty=0)")
    new = data.select(range(queries, 2 * queries))
    odds = model.distribution(new)
    assert odds.distribution == distributions.Thurstone()
    given, came = odds.summary().first, new.labels == n - 1
    sure = given > 0.35
    error = math.sqrt(float((given * (1 - given))[sure].sum())) / sure.sum()
    assert given[sure].mean() == pytest.approx(came[sure].mean(), abs=3 * error)
    scale = np.polyfit(worth[queries * n :], odds.scores, 1)[0]
    assert scale == pytest.approx(1.0, abs=0.05)
