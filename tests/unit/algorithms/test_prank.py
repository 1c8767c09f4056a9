import numpy as np
import pytest

from podium.algorithms import PRank
from podium.algorithms.prank import _epoch
from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.solvers import Watch
from podium.testing import linear_data
from reference.algorithms import prank_step


def learned(data, **settings):
    learner = PRank(**settings)
    return learner, learner.learn(data, np.random.default_rng(0), Watch()).params


def test_an_epoch_takes_the_steps_of_the_printed_algorithm():
    rng = np.random.default_rng(1)
    X, y, order = rng.standard_normal((50, 3)).astype(np.float32), rng.integers(0, 4, 50), rng.permutation(50)
    w, b, sum_w, sum_b = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    _epoch(X, y, order, w, b, sum_w, sum_b)
    expected_w, expected_b, total = np.zeros(3), np.zeros(3), np.zeros(3)
    for i in order:
        expected_w, expected_b = prank_step(expected_w, expected_b, X[i].astype(float), int(y[i]) + 1)
        total += expected_w
    np.testing.assert_allclose(w, expected_w, rtol=1e-12)
    np.testing.assert_array_equal(b, expected_b)
    np.testing.assert_allclose(sum_w, total, rtol=1e-12)


def test_thresholds_stay_ordered_after_every_document():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((400, 4)).astype(np.float32), rng.integers(0, 6, 400)
    w, b, sum_w, sum_b = np.zeros(4), np.zeros(5), np.zeros(4), np.zeros(5)
    for i in range(400):
        _epoch(X, y, np.array([i]), w, b, sum_w, sum_b)
        assert (np.diff(b) >= 0).all()


@pytest.mark.parametrize("average", [False, True])
def test_it_predicts_the_grades_of_separable_data(average):
    X = np.random.default_rng(3).standard_normal((300, 2))
    utility = X @ [1.0, 2.0]
    keep = np.abs(utility[:, None] - [-1.0, 1.0]).min(axis=1) > 0.3
    data = Dataset.from_arrays(X[keep], np.digitize(utility[keep], [-1.0, 1.0]) * 10 - 5)
    learner, params = learned(data, average=average, epochs=100)
    assert np.mean(learner.grades(params, data) == data.labels) > (0.97 if average else 0.999)


def test_a_grade_is_the_first_whose_threshold_lies_above_the_score():
    params = {"weights": np.ones(1), "thresholds": np.array([0.0, 2.0]), "grades": np.array([1.0, 3.0, 7.0])}
    data = Dataset.from_arrays([[-1.0], [0.0], [1.0], [2.0], [9.0]])
    assert PRank().grades(params, data).tolist() == [1, 3, 3, 7, 7]


def test_query_weights_one_grade_and_preferences_are_refused():
    data = linear_data()
    with pytest.raises(IncompatibleError, match="no query weights"):
        PRank().check(Dataset.from_arrays(data.features, data.labels, query_weights=[2.0]))
    with pytest.raises(DataError, match="at least two grades, but all 48 documents have grade 1"):
        PRank().check(Dataset.from_arrays(data.features, np.ones(48)))
    with pytest.raises(IncompatibleError, match="learns from grades, but the data has only preferences"):
        PRank().check(Dataset.from_arrays(data.features, preferences=([0], [1])))
