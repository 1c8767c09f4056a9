import numpy as np
import pytest

from podium import train
from podium.base.errors import DataError
from podium.data.dataset import Dataset
from podium.transforms import Identity, SignedLog, ZScore

X = np.array([[0.0, 9.0], [-9.0, np.nan], [1e30, 2.0], [1e-30, -1.0]], np.float32)
DATA = Dataset.from_arrays(X, [0, 1, 0, 1], group=[4])


def test_logarithms_are_numpys_and_missing_values_stay_missing():
    expected = (np.sign(X) * np.log1p(np.abs(X.astype(np.float64)))).astype(np.float32)
    np.testing.assert_array_equal(SignedLog(of=Identity()).features({}, DATA), expected)


def test_by_default_they_become_z_scores():
    logarithms = SignedLog(of=Identity()).apply({}, DATA)
    expected = ZScore().features(ZScore().fit(logarithms), logarithms)
    np.testing.assert_array_equal(SignedLog().features(SignedLog().fit(DATA), DATA), expected)


@pytest.mark.parametrize("transform", ["signed-log", "clip(low=0.05,high=0.95)", "quantile"])
def test_outliers_leave_the_scores_of_linear_models_finite_and_useful(transform):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 2))
    y = (x[:, 0] > 0.5).astype(int)
    x[::50, 0] = 1e30
    data = Dataset.from_arrays(x, y, group=[20] * 10)
    scores = train(data, method=f"listnet(transform={transform})").score(data)
    assert np.isfinite(scores).all()
    assert scores[y == 1].mean() > scores[y == 0].mean()


def test_infinite_values_are_refused_in_training():
    with pytest.raises(DataError, match="signed-log cannot take"):
        SignedLog().fit(Dataset.from_arrays([[np.inf], [1.0]], [0, 1], group=[2]))
