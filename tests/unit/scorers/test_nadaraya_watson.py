"""The Nadaraya–Watson scorer: its definition, what it hides while it learns, what it refuses."""

import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.losses import RankNet, Regression
from podium.methods import method
from podium.model import Model
from podium.problem import Problem, without_ids
from podium.recipe import Recipe
from podium.scorers import NadarayaWatson
from podium.testing import linear_data
from podium.training import train

DATA = linear_data(6, 5)
NUMBERED = without_ids(DATA)
WIDTHS = np.array([0.7, 0.1, 1.5])


def mean_grade(x, widths, rows, grades):
    weights = np.exp(-0.5 * ((x - rows) ** 2 @ widths**2))
    return weights @ grades / weights.sum()


def test_a_score_is_the_mean_grade_of_near_documents():
    X = np.random.default_rng(1).standard_normal((4, 3)).astype(np.float32)
    got = NadarayaWatson().score({"theta": WIDTHS, **NadarayaWatson().reference(NUMBERED)}, Dataset.from_arrays(X))
    expected = [mean_grade(x, WIDTHS, DATA.features, DATA.labels) for x in X]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_while_learning_a_query_does_not_see_its_own_documents():
    problem = Problem(Regression(), NadarayaWatson(), DATA)
    some = problem.data.select([4, 2])
    scores, _ = NadarayaWatson().score_with_pullback(problem.split(WIDTHS)[0], some)
    expected = []
    for q in (4, 2):
        others = np.repeat(np.arange(6) != q, 5)
        rows, grades = DATA.features[others], DATA.labels[others]
        expected += [mean_grade(x, WIDTHS, rows, grades) for x in DATA.features[5 * q : 5 * q + 5]]
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


def test_the_gradient_is_that_of_the_hidden_scores():
    problem, h = Problem(RankNet(), NadarayaWatson(), DATA), 1e-6
    slopes = [(problem(WIDTHS + h * e)[0] - problem(WIDTHS - h * e)[0]) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(problem(WIDTHS)[1], slopes, rtol=1e-5)


def test_features_are_weighed_one_by_one():
    """The gradient is not parallel to the widths, or no feature could gain on another."""
    gradient = Problem(RankNet(), NadarayaWatson(), DATA)(WIDTHS)[1]
    cosine = gradient @ WIDTHS / np.linalg.norm(gradient) / np.linalg.norm(WIDTHS)
    assert abs(cosine) < 0.99


def test_blocks_that_are_not_kept_give_the_same(monkeypatch):
    problem = Problem(RankNet(), NadarayaWatson(), DATA)
    value, gradient = problem(WIDTHS)
    monkeypatch.setattr("podium.scorers.nadaraya_watson._KEEP", 0)
    monkeypatch.setattr("podium.scorers.nadaraya_watson._VALUES", 70)
    again, slopes = problem(WIDTHS)
    assert again == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(slopes, gradient, rtol=1e-10)


def test_documents_far_from_all_others_have_the_grade_of_the_nearest():
    far = np.random.default_rng(2).standard_normal((20, 3)) * 1e3  # where every weight is exp of less than −10⁶
    params = {"theta": 100 * WIDTHS, **NadarayaWatson().reference(NUMBERED)}
    nearest = [np.argmin(((x - DATA.features) ** 2) @ WIDTHS**2) for x in far]
    got = NadarayaWatson().score(params, Dataset.from_arrays(far))
    np.testing.assert_allclose(got, DATA.labels[nearest], atol=1e-6)
    assert len(set(DATA.labels[nearest])) > 1


def test_a_million_documents_are_refused_with_the_memory_they_would_need():
    data = Dataset.from_arrays(np.zeros((10**6, 1)), np.arange(10**6) % 2, group=np.full(1000, 1000))
    with pytest.raises(IncompatibleError, match=r"1,000,000 documents have 8,000 GB .* scorer=linear"):
        train(data, "structrank")


def test_data_that_it_cannot_average_is_refused_in_words():
    bare = Dataset.from_arrays(DATA.features, group=DATA.sizes)
    with pytest.raises(IncompatibleError, match=r"averages grades, but the data has none\. Use data with labels"):
        NadarayaWatson().check(bare)
    with pytest.raises(IncompatibleError, match="only one"):
        NadarayaWatson().check(Dataset.from_arrays(np.zeros((1, 3)), [1]))


def test_in_a_single_query_a_document_does_not_see_itself():
    alone = DATA.select([3])
    problem = Problem(Regression(), NadarayaWatson(), alone)
    scores, _ = NadarayaWatson().score_with_pullback(problem.split(WIDTHS)[0], problem.data)
    others = [np.arange(5) != i for i in range(5)]
    X, y = alone.features, alone.labels
    np.testing.assert_allclose(scores, [mean_grade(X[i], WIDTHS, X[o], y[o]) for i, o in enumerate(others)], rtol=1e-6)


def test_preferences_stand_for_grades():
    """Documents 0 and 1 of the second query: one wins two comparisons of three, the other loses its only one."""
    pairs = ([5, 5, 7, 8], [6, 7, 5, 7], [1.0, 0.9, 1.0, 1.0])
    data = Dataset.from_arrays(DATA.features, DATA.labels, group=DATA.sizes, preferences=pairs)
    grades = NadarayaWatson().reference(without_ids(data))["labels"]
    expected = np.zeros(30)
    expected[[5, 6, 7, 8]] = (1 + 0.8 - 1) / 3, -1, (-0.8 + 1 - 1) / 3, 1
    np.testing.assert_allclose(grades, expected)


def test_a_model_holds_its_reference_documents(tmp_path):
    model = train(DATA, method("structrank(epochs=1)"))
    model.save(tmp_path / "m.podium")
    assert isinstance(model.learner, Recipe)
    np.testing.assert_array_equal(Model.load(tmp_path / "m.podium").score(DATA), model.score(DATA))


def test_many_values_are_found_in_float32_with_the_slopes_of_float64(monkeypatch):
    problem = Problem(RankNet(), NadarayaWatson(), DATA)
    value, gradient = problem(WIDTHS)
    monkeypatch.setattr("podium.scorers.nadaraya_watson._LARGE", 1)
    again, slopes = problem(WIDTHS)
    assert again != value
    assert again == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(slopes, gradient, rtol=1e-4)
