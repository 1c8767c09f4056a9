"""grade-scale: regressions on each feature and on all, against numpy's least squares."""

import numpy as np
import pytest

import podium
from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.testing.examples import linear_data
from podium.transforms import GradeScale, Identity


def test_each_feature_and_all_together_predict_the_grade_by_least_squares() -> None:
    data, transform = linear_data(20, 10), GradeScale(of=Identity())
    X, y = data.features.astype(np.float64), data.labels
    features = transform.features(transform.fit(data), data)
    for k in range(3):
        slope, level = np.polyfit(X[:, k], y, 1)
        np.testing.assert_allclose(features[:, k], level + slope * X[:, k], atol=1e-5)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    rows, targets = np.vstack([Z, np.sqrt(0.001 * len(Z)) * np.eye(3)]), np.append(y - y.mean(), np.zeros(3))
    weights = np.linalg.lstsq(rows, targets, rcond=None)[0]
    np.testing.assert_allclose(features[:, 3], y.mean() + Z @ weights, atol=1e-5)


def test_a_constant_feature_is_the_mean_grade_and_labels_are_needed() -> None:
    data, transform = Dataset.from_arrays([[1.0, 0.0], [1.0, 2.0]], [0, 3]).grouped(), GradeScale()
    np.testing.assert_allclose(transform.features(transform.fit(data), data)[:, 0], 1.5)
    with pytest.raises(IncompatibleError, match="has no labels"):
        transform.fit(Dataset.from_arrays([[1.0], [2.0]]).grouped())


def test_queries_count_by_their_weights() -> None:
    data = podium.Dataset.from_arrays([[0.0], [1.0], [0.0], [1.0]], [0, 1, 5, 0], group=[2, 2], query_weights=[1, 0])
    transform = GradeScale(of=Identity())
    features = transform.features(transform.fit(data.grouped()), data)
    np.testing.assert_allclose(features[:, 0], [0, 1, 0, 1], atol=1e-6)
