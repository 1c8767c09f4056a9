"""ListNet and ListMLE over the first k places, and losses that draw anew for every step."""

import math

import numpy as np
import pytest

from podium.data.synthetic import make_letor_like
from podium.losses import ListMLE, ListNet, RankNet, sweep
from podium.methods import method
from podium.problem import Problem
from podium.scorers import Linear
from podium.solvers import SGD, Adam, Watch
from podium.testing import check_loss
from reference.losses import listmle, listnet


@pytest.mark.parametrize("k", [2, 3])
def test_the_first_places_are_exact(k):
    check_loss(ListNet(k=k), reference=listnet)


@pytest.mark.parametrize("loss", [ListMLE(k=1), ListMLE(k=3)], ids=repr)
def test_listmle_keeps_its_promises_over_the_first_places(loss):
    check_loss(loss, reference=listmle)


def test_two_places_worked_by_hand():
    """Of three documents with grades 1, 0, 0: P_y(first, then one of the others) and so on, written out."""
    a, b, c = (math.exp(x) for x in (0.5, -0.2, 0.1))
    total, value = math.e + 2, 0.0
    for (y1, s1), (y2, s2) in (
        ((math.e, a), (1, b)), ((math.e, a), (1, c)), ((1, b), (math.e, a)),
        ((1, b), (1, c)), ((1, c), (math.e, a)), ((1, c), (1, b)),
    ):  # fmt: skip
        value -= y1 / total * y2 / (total - y1) * math.log(s1 / (a + b + c) * s2 / (a + b + c - s1))
    assert ListNet(k=2)([0.5, -0.2, 0.1], [1, 0, 0]).value == pytest.approx(value)


def test_drawn_places_come_near_the_exact_ones():
    """The fourth of four documents is certain, so k = 4, which is drawn, estimates k = 3, which is exact."""
    scores, labels = np.array([0.3, -1.0, 2.0, 0.9]), np.array([2, 0, 1, 1])
    exact, drawn = ListNet(k=3)(scores, labels), ListNet(k=4, samples=20_000)(scores, labels)
    assert drawn.value == pytest.approx(exact.value, abs=0.03)
    assert drawn.gradient == pytest.approx(exact.gradient, abs=0.02)


def test_all_places_are_listmle_in_full():
    scores, labels = np.array([0.3, -1.0, 2.0, 0.9]), np.array([2, 0, 1, 1])
    assert ListMLE(k=4)(scores, labels).value == ListMLE()(scores, labels).value


def test_the_first_place_of_listmle_is_a_softmax():
    assert ListMLE(k=1)([1.0, 0.0, 2.0], [2, 1, 0]).value == pytest.approx(math.log(math.e + 1 + math.exp(2)) - 1)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 40.0, 1e3])
def test_one_document_that_holds_the_whole_sum_loses_no_digits(scale):
    scores, labels = scale * np.array([5.0, 0.1, -0.3, 0.4, -1.0]), np.array([0, 1, 2, 0, 1])
    for k in (2, 3):
        assert ListNet(k=k)(scores, labels).value == pytest.approx(listnet(ListNet(k=k), scores, labels), rel=1e-12)


def test_another_step_has_other_draws_and_the_same_step_the_same():
    loss = ListMLE(samples=1)
    assert loss.resampled(5) == loss.resampled(5) != loss.resampled(6)
    assert RankNet().resampled(5) == RankNet()


def test_stochastic_solvers_draw_anew_and_report_the_loss_they_were_given():
    data, _ = make_letor_like(n_queries=12, seed=3)
    seen = []

    class Spy(Problem):
        def on(self, data, theta, step=None):
            seen.append(step)
            return super().on(data, theta, step)

    found = Adam(epochs=2, batch=5).solve(Spy(ListMLE(), Linear(), data), np.random.default_rng(0), Watch())
    assert seen == [0, 5, 10, 12, 17, 22]
    assert found.loss == ListMLE()


def test_fresh_draws_average_out():
    """The mean gradient over many steps of one tie-break each comes near that of many tie-breaks."""
    data, _ = make_letor_like(n_queries=1, seed=4)
    scores = np.random.default_rng(0).normal(size=data.n_documents)
    mean = np.mean([sweep(ListMLE(samples=1).resampled(t), scores, data).gradient for t in range(2000)], axis=0)
    assert mean == pytest.approx(sweep(ListMLE(samples=5000), scores, data).gradient, abs=0.15)


def test_top_k_is_a_setting_of_the_methods():
    assert method("listnet(k=3)").learner.loss == ListNet(k=3)
    assert isinstance(method("listmle(k=10)").learner.solver, SGD)
