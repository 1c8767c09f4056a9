"""Why one document is above another: shares that add up, and the smallest change that turns a pair round."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import podium
from podium.base.errors import DataError, IncompatibleError
from podium.cli.main import app
from podium.data import Dataset, make_letor_like
from podium.evaluation.details import most_informative_pairs
from podium.explanation.attribution import attribute, deviations, input_gradient
from podium.explanation.explain import Explanation, explain, explain_rows
from podium.explanation.importance import importance
from podium.formats import write_letor
from podium.model import Model
from podium.scorers.trees.trees import booster
from podium.training import train
from reference.shap import tree_shap

DATA = make_letor_like(30, (8, 14), n_features=5, seed=2)[0]
TREES = "(scorer=trees(num_leaves=4,min_data_in_leaf=5),solver=boosting(rounds=8),transform=identity)"
ADDITIVE = [
    "listnet",
    "regression(transform=identity)",
    "pmop-fd",
    "adarank-map",
    "prank",
    "oc-svm",
    "svm-map",
    "permurank",
    "single-feature",
    f"ranknet{TREES}",
    "gbrank(rounds=8,num_leaves=4,min_data_in_leaf=5)",
    "rankboost(rounds=20)",
    "listnet(scorer=mlp(hidden=[4]),epochs=20)",
]


def fitted(method: str, data: Dataset = DATA) -> Model:
    return train(data, method)


def top_two(model: Model, data: Dataset, q: int = 0) -> tuple[int, int]:
    a, b = np.argsort(-model.score(data)[: data.offsets[q + 1]], kind="stable")[:2].tolist()
    return a, b


def changed(model: Model, found: Explanation, value: float, *, feature: int, data: Dataset = DATA) -> Any:
    """The scores of the pair with another value of one feature of its first document."""
    names = [data.document_name(row) for row in range(int(data.offsets[1]))]
    rows = [names.index(name) for name in found.documents]
    X = np.array(data.features)
    X[rows[0], feature] = value
    return model.score(replace(data, features=X))[rows]


@pytest.mark.parametrize("method", ADDITIVE)
def test_shares_add_up_to_the_difference_of_the_scores(method: str) -> None:
    model = fitted(method)
    scores = model.score(DATA)
    for q in (0, 3, 7):
        first = int(DATA.offsets[q])
        found = explain_rows(model, DATA, q, (1, 4))
        assert found is not None
        pair = sorted((scores[first + 1], scores[first + 4]), reverse=True)
        assert found.scores == (pytest.approx(pair[0], abs=1e-9), pytest.approx(pair[1], abs=1e-9))
        assert found.shares.sum() == pytest.approx(found.difference, abs=1e-9)
        assert found.shares.sum() + found.rest == pytest.approx(found.difference, abs=1e-14)


@pytest.mark.parametrize(
    "method", ["listnet", "regression(transform=identity)", "rankboost(rounds=20)", "single-feature"]
)
def test_of_a_sum_over_features_a_share_is_what_exchanging_the_feature_takes_away(method: str) -> None:
    model = fitted(method)
    found = explain_rows(model, DATA, 0, (0, 5))
    assert found is not None
    for l in range(DATA.n_features):
        a, b = changed(model, found, found.values[1, l], feature=l)
        assert found.difference - (a - b) == pytest.approx(found.shares[l], abs=1e-6)


def test_shares_of_trees_are_the_difference_of_shapley_values() -> None:
    model = fitted(f"regression{TREES}")
    X = np.asarray(DATA.features[:2])
    found = attribute(model, X)
    assert found is not None
    trees = booster(model.form().text, model.n_features)
    expected = tree_shap(trees, X[0]) - tree_shap(trees, X[1])
    np.testing.assert_allclose(found.shares, expected, atol=1e-9)
    assert np.abs(expected).max() > 0.01


@pytest.mark.parametrize("layer", ["tanh", "relu", "selu", "gelu", "tanh,layer_norm=true"])
def test_a_perceptron_is_integrated_between_the_documents(layer: str) -> None:
    model = fitted(f"listnet(scorer=mlp(hidden=[5,3],activation={layer}),epochs=30)")
    found = explain_rows(model, DATA, 0, (0, 5))
    assert found is not None
    assert abs(found.rest) < (1e-3 * found.difference if layer in ("relu", "selu") else 1e-8)
    scorer, theta = model.learner.scorer, model.params["theta"]
    x = np.random.default_rng(0).normal(size=(1, DATA.n_features))
    slope = input_gradient(model.form(), x)[0]
    for l, step in enumerate(1e-6 * np.eye(DATA.n_features)):
        numeric = (scorer.score_rows(theta, x + step) - scorer.score_rows(theta, x - step))[0] / 2e-6
        assert slope[l] == pytest.approx(numeric, abs=1e-6)


def test_the_smallest_change_of_a_linear_model_is_where_its_score_crosses() -> None:
    model = fitted("listnet(transform=identity)")
    found = explain_rows(model, DATA, 0, top_two(model, DATA))
    weights = model.form().weights
    assert found is not None
    need = np.abs(found.difference / weights) / deviations(DATA.features)
    assert found.flip is not None
    l = found.flip.feature
    assert l == np.argmin(need)
    assert found.flip.changed == pytest.approx(found.values[0, l] - found.difference / weights[l], rel=1e-4, abs=1e-5)
    assert found.flip.spreads == pytest.approx(need.min(), rel=1e-3)


@pytest.mark.parametrize(
    "method",
    ["listnet", "pmop-fd", f"ranknet{TREES}", "rankboost(rounds=20)", "listnet(scorer=mlp(hidden=[4]),epochs=20)"],
)
def test_the_change_turns_the_pair_round(method: str) -> None:
    model = fitted(method)
    found = explain_rows(model, DATA, 0, top_two(model, DATA))
    assert found is not None
    assert found.flip is not None
    a, b = changed(model, found, found.flip.changed, feature=found.flip.feature)
    assert a < b


def test_no_smaller_change_of_a_single_feature_turns_trees_round() -> None:
    model = fitted(f"ranknet{TREES}")
    scores = model.score(DATA)[: DATA.offsets[1]]
    order = np.argsort(-scores)
    found = explain_rows(model, DATA, 0, (int(order[0]), int(order[3])))
    assert found is not None
    assert found.flip is not None
    spread = deviations(DATA.features)
    for l in range(DATA.n_features):
        reach = 0.999 * found.flip.spreads * spread[l]
        for value in np.linspace(found.values[0, l] - reach, found.values[0, l] + reach, 40):
            a, b = changed(model, found, float(value), feature=l)
            assert a >= b


def test_where_no_change_helps_there_is_none() -> None:
    X = np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 0.0]] * 20)
    data = Dataset.from_arrays(X, [2, 1, 0] * 20, group=[3] * 20)
    model = fitted("rankboost(rounds=1)", data)
    found = explain_rows(model, data, 0, (0, 2))
    assert found is not None
    assert found.flip is None  # with one threshold the documents can only become equal


def test_tied_documents_have_nothing_to_turn_round() -> None:
    data = replace(DATA, features=np.array(DATA.features))
    data.features[1] = data.features[0]
    found = explain_rows(fitted("listnet"), data, 0, (0, 1))
    assert found is not None
    assert found.difference == 0.0
    assert found.flip is None
    assert found.documents[0] == data.document_name(0)


def test_the_order_of_the_documents_and_of_the_features_does_not_matter() -> None:
    names = tuple("abcde")
    data = replace(DATA, feature_names=names)
    model = fitted("listnet", data)
    query, documents = data.query_name(2), tuple(data.document_name(int(data.offsets[2]) + k) for k in (0, 1))
    one = explain(model, data, query=query, documents=documents)
    turned = replace(data, features=np.ascontiguousarray(data.features[:, ::-1]), feature_names=names[::-1])
    other = explain(model, turned, query=query, documents=documents[::-1])
    assert one.to_dict() == other.to_dict()


def test_sparse_features_are_explained_as_dense_ones() -> None:
    model = fitted("regression(transform=identity)")
    sparse = replace(DATA, features=sp.csr_array(DATA.features))
    one, other = (explain_rows(model, data, 1, (0, 3)) for data in (DATA, sparse))
    assert one is not None
    assert other is not None
    np.testing.assert_allclose(one.shares, other.shares)
    np.testing.assert_allclose(deviations(DATA.features), deviations(sparse.features))


def test_importance_is_weight_times_spread_or_gain() -> None:
    model = fitted("listnet")
    X = model.learner.transform.apply(model.state, DATA).features.astype(np.float64)
    weights = model.form().weights
    found = importance(model, DATA)
    assert found is not None
    expected = np.abs(weights) * X.std(axis=0)
    np.testing.assert_allclose(found[0], expected / expected.sum())
    trees = fitted(f"ranknet{TREES}")
    gains = importance(trees, DATA)
    lines = [line for line in bytes(trees.params["trees"]).decode().splitlines() if "=" in line]
    read = {key: " ".join(v for k, _, v in (line.partition("=") for line in lines) if k == key).split() for key in KEYS}
    total = np.bincount(np.array(read["split_feature"], int), np.array(read["split_gain"], float), minlength=5)
    assert gains is not None
    np.testing.assert_allclose(gains[0], total / total.sum(), rtol=1e-4)
    assert importance(fitted("random"), DATA) is None


def test_importance_takes_frames_and_arrays_as_scoring_does() -> None:
    model = fitted("listnet")
    expected = importance(model, DATA)[0]
    rows = np.random.default_rng(0).permutation(DATA.n_documents)
    np.testing.assert_allclose(podium.importance(model, DATA.features[rows])[0], expected, rtol=1e-5)
    np.testing.assert_allclose(podium.importance(model, podium.to_frame(DATA))[0], expected, rtol=1e-5)


KEYS = ("split_feature", "split_gain")


def test_telling_pairs_are_the_costliest_mistake_and_the_best_success_of_the_first_ten() -> None:
    scores = fitted("single-feature").score(DATA)
    best = {-1: (0.0, None), 1: (0.0, None)}
    for q in range(DATA.n_queries):
        first, end = int(DATA.offsets[q]), int(DATA.offsets[q + 1])
        order = sorted(range(first, end), key=lambda row: -scores[row])[:10]
        for i, upper in enumerate(order):
            for j in range(i + 1, len(order)):
                worth = (DATA.labels[upper] - DATA.labels[order[j]]) * (1 / np.log2(i + 2) - 1 / np.log2(j + 2))
                for sign in (-1, 1):
                    if sign * worth > best[sign][0] + 1e-12:
                        best[sign] = sign * worth, (q, upper - first, order[j] - first)
    assert most_informative_pairs(DATA, scores) == [best[-1][1], best[1][1]]


def test_what_cannot_be_explained_is_refused_in_words() -> None:
    model = fitted("listnet")
    query, first, second = DATA.query_name(0), DATA.document_name(0), DATA.document_name(1)
    with pytest.raises(DataError, match="no query 'nowhere'"):
        explain(model, DATA, query="nowhere", documents=(first, second))
    with pytest.raises(DataError, match="no document 'nothing'"):
        explain(model, DATA, query=query, documents=(first, "nothing"))
    with pytest.raises(DataError, match="two different documents"):
        explain(model, DATA, query=query, documents=(first, first))
    twice = replace(DATA, document_ids=np.array([first] * DATA.n_documents, dtype=object))
    with pytest.raises(DataError, match="documents are called"):
        explain(model, twice, query=query, documents=(first, second))
    with pytest.raises(IncompatibleError, match="random with transform=identity cannot be taken apart"):
        explain(fitted("random"), DATA, query=query, documents=(first, second))


@pytest.fixture
def command(tmp_path: Any) -> Callable[..., Any]:
    write_letor(DATA, tmp_path / "data.txt")
    fitted("listnet").save(tmp_path / "listnet.podium")
    where = [str(tmp_path / "listnet.podium"), str(tmp_path / "data.txt")]
    return lambda *words: CliRunner().invoke(app, ["explain", *where, *words])


def test_the_command_prints_shares_that_add_up(command: Callable[..., Any]) -> None:
    words = ["--query", DATA.query_name(0), "--doc", DATA.document_name(0), "--doc", DATA.document_name(1)]
    found = command(*words, "--json")
    made = json.loads(found.stdout)
    total = sum(feature["share"] for feature in made["features"]) + made["others"] + made["rest"]
    assert total == pytest.approx(made["difference"], abs=1e-12)
    text = command(*words).stdout
    assert f"{made['difference']:+.6f}" in text
    assert "To turn the pair round by one feature" in text
    assert f"{made['documents'][0]['document']}: score" in text.splitlines()[0]


def test_the_command_needs_two_documents(command: Callable[..., Any]) -> None:
    found = command("--query", DATA.query_name(0), "--doc", DATA.document_name(0))
    assert found.exit_code == 2
    assert "two documents are needed" in found.stderr
