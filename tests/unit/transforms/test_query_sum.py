import numpy as np
import pytest

from podium.base.errors import DataError
from podium.data.dataset import Dataset
from podium.transforms import QuerySum


def transformed(X, **queries):
    data = Dataset.from_arrays(X, **queries)
    return QuerySum().features(QuerySum().fit(data), data)


def test_each_feature_is_divided_by_the_sum_of_its_sizes_in_the_query():
    X = np.random.default_rng(0).standard_normal((60, 3)) * [1.0, 1000.0, 1e-3]
    shares = transformed(X, group=[20, 40])
    for rows in (slice(0, 20), slice(20, 60)):
        np.testing.assert_allclose(shares[rows], X[rows] / np.abs(X[rows]).sum(axis=0), rtol=1e-6)


def test_zeros_missing_values_and_single_documents():
    np.testing.assert_allclose(transformed([[0.0, np.nan], [0.0, 1.0], [0.0, 3.0]]), [[0, 0], [0, 0.25], [0, 0.75]])
    np.testing.assert_array_equal(transformed([[7.0, -1.0, 0.0]]), [[1, -1, 0]])


def test_infinite_values_are_refused():
    with pytest.raises(DataError, match="infinite value"):
        transformed([[np.inf], [1.0]])
