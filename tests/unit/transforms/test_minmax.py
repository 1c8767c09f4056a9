import numpy as np
import pytest

from podium.base.errors import DataError
from podium.data.dataset import Dataset
from podium.transforms import MinMax


def transformed(X, **queries):
    data = Dataset.from_arrays(X, **queries)
    return MinMax().features(MinMax().fit(data), data)


def test_each_query_fills_its_own_range_from_zero_to_one():
    X = np.random.default_rng(0).standard_normal((60, 3)) * 1000
    made = transformed(X, group=[20, 40])
    for part in (made[:20], made[20:]):
        np.testing.assert_array_equal(part.min(axis=0), 0)
        np.testing.assert_array_equal(part.max(axis=0), 1)


def test_values_between_keep_their_proportion():
    np.testing.assert_allclose(transformed([[2.0], [3.0], [6.0]]), [[0], [0.25], [1]])


def test_constant_and_missing_values_become_zero():
    made = transformed([[5.0, np.nan], [5.0, 1.0], [5.0, 2.0]])
    np.testing.assert_array_equal(made, [[0, 0], [0, 0], [0, 1]])


def test_a_query_of_one_document_becomes_zero():
    np.testing.assert_array_equal(transformed([[7.0, -1.0]]), [[0, 0]])


def test_empty_queries_are_passed_over():
    np.testing.assert_array_equal(transformed([[1.0], [2.0]], group=[0, 2, 0]), [[0], [1]])


def test_the_largest_floats_do_not_overflow():
    largest = np.finfo(np.float32).max
    np.testing.assert_allclose(transformed([[-largest], [0.0], [largest]]), [[0], [0.5], [1]])


def test_infinite_features_are_refused_in_words():
    with pytest.raises(DataError, match="feature 1 holds an infinite value, which minmax cannot take"):
        transformed([[np.inf], [1.0]])
