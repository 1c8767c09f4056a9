"""XE-NDCG: LightGBM's figures with LightGBM's own draws, and the bound that holds on average."""

import math

import numpy as np
import pytest

from podium.losses import Loss, XeNDCG
from podium.losses.xe_ndcg import cross_entropy
from podium.metrics import NDCG

SCORES, LABELS = np.array([0.0, 1.0, 3.0, 2.0]), np.array([0.0, 0.0, 1.0, 2.0])
DIGITS = {"abs": 1e-6, "rel": 0}


def lightgbm_draws(seed: int, number: int) -> np.ndarray:
    """The γ of LightGBM's rank_xendcg for its first query, with objective_seed=seed."""
    x, draws = seed, []
    for _ in range(number):
        x = (214013 * x + 2531011) % 2**32
        draws.append(((x >> 16) & 32767) / 32768)
    return np.array(draws)


def with_draws(gamma: np.ndarray, orders: int) -> tuple[float, np.ndarray, np.ndarray]:
    gradient, curvature = np.empty(4), np.empty(4)
    return cross_entropy(SCORES, 2**LABELS - gamma, orders, gradient, curvature), gradient, curvature


def test_the_value_for_draws_of_one_half():
    assert with_draws(np.full(4, 0.5), 1)[0] == pytest.approx(1.440190, **DIGITS)


def test_one_order_with_the_draws_of_lightgbm():
    gamma = lightgbm_draws(5, 4)
    assert gamma == pytest.approx([0.001648, 0.875641, 0.373993, 0.746124], **DIGITS)
    value, gradient, _ = with_draws(gamma, 1)
    assert value == pytest.approx(1.522663, **DIGITS)
    assert gradient == pytest.approx([-0.134261, 0.066427, 0.373030, -0.305195], **DIGITS)


def test_three_orders_are_the_gradient_of_lightgbm():
    _, gradient, curvature = with_draws(lightgbm_draws(5, 4), 3)
    assert gradient == pytest.approx([-0.126847, 0.065998, 0.315909, -0.255060], **DIGITS)
    assert curvature == pytest.approx([0.031031, 0.079550, 0.229289, 0.180769], **DIGITS)
    assert -gradient / curvature == pytest.approx([4.087771, -0.829638, -1.377778, 1.410968], abs=2e-6)


def test_one_document_and_equal_grades_count_nothing():
    for orders in (1, 3):
        for scores, labels in (([2.0], [1.0]), ([2.0, 1.0, 0.0], [1.0, 1.0, 1.0])):
            got = XeNDCG(orders=orders)(scores, labels)
            assert not np.any([got.value, *got.gradient])


def test_the_mean_loss_bounds_minus_the_logarithm_of_ndcg():
    """Bruch's Theorem 1, on rankings of which a half is bad."""
    rng, tight = np.random.default_rng(0), 0.0
    for _ in range(30):
        labels = rng.permutation([0.0, 0.0, 1.0, 2.0, 0.0])
        scores = rng.normal(size=5) + 2 * labels * (rng.random() < 0.5)
        mean = np.mean([XeNDCG(seed=seed)(scores, labels).value for seed in range(60)])
        ndcg = NDCG()(scores, labels, [0, 5])[0]
        assert -math.log(ndcg) <= mean
        tight = max(tight, -math.log(ndcg) / mean)
    assert tight > 0.2


def test_every_step_draws_anew():
    loss = Loss.parse("xe-ndcg(orders=3)")
    assert loss.resampled(1)(SCORES, LABELS).value != loss(SCORES, LABELS).value
