"""Small losses of other tools: their figures on one query, and what is special about each."""

import math

import numpy as np
import pytest

from podium.losses import Logistic, Loss, QueryCrossEntropy, RankCosine
from podium.losses.query_cross_entropy import constant
from podium.testing import equals_reference
from podium.testing.losses import curvature_is_right, derivative_is_right
from reference.losses import listmle

SCORES, LABELS = np.array([0.0, 1.0, 3.0, 2.0]), np.array([0.0, 0.0, 1.0, 2.0])
DIGITS = {"abs": 1e-6, "rel": 0}


@pytest.mark.parametrize(
    ("loss", "value", "gradient"),
    [
        ("query-rmse", 2.75, [-1.5, 0.5, 2.5, -1.5]),  # CatBoost: √(2.75/4) = .829156
        ("query-cross-entropy", 2.024288, [0.123156, 0.263141, 0.211002, -0.519078]),  # CatBoost: .506072 · 4
        ("unique-softmax", 4.490415, [0.138186, 0.375628, 1.775538, -2.289352]),  # Rax 0.4
        ("soft-zero-one", 1.285832, [0.150170, 0.301606, 0.046442, -0.498217]),  # Rax 0.4
        ("softmax(poly=1)", 3.948009, [0.108120, 0.293899, 0.957001, -1.359020]),  # Rax 0.4
        ("softmax(anchor=1)", 6.886981, 4 * np.exp(SCORES) / (1 + np.exp(SCORES).sum()) - LABELS),
        ("pair-regression", 10 / 2, [-2.0, 0.0, 5.0, -3.0]),
        ("pair-regression(normalise=true)", 2 / 2, [-0.4, 0.0, 1.0, -0.6]),
        ("rank-cosine", 0.081670, [0.0, 0.029881, 0.029881, -0.059761]),
    ],
)
def test_the_figures_of_other_tools(loss, value, gradient):
    got = Loss.parse(loss)(SCORES, LABELS)
    assert got.value == pytest.approx(value, **DIGITS)
    assert got.gradient == pytest.approx(gradient, **DIGITS)


def test_the_constant_of_a_query_makes_its_probabilities_add_up():
    assert constant(SCORES, 1.5) == pytest.approx(-2.160843, **DIGITS)
    for spread in (1.0, 100.0, 1000.0):
        c = constant(spread * SCORES, 1.25)
        assert (1 / (1 + np.exp(-np.clip(spread * SCORES + c, -700, 700)))).sum() == pytest.approx(1.25)


def test_without_its_share_of_the_constant_it_is_the_logistic_loss():
    here, there = QueryCrossEntropy(alpha=0.0)(SCORES, LABELS), Logistic()(SCORES, LABELS)
    assert here.value == pytest.approx(there.value)
    assert here.gradient == pytest.approx(there.gradient)


def test_quantiles_of_one_pair():
    for tau, cost in ((0.9, 0.9 * 2.0), (0.1, 0.1 * 2.0)):
        assert Loss.parse(f"pair-regression(tau={tau},squared=false)")([0.0, 1.0], [1, 0]).value == pytest.approx(cost)


def test_the_scale_of_scores_does_not_change_an_angle():
    assert RankCosine()(7 * SCORES, LABELS).value == pytest.approx(RankCosine()(SCORES, LABELS).value)
    start = RankCosine()(0 * SCORES, LABELS)
    assert start.value == 0.5
    assert start.gradient == pytest.approx(-0.5 * LABELS / math.sqrt(5))


@pytest.mark.parametrize(("weights", "value"), [("exp2", 23.731553), ("log2", 1.703981)])
def test_listmle_with_weights_of_ranks(weights, value):
    loss, labels = Loss.parse(f"listmle(weights={weights})"), np.arange(4.0)
    assert loss(SCORES, labels).value == pytest.approx(value, **DIGITS)
    derivative_is_right(loss, SCORES, LABELS)
    curvature_is_right(loss, SCORES, LABELS)
    equals_reference(loss, SCORES, LABELS, listmle)
    assert loss.rank_distribution() is None
