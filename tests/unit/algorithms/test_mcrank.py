import lightgbm
import numpy as np
import pytest
from scipy.special import softmax

from podium.algorithms import McRank
from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.solvers import Watch
from podium.testing import linear_data

DATA = linear_data(30, 20, n_features=4)


def learned(learner, data=DATA):
    return learner.learn(data, np.random.default_rng(0), Watch()).params


@pytest.mark.parametrize("ordinal", [False, True])
def test_the_score_is_the_expected_grade(ordinal):
    learner = McRank(ordinal=ordinal, rounds=20)
    params = learned(learner)
    P = learner.probabilities(params, DATA)
    assert P.shape == (600, 3)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(learner.score(params, DATA), P[:, 1] + 2 * P[:, 2], rtol=1e-12)


def test_it_is_the_multiclass_boosting_of_lightgbm():
    learner = McRank(rounds=5, learning_rate=0.1)
    settings = {
        "objective": "multiclass", "num_class": 3, "num_leaves": 10, "min_data_in_leaf": 20, "learning_rate": 0.1,
        "verbosity": -1, "deterministic": True, "force_col_wise": True, "num_threads": 1,
    }  # fmt: skip
    other = lightgbm.train(settings, lightgbm.Dataset(DATA.features, DATA.labels), 5)
    ours = learner.probabilities(learned(learner), DATA)
    np.testing.assert_allclose(ours, softmax(other.predict(DATA.features, raw_score=True), axis=1), atol=1e-6)


@pytest.mark.parametrize("ordinal", [False, True])
def test_probabilities_follow_the_frequency_of_grades(ordinal):
    # One feature of two values; where it is 1 the grades 0, 1, 2 come as 1 : 2 : 7, else as 6 : 3 : 1.
    X = np.repeat([[1.0], [0.0]], 1000, axis=0)
    y = np.concatenate([np.tile([0, 1, 1, *[2] * 7], 100), np.tile([*[0] * 6, 1, 1, 1, 2], 100)])
    data = Dataset.from_arrays(X, y)
    learner = McRank(ordinal=ordinal, rounds=300, learning_rate=0.1)
    P = learner.probabilities(learned(learner, data), data)
    np.testing.assert_allclose(P[[0, -1]], [[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]], atol=0.01)


@pytest.mark.parametrize("ordinal", [False, True])
def test_the_values_of_grades_count_in_the_score_and_not_in_the_trees(ordinal):
    """Labels 0, 1, 4 in place of 0, 1, 2: the same probabilities, and a score of P(1) + 4·P(4)."""
    learner, values = McRank(ordinal=ordinal, rounds=5), np.array([0.0, 1.0, 4.0])
    other = Dataset.from_arrays(DATA.features, values[DATA.labels.astype(int)])
    P = learner.probabilities(learned(learner), DATA)
    np.testing.assert_array_equal(learner.probabilities(learned(learner, other), DATA), P)
    np.testing.assert_allclose(learner.score(learned(learner, other), DATA), P @ values, rtol=1e-12)


def test_the_training_loss_falls_every_round():
    for ordinal in (False, True):
        watch = Watch()
        McRank(ordinal=ordinal, rounds=30).learn(DATA, np.random.default_rng(0), watch)
        values = [step.value for step in watch.history]
        assert len(values) == 30
        assert (np.diff(values) < 0).all()


def test_too_many_grades_are_refused():
    with pytest.raises(IncompatibleError, match="the data has 200 grades"):
        McRank().check(Dataset.from_arrays(np.ones((200, 1)), np.arange(200) / 7))
