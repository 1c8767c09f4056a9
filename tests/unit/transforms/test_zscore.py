import numpy as np
import pytest
import scipy.sparse as sp

from podium.base.errors import DataError
from podium.data.dataset import Dataset
from podium.transforms import ZScore


def transformed(X, other=None):
    state = ZScore().fit(Dataset.from_arrays(X))
    return ZScore().features(state, Dataset.from_arrays(X if other is None else other))


def test_features_get_mean_zero_and_deviation_one():
    X = np.random.default_rng(0).standard_normal((1000, 3)) * [1, 100, 1e-3] + [5, -300, 1]
    made = transformed(X).astype(np.float64)
    np.testing.assert_allclose(made.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(made.std(axis=0), 1, rtol=1e-4)


def test_new_data_is_measured_by_the_training_data():
    np.testing.assert_allclose(transformed([[0.0], [2.0]], [[3.0]]), [[(3 - 1) / 1]])


@pytest.mark.parametrize("value", [0.0, 5.0, 0.1, 1e30, -1e-30])
@pytest.mark.parametrize("matrix", [np.array, sp.csr_array])
def test_a_constant_feature_becomes_zero(value, matrix):
    X = np.full((777, 1), value)
    made = transformed(matrix(X))
    np.testing.assert_array_equal(made.toarray() if sp.issparse(made) else made, 0)


def test_a_missing_value_becomes_the_mean_of_the_others():
    np.testing.assert_allclose(transformed([[1.0], [3.0], [np.nan]]), [[-1], [1], [0]])


def test_a_feature_that_is_always_missing_becomes_zero():
    np.testing.assert_array_equal(transformed(np.full((4, 1), np.nan)), 0)


def test_sparse_features_are_scaled_and_stay_sparse():
    X = sp.csr_array(np.array([[0.0], [0.0], [3.0], [1.0]]))
    made = transformed(X)
    assert sp.issparse(made)
    np.testing.assert_allclose(made.toarray(), X.toarray() / np.std([0, 0, 3, 1]))


def test_sparse_moments_are_exact_where_float32_sums_are_not():
    X = np.full((200_000, 1), 1000.1, np.float32)
    X[::2] += 1
    scale = ZScore().fit(Dataset.from_arrays(sp.csr_array(X)))["scale"]
    np.testing.assert_allclose(scale, 1 / X.astype(np.float64).std(), rtol=1e-6)


@pytest.mark.parametrize("matrix", [np.array, sp.csr_array])
def test_infinite_features_are_refused_in_words(matrix):
    with pytest.raises(DataError, match="feature 2 holds an infinite value, which zscore cannot take"):
        transformed(matrix([[1.0, 2.0], [0.0, -np.inf]]))
