"""StochasticRank: the expected metric and its gradient, and metrics of every kind."""

import math

import numpy as np
import pytest

from podium.losses import Loss, StochasticRank
from podium.metrics import MAP, NDCG

SCORES, LABELS = np.array([0.0, 1.0, 3.0, 2.0]), np.array([0.0, 0.0, 1.0, 2.0])


def drawn(loss: str, seeds: int) -> np.ndarray:
    """Value and gradient for each seed."""
    rows = [Loss.parse(loss.format(seed))(SCORES, LABELS) for seed in range(seeds)]
    return np.array([[row.value, *row.gradient] for row in rows])


def test_the_means_are_those_of_many_draws():
    rows = drawn("stochastic-rank(metric=ndcg,samples=2000,seed={})", 40)
    expected, error = [1 - 0.80435, 0.0109, 0.0342, 0.0326, -0.0777], rows.std(axis=0, ddof=1) / math.sqrt(len(rows))
    assert (np.abs(rows.mean(axis=0) - expected) <= 3 * error + 2e-4).all()


def test_the_mean_gradient_is_the_slope_of_the_mean_value():
    """For a metric that is no sum over ranks, with the same noise on both sides."""
    loss, step = StochasticRank(metric=MAP(), mu=0.3, samples=50_000), np.array([0.0, 0.0, 0.1, 0.0])
    slope = (loss(SCORES + step, LABELS).value - loss(SCORES - step, LABELS).value) / 0.2
    gradient = StochasticRank(metric=MAP(), mu=0.3, samples=20_000)(SCORES, LABELS).gradient[2]
    assert slope == pytest.approx(gradient, abs=0.01)
    assert gradient < -0.03


def test_noise_without_effect_leaves_the_metric():
    got = StochasticRank(sigma=1e-3)(SCORES, LABELS)
    assert got.value == pytest.approx(1 - NDCG(10)(SCORES, LABELS, [0, 4])[0])
    assert not got.gradient.any()


def test_mu_breaks_ties_against_relevant_documents():
    assert StochasticRank(mu=20.0)([0.0, 0.0], [1, 0]).value == pytest.approx(1 - 1 / math.log2(3))
