"""RankNet, the hinges and the exponential: one number each, and their shortcuts against the pair by pair sums."""

import math
import time

import numpy as np
import pytest

from podium.kernels.violations import LONG
from podium.losses import Exponential, FRank, Hinge, RankNet, RankRegress, SquaredHinge

ALL = [RankNet(), RankNet(sigma=2.5), Hinge(), SquaredHinge(), Exponential(), RankRegress(), FRank()]


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (RankNet(), math.log(1 + math.exp(-0.5))),
        (RankNet(sigma=2), math.log(1 + math.exp(-1))),
        (Hinge(), 1 - 0.5),
        (SquaredHinge(), (1 - 0.5) ** 2),
        (Exponential(), math.exp(-0.5)),
        (RankRegress(), (1 - 0.5) ** 2),
        (FRank(), 1 - math.sqrt(1 / (1 + math.exp(-0.5)))),
    ],
    ids=repr,
)
def test_one_pair(loss, expected):
    assert loss([1.5, 1.0], [1, 0]).value == pytest.approx(expected, rel=1e-14)


def test_ranknet_of_a_target_probability_is_the_cross_entropy_of_burges():
    delta, target = 1.5 - 1.0, 0.3
    value = RankNet()([1.5, 1.0], [[0, 1, target]]).value
    assert value == pytest.approx(-target * delta + math.log(1 + math.exp(delta)), rel=1e-14)


def test_an_even_edge_asks_for_equal_scores():
    assert RankNet()([0.7, 0.7], [[0, 1, 0.5]]).gradient == pytest.approx([0, 0], abs=1e-16)


@pytest.mark.parametrize("loss", ALL, ids=repr)
@pytest.mark.parametrize("n", [40, LONG + 50])
@pytest.mark.parametrize("whole", [True, False], ids=["grades", "real labels"])
def test_long_queries_equal_their_edges(loss, n, whole):
    rng = np.random.default_rng(n)
    scores, labels = rng.normal(size=n), rng.integers(0, 5, n) if whole else rng.normal(size=n)
    got, expected = loss(scores, labels), loss(scores, np.argwhere(np.greater.outer(labels, labels)))
    assert got.value == pytest.approx(expected.value, rel=1e-10)
    assert got.gradient == pytest.approx(expected.gradient, rel=1e-9, abs=1e-9)
    assert got.curvature == pytest.approx(expected.curvature, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("loss", ALL, ids=repr)
@pytest.mark.parametrize("width", [60, 190, 210, 290, 310, 2000])
def test_scores_far_apart_equal_their_edges(loss, width):
    rng = np.random.default_rng(3)
    scores, labels = rng.uniform(-width / 2, width / 2, 12), rng.integers(0, 3, 12)
    scores[:2] = -width / 2, width / 2
    got, expected = loss(scores, labels), loss(scores, np.argwhere(np.greater.outer(labels, labels)))
    for field in ("value", "gradient", "curvature"):
        scale = 1 + np.abs(getattr(expected, field)).max()
        assert getattr(got, field) / scale == pytest.approx(getattr(expected, field) / scale, abs=1e-12)


def test_a_perfect_order_never_has_a_negative_loss():
    for width in (1, 10, 40, 100):
        assert RankNet()(width * np.arange(9.0), np.arange(9)).value >= 0


def test_the_exponential_continues_smoothly():
    at = [Exponential()([-x, 0.0], [1, 0]) for x in (300 - 1e-9, 300 + 1e-9)]
    for field in ("value", "gradient", "curvature"):
        assert getattr(at[1], field) == pytest.approx(getattr(at[0], field), rel=1e-7)


def test_hinge_curvature_counts_the_violated_pairs_of_a_document():
    assert Hinge()([0.0, 0.5, 3.0], [1, 0, 0]).curvature.tolist() == [2, 1, 1]
    assert Hinge()([0.0, 0.5, -3.0], [1, 0, 0]).curvature.tolist() == [1, 1, 0]


def test_normalise_divides_by_the_number_of_edges():
    scores, labels = np.array([0.3, -0.2, 1.0, 0.5]), np.array([2, 1, 0, 0])
    for cls in (RankNet, Hinge, SquaredHinge, Exponential, RankRegress, FRank):
        whole, mean = cls()(scores, labels), cls(normalise=True)(scores, labels)
        assert mean.value == pytest.approx(whole.value / 5)
        assert mean.gradient == pytest.approx(whole.gradient / 5)
        assert mean.curvature == pytest.approx(whole.curvature / 5)


def test_a_query_of_many_documents_is_quick_for_the_hinge():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=100_000), rng.integers(0, 5, 100_000)
    Hinge()(scores, labels)
    start = time.process_time()
    Hinge()(scores, labels)
    assert time.process_time() - start < 1.5  # 4 × 10⁹ pairs would take longer
