import numpy as np
import pytest

from podium.base.errors import ParameterError
from podium.data import Dataset
from podium.scorers import MLP, mlp

X = np.array([[1.0, -2.0]], np.float32)
# one hidden unit: weights (2, −1), offset ½; output weight 3, offset −1; W₁x + b₁ = 2·1 + 1·2 + ½
THETA = np.array([2.0, -1.0, 0.5, 3.0, -1.0])


def test_one_hidden_unit_by_hand():
    assert MLP(hidden=(1,)).score_rows(THETA, X)[0] == pytest.approx(3 * np.tanh(4.5) - 1)
    assert MLP(hidden=(1,), activation="relu").score_rows(THETA, X)[0] == pytest.approx(3 * 4.5 - 1)


def test_relu_is_flat_below_zero():
    down = MLP(hidden=(1,), activation="relu").pullback_rows(-THETA, X, np.ones(1))
    np.testing.assert_array_equal(down, [0, 0, 0, 0, 1])


@pytest.mark.parametrize("keep", [0, 10**6])
def test_scores_with_their_pullback_are_both_apart(keep, monkeypatch):
    monkeypatch.setattr(mlp, "_KEEP", keep)
    scorer, rng = MLP(hidden=(4, 3)), np.random.default_rng(0)
    data = Dataset.from_arrays(rng.normal(size=(9000, 5)).astype(np.float32), group=[9000])  # two blocks
    params, g = {"theta": scorer.init(5, rng)}, rng.normal(size=9000)
    scores, pullback = scorer.score_with_pullback(params, data)
    np.testing.assert_array_equal(scores, scorer.score(params, data))
    np.testing.assert_array_equal(pullback(g), scorer.pullback(params, data, g))


def test_weights_start_within_glorots_bound_and_offsets_at_zero():
    scorer = MLP(hidden=(5,))
    start = scorer.init(3, np.random.default_rng(0))
    weights, offsets = start[:15], start[15:20]
    assert np.abs(weights).max() <= np.sqrt(6 / (3 + 5))
    assert np.abs(weights).max() > 0.8 * np.sqrt(6 / (3 + 5))
    np.testing.assert_array_equal(offsets, 0)


def test_offsets_are_not_penalised():
    np.testing.assert_array_equal(MLP(hidden=(2,)).penalised(1), [1, 1, 0, 0, 1, 1, 0])


@pytest.mark.parametrize("hidden", [(), (0,), (3, -1)])
def test_impossible_layers_are_refused_with_advice(hidden):
    with pytest.raises(ParameterError, match=r"at least one hidden layer, e\.g\. \[64,32\]"):
        MLP(hidden=hidden)


def test_layers_must_be_whole_numbers():
    with pytest.raises(ParameterError, match="hidden must be a list, each a whole number"):
        MLP(hidden=(2.5,))
