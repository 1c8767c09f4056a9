import numpy as np
import pytest

from podium.base.errors import DataError
from podium.data.dataset import Dataset
from podium.transforms import QueryZScore


def transformed(X, **queries):
    data = Dataset.from_arrays(X, **queries)
    return QueryZScore().features(QueryZScore().fit(data), data)


def test_each_query_has_mean_zero_and_deviation_one():
    X = np.random.default_rng(0).standard_normal((60, 3)) * [1.0, 1000.0, 1e-3] + 5.0
    made = transformed(X, group=[20, 40])
    for part in (made[:20], made[20:]):
        np.testing.assert_allclose(part.mean(axis=0), 0, atol=1e-5)
        np.testing.assert_allclose(part.std(axis=0), 1, atol=1e-3)


def test_constant_and_missing_values_become_zero_and_do_not_count():
    made = transformed([[5.0, np.nan], [5.0, 1.0], [5.0, 3.0]])
    np.testing.assert_allclose(made, [[0, 0], [0, -1], [0, 1]])


def test_a_query_of_one_document_becomes_zero_and_empty_queries_are_passed_over():
    np.testing.assert_array_equal(transformed([[7.0, -1.0]]), [[0, 0]])
    np.testing.assert_allclose(transformed([[1.0], [2.0]], group=[0, 2, 0]), [[-1], [1]])


def test_it_is_affine_on_one_query():
    data = Dataset.from_arrays([[1.0, 4.0], [2.0, np.nan], [6.0, 5.0]])
    centre, scale, missing = QueryZScore().affine({}, data)
    X = np.asarray(data.features, np.float64)
    np.testing.assert_allclose(
        np.where(np.isnan(X), missing, (X - centre) * scale), QueryZScore().features({}, data), atol=1e-6
    )


def test_infinite_values_are_refused():
    with pytest.raises(DataError, match="infinite value"):
        transformed([[np.inf], [1.0]])
