import numpy as np
import pytest

from podium.algorithms import GBRank
from podium.algorithms.gbrank import _targets
from podium.data.dataset import Dataset
from podium.scorers import Trees
from podium.solvers import Watch
from podium.testing import linear_data
from reference.algorithms import pairs_of

DATA = linear_data(6, 8)


def brute_force(f, data, normalise):
    target, weight, value = np.zeros(len(f)), np.zeros(len(f)), 0.0
    pairs = pairs_of(data.labels, data.offsets)
    count = np.bincount(data.query_index[[i for i, _ in pairs]], minlength=data.n_queries)
    for i, j in pairs:
        part = 1 / count[data.query_index[i]] if normalise else 1.0
        if f[i] - f[j] < 1:
            target[i] += part * (f[j] + 1)
            target[j] += part * (f[i] - 1)
            weight[[i, j]] += part
            value += part * 0.5 * (1 - f[i] + f[j]) ** 2
    return value, target, weight


@pytest.mark.parametrize("normalise", [False, True])
def test_targets_are_those_of_the_pairs_out_of_order(normalise):
    f = np.random.default_rng(0).standard_normal(DATA.n_documents)
    pairs = np.array(pairs_of(DATA.labels, DATA.offsets))
    edges = Dataset.from_arrays(DATA.features, group=DATA.sizes, preferences=(pairs[:, 0], pairs[:, 1]))
    expected = brute_force(f, DATA, normalise)
    for data in (DATA, edges):
        for got, wanted in zip(_targets(f, data, normalise), expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_an_edge_of_probability_p_is_p_for_it_and_the_rest_against_it():
    data = Dataset.from_arrays(np.eye(2), preferences=([0], [1], [0.8]))
    value, target, weight = _targets(np.array([0.5, 0.0]), data, False)
    assert value == pytest.approx(0.8 * 0.5 * 0.5**2 + 0.2 * 0.5 * 1.5**2)
    np.testing.assert_allclose(target, [0.8 * (0.0 + 1) + 0.2 * (0.0 - 1), 0.8 * (0.5 - 1) + 0.2 * (0.5 + 1)])
    np.testing.assert_allclose(weight, [1.0, 1.0])


def scores(learner, data):
    found = learner.learn(data, np.random.default_rng(0), Watch())
    return Trees().score(found.params, data)


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_more_trees_of_a_round_come_nearer_to_its_targets(rate):
    data = linear_data(30, 20)
    _, target, weight = _targets(np.zeros(data.n_documents), data, False)
    errors = []
    for trees in (1, 10, 100):
        g = scores(GBRank(rounds=1, learning_rate=rate, trees=trees, shrinkage=0.3), data) / rate
        errors.append(np.sum(weight * (g - target / weight) ** 2))
    assert errors[0] > 1.1 * errors[1] > 1.1**2 * errors[2]


def test_a_round_averages_the_old_function_and_the_new_tree():
    data = linear_data(30, 20)
    first, second = (scores(GBRank(rounds=k, learning_rate=0.7, trees=1, shrinkage=1.0), data) for k in (1, 2))
    f_1, f_2 = first / 2, second / 3
    g_2 = (second - first) / 0.7
    np.testing.assert_allclose(f_2, (2 * f_1 + 0.7 * g_2) / 3, rtol=1e-12)
    # The tree's leaves hold the mean targets at f_1, weighted by the pairs.
    _, target, weight = _targets(f_1, data, False)
    for value in np.unique(np.round(g_2, 9)):
        leaf = np.isclose(g_2, value, atol=1e-8)
        assert target[leaf].sum() / weight[leaf].sum() == pytest.approx(value, rel=1e-6)


def test_the_loss_falls():
    watch = Watch()
    GBRank(rounds=60).learn(linear_data(30, 20), np.random.default_rng(0), watch)
    assert watch.history[-1].value < 0.8 * watch.history[0].value
