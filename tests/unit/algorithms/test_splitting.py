import numpy as np
import pytest

from podium.algorithms import Splitting
from podium.algorithms.splitting import _epoch, sides
from podium.base.errors import DataError, IncompatibleError, ParameterError
from podium.data.dataset import Dataset
from podium.data.splits import split
from podium.data.synthetic import make_letor_like
from podium.evaluation.evaluate import evaluate
from podium.solvers import Watch
from podium.testing import linear_data
from podium.training import train
from reference.algorithms import splitting_step


def lists(n_lists, n=100, *, noise=0.0, seed=0, w=(1.0, -2.0, 0.5, 0.0)):
    """Lists whose documents have the rank of ⟨w, x⟩ and some noise, as n-best lists have."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_lists * n, len(w)))
    utility = (X @ np.array(w) + noise * rng.standard_normal(len(X))).reshape(n_lists, n)
    ranks = utility.argsort(axis=1).argsort(axis=1)
    return Dataset.from_arrays(X, ranks.ravel(), group=[n] * n_lists)


def sides_of(labels, top=0.1, bottom=0.1):
    return sides(np.array(labels, float), np.array([0, len(labels)]), top, bottom).tolist()


@pytest.mark.parametrize("margin", [0.0, 0.3, 5.0])
def test_an_epoch_takes_the_steps_of_the_algorithm_pair_by_pair(margin):
    data, order = lists(30, 40, noise=1.0), np.random.default_rng(1).permutation(30)
    w, total = np.zeros(4), np.zeros(4)
    expected, expected_total = np.zeros(4), np.zeros(4)
    side = sides(data.labels, data.offsets, 0.1, 0.2)
    for _ in range(3):
        _epoch(data.features, side, data.offsets, order, margin, w, total)
        for q in order:
            rows = slice(data.offsets[q], data.offsets[q + 1])
            expected = splitting_step(expected, data.features[rows].astype(float), data.labels[rows], 4, 8, margin)
            expected_total += expected
    np.testing.assert_allclose(w, expected, rtol=1e-9)
    np.testing.assert_allclose(total, expected_total, rtol=1e-9)


def test_the_best_tenth_is_good_and_the_worst_tenth_bad():
    found = sides_of(range(100))
    assert found == [-1] * 10 + [0] * 80 + [1] * 10


def test_a_list_that_is_short_has_one_good_and_one_bad_document():
    assert sides_of([3, 1, 2]) == [1, -1, 0]
    assert sides_of([1, 2]) == [-1, 1]


def test_from_one_on_top_and_bottom_are_numbers_of_documents():
    labels = np.arange(10.0)
    assert sides_of(labels, top=2, bottom=3) == [-1, -1, -1, 0, 0, 0, 0, 0, 1, 1]
    assert sides_of(labels[:3], top=5, bottom=5) == sides_of(labels[:3], top=3, bottom=3)
    for value in (0.7, 1.5, -1):
        with pytest.raises(ParameterError, match="top must be"):
            Splitting(top=value)


def test_documents_of_the_same_grade_are_on_the_same_side():
    assert sides_of([2, 2, 1, 0, 0, 0]) == [1, 1, 0, -1, -1, -1]
    assert sides_of([1] + [0] * 19) == [1] + [-1] * 19  # the second of two good ones is a bad one
    assert sides_of([1] * 19 + [0]) == [1] * 19 + [-1]
    assert sides_of([2] + [1] * 18 + [0]) == [1] + [0] * 18 + [-1]
    assert sides_of([5, 5, 5]) == [0, 0, 0]


def test_half_and_half_leaves_nobody_out():
    assert sides_of([1, 2, 3, 4], 0.5, 0.5) == [-1, -1, 1, 1]
    assert sides_of([1, 2, 3], 0.5, 0.5) == [-1, 0, 1]  # the one in the middle is both


def test_the_planted_direction_is_found_on_generated_lists():
    data = lists(60, noise=0.5)
    found = Splitting().learn(data, np.random.default_rng(0), Watch()).params["weights"]
    truth = np.array([1.0, -2.0, 0.5, 0.0])
    assert found @ truth / np.linalg.norm(found) / np.linalg.norm(truth) > 0.99


def test_lists_that_can_be_split_are_split_and_learning_ends():
    data = lists(20)
    learned = Splitting(margin=0.0, epochs=500).learn(data, np.random.default_rng(0), Watch())
    assert learned.record["stopped"].startswith("every pair is apart by more than the margin")
    assert learned.record["iterations"] < 500
    assert learned.record["mistakes"] == 0.0


@pytest.mark.slow
def test_it_learns_from_grades_as_letor_has_them():
    data, new = split(make_letor_like(160, seed=3)[0], (0.5, 0.5))
    values = [
        evaluate(new, train(data, name).score(new), "ndcg@10").means()["ndcg@10"].value
        for name in ("splitting", "ranking-svm", "random")
    ]
    assert values[0] > values[1] - 0.03 > values[2] + 0.1


def test_preferences_query_weights_and_lists_of_one_grade_are_refused():
    data = linear_data()
    with pytest.raises(IncompatibleError, match="the best and the worst of each list, but the data has only prefer"):
        Splitting().check(Dataset.from_arrays(data.features, preferences=([0], [1])))
    with pytest.raises(IncompatibleError, match="no query weights"):
        Splitting().check(Dataset.from_arrays(data.features, data.labels, query_weights=[2.0]))
    with pytest.raises(DataError, match="at least two grades, but all 48 documents have grade 1"):
        Splitting().check(Dataset.from_arrays(data.features, np.ones(48)))
    with pytest.raises(DataError, match="no query has two grades"):
        Splitting().check(Dataset.from_arrays(np.eye(4), [0, 0, 1, 1], group=[2, 2]))
