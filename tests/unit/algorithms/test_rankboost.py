import numpy as np
import pytest

from podium.algorithms import RankBoost
from podium.base.errors import DataError
from podium.data.dataset import Dataset
from podium.solvers import Watch
from podium.testing import linear_data
from reference.algorithms import best_threshold, pairs_of


def with_missing(seed=0):
    data = linear_data(5, 7, seed=seed)
    X = data.features.copy()
    X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
    return Dataset.from_arrays(X, data.labels, group=data.sizes)


def learned(data, **settings):
    learner, watch = RankBoost(**settings), Watch()
    return learner, learner.learn(data, np.random.default_rng(0), watch).params, watch


@pytest.mark.parametrize("seed", range(3))
def test_each_weak_ranker_is_the_best_over_all_pairs_and_thresholds(seed):
    data = with_missing(seed)
    learner, params, _ = learned(data, rounds=6)
    pairs, scores = pairs_of(data.labels, data.offsets), np.zeros(data.n_documents)
    for t in range(6):
        *_, r = best_threshold(data.features, pairs, scores)
        assert abs(params["alpha"][t]) == pytest.approx(0.5 * np.log((1 + abs(r)) / (1 - abs(r))), rel=1e-9)
        x = data.features[:, params["feature"][t]]
        scores += params["alpha"][t] * np.where(np.isnan(x), params["missing"][t], x > params["threshold"][t])
    np.testing.assert_allclose(learner.score(params, data), scores, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("normalise", [False, True])
def test_the_training_loss_falls_every_round_by_the_bound(normalise):
    data = with_missing()
    _, params, watch = learned(data, rounds=60, normalise=normalise)
    values = np.array([1.0, *(step.value for step in watch.history)])
    r = np.tanh(params["alpha"])  # α = ½ ln((1 + r)/(1 − r))
    assert (np.diff(values) < 0).all()
    assert (values[1:] <= values[:-1] * np.sqrt(1 - r**2) * (1 + 1e-9)).all()


def test_missing_values_go_to_the_side_that_is_better():
    X = np.array([[np.nan], [0.0], [1.0], [np.nan], [0.0], [1.0]])
    data = Dataset.from_arrays(X, [2, 1, 0, 2, 1, 0], group=[3, 3])
    learner, params, _ = learned(data, rounds=20)
    scores = learner.score(params, data)
    assert scores[0] > scores[1] > scores[2]


def test_explicit_preferences_say_what_grades_would():
    data = linear_data(5, 7)
    pairs = np.array(pairs_of(data.labels, data.offsets))
    edges = Dataset.from_arrays(data.features, group=data.sizes, preferences=(pairs[:, 0], pairs[:, 1]))
    first, second = learned(data, rounds=10)[1], learned(edges, rounds=10)[1]
    np.testing.assert_array_equal(first["feature"], second["feature"])
    np.testing.assert_allclose(first["alpha"], second["alpha"], rtol=1e-9)


def test_perfectly_ordered_data_ends_with_a_finite_model():
    learner, params, _ = learned(Dataset.from_arrays([[0.0], [1.0]], [0, 1]))
    assert np.isfinite(params["alpha"]).all()
    assert np.diff(learner.score(params, Dataset.from_arrays([[0.0], [1.0]]))) > 0


def test_few_bins_still_tell_the_ends_apart():
    data = linear_data(40, 20)
    learner, params, _ = learned(data, rounds=30, max_bin=4)
    assert all(len(np.unique(params["threshold"][params["feature"] == l])) <= 5 for l in range(3))
    assert np.corrcoef(learner.score(params, data), data.labels)[0, 1] > 0.6


def test_data_without_a_pair_is_refused():
    with pytest.raises(DataError, match="no query has two grades"):
        RankBoost().check(Dataset.from_arrays(np.eye(4), [0, 0, 1, 1], group=[2, 2]))
