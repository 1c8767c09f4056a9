"""Rates that change from epoch to epoch, and gradients that are cut."""

import math

import numpy as np
import pytest

from podium.losses import ListNet
from podium.problem import Problem
from podium.scorers import MLP, Linear
from podium.solvers import SGD, Adam, Watch
from podium.testing import linear_data

DATA = linear_data(12, 6)


def test_rates_follow_their_formulas():
    cosine = SGD(learning_rate=2.0, epochs=10, schedule="cosine")
    assert [cosine.rate(e) for e in (1, 6, 10)] == pytest.approx([2.0, 1.0, 1.0 + math.cos(0.9 * math.pi)])
    step = SGD(learning_rate=2.0, epochs=9, schedule="step")
    assert [step.rate(e) for e in range(1, 10)] == pytest.approx([2.0] * 3 + [0.2] * 3 + [0.02] * 3)
    assert [SGD(learning_rate=2.0, epochs=9, warm_up=3).rate(e) for e in (1, 2, 3, 4, 5)] == [0.5, 1.0, 1.5, 2.0, 2.0]


@pytest.mark.parametrize("scorer", [Linear(), MLP(hidden=(4,)), MLP(hidden=(4,), precision="float64")], ids=repr)
def test_each_epoch_has_its_rate_in_every_loop(scorer):
    """With one epoch of warm-up, the first epoch moves half as far."""
    starts = Problem(ListNet(), scorer, DATA).start(np.random.default_rng(0))
    moved = []
    for warm_up in (0, 1):
        solver = SGD(learning_rate=1e-6, epochs=1, batch=12, warm_up=warm_up)
        solution = solver.solve(Problem(ListNet(), scorer, DATA), np.random.default_rng(0), Watch())
        moved.append(solution.params["theta"] - starts)
    np.testing.assert_allclose(moved[1], moved[0] / 2, rtol=1e-6, atol=1e-15)


@pytest.mark.parametrize("scorer", [Linear(), MLP(hidden=(4,)), MLP(hidden=(4,), precision="float64")], ids=repr)
def test_a_step_is_no_longer_than_the_largest_norm(scorer):
    starts = Problem(ListNet(), scorer, DATA).start(np.random.default_rng(0))
    for norm, expected in ((1e-3, 1e-3), (1e6, None)):
        solver = SGD(learning_rate=1.0, epochs=1, batch=12, most_norm=norm)
        now = solver.solve(Problem(ListNet(), scorer, DATA), np.random.default_rng(0), Watch()).params["theta"]
        free = SGD(learning_rate=1.0, epochs=1, batch=12)
        uncut = free.solve(Problem(ListNet(), scorer, DATA), np.random.default_rng(0), Watch()).params["theta"]
        length = float(np.linalg.norm(now - starts))
        assert length == pytest.approx(expected or float(np.linalg.norm(uncut - starts)), rel=1e-6)
        np.testing.assert_allclose(
            (now - starts) / length, (uncut - starts) / np.linalg.norm(uncut - starts), atol=1e-6
        )


def test_adam_has_schedules_too():
    numbers = []
    for schedule in ("constant", "cosine", "step"):
        solver = Adam(epochs=6, batch=4, schedule=schedule)
        numbers.append(
            solver.solve(Problem(ListNet(), Linear(), DATA), np.random.default_rng(0), Watch()).params["theta"]
        )
    assert len({theta.tobytes() for theta in numbers}) == 3
