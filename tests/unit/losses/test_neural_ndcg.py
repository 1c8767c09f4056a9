"""NeuralNDCG: allRank's figures, its limit, and what more rounds of Sinkhorn do to the gradient."""

import numpy as np
import pytest

from podium.losses import Loss, NeuralNDCG
from podium.metrics import NDCG
from reference.losses import neural_ndcg

SCORES, LABELS = np.array([0.0, 1.0, 3.0, 2.0]), np.array([0.0, 0.0, 1.0, 2.0])


@pytest.mark.parametrize(
    ("loss", "ndcg"),
    [
        ("neural-ndcg", 0.819322),
        ("neural-ndcg(tau=0.1)", 0.796712),
        ("neural-ndcg(scale=0)", 0.844344),
        ("neural-ndcg(k=2)", 0.729975),
    ],
)
def test_the_values_are_those_of_allrank(loss, ndcg):
    """Which stops Sinkhorn's rounds at 1e-6."""
    assert 1 - Loss.parse(loss)(SCORES, LABELS).value == pytest.approx(ndcg, abs=1.5e-6)


def test_the_gradient_is_that_of_allrank_after_as_many_rounds():
    gradient = NeuralNDCG(scale=8)(SCORES, LABELS).gradient
    assert gradient == pytest.approx([0.000559, 0.033250, 0.040375, -0.074185], abs=1e-6)


def test_as_tau_falls_it_becomes_ndcg():
    rng = np.random.default_rng(0)
    scores, labels = rng.permutation(20) * 0.5, rng.integers(0, 4, 20).astype(float)
    exact = NDCG()(scores, labels, [0, 20])[0]
    assert 1 - NeuralNDCG(tau=0.01)(scores, labels).value == pytest.approx(exact, abs=1e-9)
    assert abs(1 - NeuralNDCG(tau=5.0)(scores, labels).value - exact) > 0.01


def test_long_lists_leave_out_negligible_entries():
    rng = np.random.default_rng(1)
    scores, labels = rng.normal(size=200), rng.integers(0, 5, 200).astype(float)
    loss = NeuralNDCG(scale=5)
    assert loss(scores, labels).value == pytest.approx(neural_ndcg(loss, scores, labels), rel=1e-12)


def test_it_draws_anew_only_with_samples():
    assert NeuralNDCG().seed_at is None
    assert NeuralNDCG(samples=2).resampled(1)(SCORES, LABELS).value != NeuralNDCG(samples=2)(SCORES, LABELS).value
