"""SHAP values and interaction values: the definition, sums, rows in order, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import podium
from podium.base.errors import DataError, IncompatibleError, PodiumWarning
from podium.data import Dataset, make_letor_like
from podium.explanation import shap as module
from podium.explanation.tree_shap import leaf_paths, tree_shap
from podium.model import Model
from podium.scorers.forms import TreesForm
from podium.scorers.trees.lightgbm_text import read_forest
from podium.scorers.trees.trees import booster
from podium.training import train
from reference import shap as reference

DATA = make_letor_like(30, (8, 14), n_features=5, seed=2)[0]
TREES = "lambdamart(rounds=6,num_leaves=6,min_data_in_leaf=5)"


@pytest.fixture(scope="module")
def trees() -> Model:
    return train(DATA, TREES)


def with_missing(data: Dataset) -> Dataset:
    X = np.array(data.features)
    X[::3, 0] = np.nan
    X[1::4, 3] = 0.0
    return replace(data, features=X)


def text(model: Model) -> TreesForm:
    form = model.form()
    assert isinstance(form, TreesForm)
    return form


def test_values_of_trees_are_those_of_the_definition(trees):
    peer = booster(text(trees).text, 5)
    values = podium.shap(trees, DATA).values
    for row in (0, 7, 40):
        assert values[row] == pytest.approx(reference.tree_shap(peer, DATA.features[row]), abs=1e-12)


def test_interactions_of_trees_are_those_of_the_definition(trees):
    peer = booster(text(trees).text, 5)
    pairs = podium.shap_interactions(trees, DATA).values
    for row in (0, 7, 40):
        assert pairs[row] == pytest.approx(reference.tree_interactions(peer, DATA.features[row]), abs=1e-12)


def test_rows_of_interactions_add_up_to_shap_values(trees):
    pairs, parts = podium.shap_interactions(trees, DATA), podium.shap(trees, DATA)
    assert pairs.values.sum(axis=2) == pytest.approx(parts.values, abs=1e-12)
    assert np.array_equal(pairs.values, pairs.values.transpose(0, 2, 1))
    assert pairs.base == parts.base


def test_missing_values_go_the_way_of_lightgbm():
    data = with_missing(DATA)
    model = train(data, TREES)
    peer = booster(text(model).text, 5).predict(np.asarray(data.features), pred_contrib=True)
    parts = podium.shap(model, data)
    assert parts.values == pytest.approx(peer[:, :-1], abs=1e-12)
    assert parts.base == pytest.approx(peer[0, -1], abs=1e-12)


@pytest.mark.parametrize("method", [TREES, "listnet", "regression(transform=identity)", "rankboost(rounds=15)"])
def test_base_and_values_add_up_to_the_score(method):
    model = train(DATA, method)
    parts = podium.shap(model, DATA)
    assert parts.base + parts.values.sum(axis=1) == pytest.approx(model.score(DATA), abs=1e-12)


def test_a_feature_that_is_not_kept_has_no_share():
    model = train(DATA, "lambdamart(rounds=6,transform=keep(only=[2,4],of=identity))")
    parts, pairs = podium.shap(model, DATA), podium.shap_interactions(model, DATA)
    assert parts.values.shape == (DATA.n_documents, 5)
    assert not parts.values[:, [0, 2, 4]].any()
    assert pairs.values.sum(axis=2) == pytest.approx(parts.values, abs=1e-12)


def test_values_of_linear_models_are_weights_times_distances_from_the_mean():
    model = train(DATA, "regression(transform=identity)")
    X = np.asarray(DATA.features, np.float64)
    assert podium.shap(model, DATA).values == pytest.approx(model.form().weights * (X - X.mean(axis=0)), abs=1e-9)


def test_sparse_features_and_mixed_rows_are_in_the_order_of_the_data(trees):
    parts = podium.shap(trees, DATA).values
    order = np.random.default_rng(0).permutation(DATA.n_documents)
    X, qid = np.asarray(DATA.features)[order], DATA.query_index[order]
    assert np.array_equal(podium.shap(trees, X, qid=qid).values, parts[order])
    assert np.array_equal(podium.shap(trees, replace(DATA, features=sp.csr_matrix(DATA.features))).values, parts)


def test_a_tree_of_one_leaf_is_all_base():
    with pytest.warns(PodiumWarning, match="the same score"):
        constant = train(DATA, "lambdamart(rounds=2,min_data_in_leaf=10000)")
    parts = podium.shap(constant, DATA)
    assert not parts.values.any()
    assert parts.base == constant.score(DATA)[0]


def test_a_side_that_no_training_document_reached_counts_nothing(trees):
    form = text(trees)
    forest = read_forest(form.text, form.n_features)
    cover = forest.cover.copy()
    cover[0] = 0.0
    values, base = tree_shap(replace(forest, cover=cover), np.asarray(DATA.features))
    assert values.sum(axis=1) + base == pytest.approx(trees.score(DATA), abs=1e-12)


def test_without_counts_every_leaf_holds_as_many_documents(trees):
    forest = read_forest(text(trees).text, 5)
    same = replace(forest, cover=np.ones(len(forest.values)))
    assert np.array_equal(leaf_paths(replace(forest, cover=None)).share, leaf_paths(same).share)


def test_the_summary_is_the_mean_size_and_shows_itself(trees):
    parts = podium.shap(trees, DATA)
    assert parts.summary == pytest.approx(np.abs(parts.values).mean(axis=0))
    assert "mean |value|" in str(parts)
    assert "×" in str(podium.shap_interactions(trees, DATA))


def test_no_documents_have_no_values(trees):
    nothing = podium.shap(trees, DATA.select([]))
    assert nothing.values.shape == (0, 5)
    assert nothing.summary.tolist() == [0.0] * 5


def test_other_models_are_refused_in_words(monkeypatch, trees):
    with pytest.raises(IncompatibleError, match="linear models, stumps, trees and perceptrons"):
        podium.shap(train(DATA, "listnet(scorer=attention(width=2),epochs=1)"), DATA)
    with pytest.raises(IncompatibleError, match="mixes features"):
        podium.shap(train(DATA, "listnet(transform=second-order)"), DATA)
    with pytest.raises(IncompatibleError, match="not made of trees"):
        podium.shap_interactions(train(DATA, "listnet"), DATA)
    monkeypatch.setattr(module, "_MOST", 250)
    with pytest.raises(DataError, match="at most 10 documents"):
        podium.shap_interactions(trees, DATA)
