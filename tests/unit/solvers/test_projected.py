"""Projected gradient descent: the nearest point of the set, and starts by validation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.base.errors import IncompatibleError
from podium.losses import RankNet, StructRank
from podium.metrics import Metric
from podium.problem import Problem
from podium.scorers import Linear, NadarayaWatson
from podium.solvers import Projected, Watch
from podium.solvers.projected import nearest_within
from podium.testing import linear_data
from reference.quadratic_program import minimum

DATA, VALID = linear_data(12, 6), linear_data(5, 6, seed=1)


def test_a_point_outside_falls_alike_in_all_coordinates():
    np.testing.assert_allclose(nearest_within(np.array([3.0, 1.0, -2.0]), 2.0), [2.0, 0.0, 0.0])
    np.testing.assert_allclose(nearest_within(np.array([3.0, 2.0, 0.5]), 3.0), [2.0, 1.0, 0.0])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-3, 3, width=16), min_size=1, max_size=5), st.floats(0.25, 4, width=16))
def test_no_point_of_the_set_is_nearer(point, bound):
    point = np.array(point)
    got = nearest_within(point, bound)
    assert got.min() >= 0
    assert got.sum() <= bound + 1e-12
    # Half the squared distance, less a constant: ½xᵀx − ⟨point, x⟩ with −x ≤ 0 and Σx ≤ bound.
    eye, n = np.eye(len(point)), len(point)
    nearest, _ = minimum(eye, -point, np.vstack([-eye, np.ones((1, n))]), np.append(np.zeros(n), bound))
    np.testing.assert_allclose(got, nearest, atol=1e-5)


def test_without_a_bound_only_negative_numbers_move():
    np.testing.assert_array_equal(nearest_within(np.array([-1.0, 50.0]), None), [0.0, 50.0])


def test_every_iterate_is_in_the_set():
    found = Projected(epochs=2, bound=1.0, learning_rate=20.0).solve(
        Problem(RankNet(), NadarayaWatson(), DATA), np.random.default_rng(0), Watch()
    )
    assert found.params["theta"][:3].min() >= 0
    assert found.params["theta"][:3].sum() <= 1 + 1e-12


def test_the_weights_of_a_network_are_trained_along():
    found = Projected(epochs=2).solve(
        Problem(StructRank(normalise=True), NadarayaWatson(), DATA), np.random.default_rng(0), Watch()
    )
    assert isinstance(found.loss, StructRank)
    assert found.loss.log_w1 > 0


def test_several_starts_are_judged_by_validation_data():
    watch = Watch(VALID, Metric.parse("ndcg@3"))
    found = Projected(epochs=2, starts=3).solve(
        Problem(RankNet(), NadarayaWatson(), DATA), np.random.default_rng(0), watch
    )
    assert [(step.iteration, step.total) for step in watch.history] == [(i, 6) for i in range(1, 7)]
    assert found.iterations == 6
    assert watch.best.valid == max(step.valid for step in watch.history)


def test_without_validation_data_there_is_one_start():
    watch = Watch()
    Projected(epochs=2, starts=3).solve(Problem(RankNet(), NadarayaWatson(), DATA), np.random.default_rng(0), watch)
    assert [step.iteration for step in watch.history] == [1, 2]


def test_signed_weights_are_refused_with_advice():
    with pytest.raises(IncompatibleError, match=r"at least 0; got linear\. Use solver=lbfgs"):
        Projected().check(RankNet(), Linear())
