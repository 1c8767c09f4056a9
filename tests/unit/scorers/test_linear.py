import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.scorers import Linear


def test_a_score_is_the_weighted_sum_and_the_offset():
    X = np.array([[1, 2], [3, 4]], np.float32)
    np.testing.assert_allclose(Linear().score_rows(np.array([10.0, 100.0, 0.5]), X), [1 * 10 + 200.5, 30 + 400.5])


def test_it_starts_at_zero_and_the_offset_is_not_penalised():
    np.testing.assert_array_equal(Linear().init(2, np.random.default_rng(0)), [0, 0, 0])
    np.testing.assert_array_equal(Linear().penalised(2), [1, 1, 0])


def test_arithmetic_is_in_float64():
    X = np.array([[1.0, 1e-9]], np.float32)
    assert Linear().score_rows(np.array([1.0, 1.0, 0.0]), X)[0] - 1.0 == pytest.approx(1e-9, rel=1e-6)


@pytest.mark.parametrize("params", [np.zeros(2), np.zeros(400), np.zeros((3, 1)), np.zeros(3, np.float32)])
def test_parameters_of_another_shape_are_refused(params):
    with pytest.raises(IncompatibleError, match="linear over 2 features has 3 parameters of type float64; got"):
        Linear().score({"theta": params}, Dataset.from_arrays(np.zeros((1, 2))))
