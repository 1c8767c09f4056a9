"""SHAP values of perceptrons: by the definition, and sampled within their errors."""

import itertools

import numpy as np
import pytest

import podium
from podium.explanation import net_shap as module
from podium.explanation.attribution import net_scores
from podium.explanation.net_shap import net_shap
from podium.scorers import MLP

DATA = podium.make_letor_like(12, (4, 7), n_features=5, seed=3)[0]


def network(d, **fields):
    scorer, rng = MLP((6, 4), **fields), np.random.default_rng(1)
    return scorer.form({"theta": 2 * rng.standard_normal(scorer.n_params(d))}, d)


def by_orders(net, x, background, sources, d):
    """The mean over all orders of the features of the change of the mean score when a feature is switched."""
    values = np.zeros(d)
    orders = list(itertools.permutations(range(d)))
    for order in orders:
        now = background.copy()
        for l in order:
            before = net_scores(net, now).mean()
            now[:, sources == l] = x[sources == l]
            values[l] += (net_scores(net, now).mean() - before) / len(orders)
    return values


@pytest.mark.parametrize("fields", [{}, {"activation": "gelu", "layer_norm": True}])
def test_few_features_have_the_mean_change_over_all_orders(fields):
    X, sources = np.random.default_rng(0).standard_normal((7, 5)).astype(np.float32), np.array([0, 1, 2, 2, 3])
    net = network(5, **fields)
    values, base, errors = net_shap(net, X, sources, 4)
    assert errors is None
    for i in (0, 3):
        expected = by_orders(net, X[i].astype(float), X.astype(float), sources, 4)
        np.testing.assert_allclose(values[i], expected, atol=1e-12)
    np.testing.assert_allclose(base + values.sum(axis=1), net_scores(net, X.astype(float)), atol=1e-12)


def test_sampled_values_add_up_and_are_within_their_errors(monkeypatch):
    X, sources, net = np.random.default_rng(0).standard_normal((40, 8)).astype(np.float32), np.arange(8), network(8)
    exact, base, _ = net_shap(net, X, sources, 8)
    monkeypatch.setattr(module, "_FEW", 4)
    sampled, same, errors = net_shap(net, X, sources, 8)
    assert same == base
    np.testing.assert_allclose(base + sampled.sum(axis=1), net_scores(net, X.astype(float)), atol=1e-12)
    away = (sampled - exact) / errors
    assert np.abs(away).max() < 6
    assert 0.5 < away.std() < 1.5


def test_a_feature_that_a_network_ignores_has_none_and_one_that_is_left_out_too():
    scorer = MLP((3,))
    theta = np.random.default_rng(0).standard_normal(scorer.n_params(3))
    next(iter(scorer.layers(theta, 3)))[0][1] = 0.0
    X = np.random.default_rng(1).standard_normal((6, 3)).astype(np.float32)
    values = net_shap(scorer.form({"theta": theta}, 3), X, np.array([0, 1, 3]), 4)[0]
    assert np.abs(values[:, [1, 2]]).max() == 0.0
    assert (np.abs(values[:, [0, 3]]).max(axis=0) > 0.01).all()


def test_a_model_has_them_in_the_order_of_its_rows_and_as_importance():
    model = podium.train(DATA, "listnet(scorer=mlp(hidden=[3]),transform=add-minmax,epochs=3)")
    parts = podium.shap(model, DATA)
    assert parts.values.shape == (DATA.n_documents, 5)
    np.testing.assert_allclose(parts.base + parts.values.sum(axis=1), model.score(DATA), atol=1e-12)
    assert "by all sets of features" in str(parts)
    shares = podium.importance(model, DATA, kind="shap")[0]
    np.testing.assert_allclose(shares, parts.summary / parts.summary.sum())


def test_no_documents_have_no_values():
    values, base, _ = net_shap(network(5), np.empty((0, 5), np.float32), np.arange(5), 5)
    assert values.shape == (0, 5)
    assert base == 0.0
