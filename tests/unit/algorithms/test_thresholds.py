"""Thresholds between grades: the exact minimum of the absolute error, and predicted grades of models."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.algorithms.thresholds import best_thresholds, grade_of
from podium.base.errors import DataError, IncompatibleError, ModelFileError
from podium.data.dataset import Dataset


def error(grades, labels):
    return np.abs(grades - labels).sum()


@pytest.mark.parametrize("seed", range(12))
def test_no_other_thresholds_have_a_smaller_absolute_error(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, 8) / 2.0  # ties
    labels = rng.choice([0.0, 1.0, 4.0], 8)
    learned = best_thresholds(scores, labels)
    grades, edges = np.unique(labels), [*np.unique(scores), 9.0]
    smallest = min(
        error(grade_of(scores, {"grades": grades, "thresholds": np.array(cuts)}), labels)
        for cuts in itertools.combinations_with_replacement(edges, len(grades) - 1)
    )
    assert error(grade_of(scores, learned), labels) == smallest
    assert (np.diff(learned["thresholds"]) >= 0).all()


def test_separated_grades_are_cut_in_the_middle_and_grades_in_disorder_get_one_interval():
    separated = best_thresholds(np.array([5.0, 1.0, 2.0]), np.array([7.0, 0.0, 3.0]))
    assert separated["thresholds"].tolist() == [1.5, 3.5]
    upside_down = best_thresholds(np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 0.0]))
    assert error(grade_of(np.array([1.0, 2.0, 3.0]), upside_down), np.array([2.0, 1.0, 0.0])) == 2.0
    constant = best_thresholds(np.array([1.0, 2.0]), np.array([3.0, 3.0]))
    assert grade_of(np.array([-9.0, 9.0]), constant).tolist() == [3.0, 3.0]


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).normal(size=(120, 3))
    labels = np.digitize(X @ [1.0, 2.0, 0.0], [-1.5, 1.5]) * 2.0  # grades 0, 2, 4
    shuffled = np.random.default_rng(1).permutation(np.repeat(np.arange(12), 10))
    return Dataset.from_arrays(X, labels, qid=shuffled)


@pytest.mark.parametrize("method", ["prank", "oc-svm", "mcrank(min_data_in_leaf=5,rounds=30)"])
def test_methods_of_grades_predict_them_in_the_order_of_the_data(data, method):
    model = podium.train(data, method)
    grades = model.grades(data)
    assert set(grades.tolist()) <= {0.0, 2.0, 4.0}
    assert podium.evaluate_grades(data, grades).accuracy > 0.9


def test_other_methods_say_what_to_do_and_predict_grades_after_it(data, tmp_path):
    model = podium.train(data, "regression")
    with pytest.raises(IncompatibleError, match="with_thresholds"):
        model.grades(data)
    extended = model.with_thresholds(data)
    extended.save(tmp_path / "model.podium")
    grades = podium.load(tmp_path / "model.podium").grades(data)
    np.testing.assert_array_equal(grades, extended.grades(data))
    expected = grade_of(model.score(data), best_thresholds(model.score(data), data.labels))
    np.testing.assert_array_equal(grades, expected)
    np.testing.assert_array_equal(extended.score(data), model.score(data))


def test_thresholds_need_labels(data):
    model = podium.train(data, "regression")
    with pytest.raises(DataError, match="no document has one"):
        model.with_thresholds(Dataset.from_arrays(np.ones((2, 3))))
    judged = model.with_thresholds(replace(Dataset.from_arrays(np.eye(3)), labels=np.array([np.nan, 0.0, 1.0])))
    assert judged.info["thresholds"]["grades"] == [0.0, 1.0]


@pytest.mark.parametrize(
    "record",
    [
        5,
        {},
        {"grades": [10**400], "thresholds": []},
        {"grades": ["x"], "thresholds": []},
        {"grades": [0, 1, 2], "thresholds": [2, 1]},
    ],
)
def test_thresholds_that_are_no_numbers_are_refused_in_words(data, record):
    with pytest.raises(ModelFileError, match="thresholds between grades cannot be read"):
        podium.train(data, "regression").with_info(thresholds=record).grades(data)


def test_grades_are_those_whose_threshold_is_the_first_above():
    rng = np.random.default_rng(3)
    scores, thresholds = rng.integers(0, 9, 200) / 2.0, np.sort(rng.integers(0, 9, 6) / 2.0)
    grades = np.arange(7.0) ** 2
    expected = [grades[next((r for r, b in enumerate(thresholds) if s < b), 6)] for s in scores]
    assert grade_of(scores, {"grades": grades, "thresholds": thresholds}).tolist() == expected


def test_more_grades_than_fit_into_memory_are_refused_with_what_they_would_need():
    with pytest.raises(IncompatibleError, match=r"Thresholds between 30000 grades would need about 14 GB .* Round"):
        best_thresholds(np.arange(30_000.0), np.arange(30_000.0))
