import numpy as np
import pytest

from podium.base.errors import IncompatibleError, ParameterError
from podium.data.dataset import Dataset
from podium.transforms import Clip, Identity, ZScore


def test_values_are_cut_at_quantiles_of_the_training_data():
    X = np.random.default_rng(0).standard_normal((500, 3)).astype(np.float32)
    data = Dataset.from_arrays(X, group=[500])
    low, high = np.quantile(X.astype(np.float64), [0.1, 0.8], axis=0).astype(np.float32)
    transform = Clip(low=0.1, high=0.8, of=Identity())
    np.testing.assert_array_equal(transform.features(transform.fit(data), data), np.clip(X, low, high))


def test_new_outliers_are_cut_too_and_missing_values_become_the_mean_of_cut_values():
    data = Dataset.from_arrays(np.arange(100.0)[:, None], group=[100])
    state = Clip(low=0.0, high=1.0).fit(data)
    new = Dataset.from_arrays([[1e30], [-np.inf], [np.nan], [49.5]], group=[4])
    top = float(ZScore().features(ZScore().fit(data), data).max())
    np.testing.assert_allclose(Clip().features(state, new).ravel(), [top, -top, 0.0, 0.0], atol=1e-6)


def test_a_feature_without_any_value_is_no_trouble():
    data = Dataset.from_arrays([[np.nan, 1.0], [np.nan, 2.0]], group=[2])
    assert Clip().features(Clip().fit(data), data)[:, 0].tolist() == [0.0, 0.0]


def test_bounds_in_the_wrong_order_and_other_features_are_refused():
    with pytest.raises(ParameterError, match=r"low must be less than high; got 0.9 and 0.1"):
        Clip(low=0.9, high=0.1)
    state = Clip().fit(Dataset.from_arrays([[1.0], [2.0]], group=[2]))
    with pytest.raises(IncompatibleError, match="1 features; the data has 2"):
        Clip().features(state, Dataset.from_arrays([[1.0, 2.0]], group=[1]))
