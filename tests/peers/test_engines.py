"""Exported files in the engines they are for, and imported models beside the libraries that made them.

onnxruntime and XGBoost run what podium wrote; XGBoost and CatBoost predict beside what podium read of their files. The
extras `peers` and `onnx` install them.
"""

import json
from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.export import Target, export, prove
from podium.imports import import_model
from podium.scorers.forest import read_forest
from podium.scorers.splits import sums
from reference.forests import MODELS, D, leaves_of

MODULES = {"onnx": "onnxruntime", "xgboost": "xgboost"}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("name", ["onnx", "onnx(precision=single)", "xgboost"])
def test_the_engine_itself_scores_as_the_model(name, kind):
    target = Target.parse(name)
    pytest.importorskip(MODULES[target.name])
    given = target.accept(MODELS[kind]())
    raw = target.write(given)
    proof = prove(given, raw, target)
    assert proof.engine.startswith("ran in ")
    assert proof.holds
    engine = target.run(raw, proof.rows, given.names).scores
    rounded = given.form.values.astype(np.float32).astype(np.float64)
    if target.single:
        expected = sums(replace(given.form, values=rounded), proof.rows, single=True)
    else:
        expected = proof.scores.astype(np.float32).astype(np.float64)
    assert engine.tobytes() == expected.tobytes(), "to the bit: the float32 sum, or podium's score as float32"


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["31 leaves, nan missing", "threshold infinite", "threshold largest"])
@pytest.mark.parametrize("name", ["onnx", "lightgbm", "c"])
def test_infinite_features_score_as_in_podium_where_that_is_promised(name, kind, value):
    target = Target.parse(name)
    if name == "onnx":
        pytest.importorskip("onnxruntime")
    model = MODELS[kind]()
    given = target.accept(model)
    X = np.zeros((D, D), np.float32)
    np.fill_diagonal(X, value)
    found = target.run(target.write(given), X, given.names).scores
    assert np.array_equal(found, model.score(X).astype(np.float32) if name == "onnx" else model.score(X))


@pytest.fixture(scope="module")
def data():
    return podium.make_letor_like(30, (5, 12), n_features=8, seed=4)[0]


@pytest.mark.parametrize(
    "method", ["listnet", "ranknet(scorer=mlp(hidden=[8,3],activation=relu))", "listnet(scorer=mlp)", "adarank-ndcg"]
)
@pytest.mark.parametrize("name", ["onnx", "c", "python"])
def test_networks_score_as_in_podium_up_to_the_order_of_sums(name, method, data, tmp_path):
    if name == "onnx":
        pytest.importorskip("onnxruntime")
    proof = export(podium.train(data, method), name, tmp_path / "file", data=data)
    assert proof.engine.startswith("ran in ")
    assert proof.holds
    assert proof.seen < 1e-12
    assert proof.orders.changed == proof.orders.tied == 0


def hostile(model, data, seed=0):
    """Real rows, rows at thresholds and beside them, zeros, and gaps."""
    rng = np.random.default_rng(seed)
    forest = read_forest(model.params["trees"], model.n_features, exact="exact" in model.params)
    X = np.asarray(data.features)[rng.integers(0, data.n_documents, 600)].copy()
    for l in range(X.shape[1]):
        cuts = forest.threshold[(forest.feature == l) & (np.abs(forest.threshold) < 1e38)].astype(np.float32)
        near = np.concatenate([cuts, np.nextafter(cuts, np.float32(9e9)), [0.0, -0.0, 1e-45, 1e-36, -1e-36]])
        chosen = rng.random(len(X)) < 0.5
        X[chosen, l] = rng.choice(near.astype(np.float32), int(chosen.sum()))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


XGBOOST = [
    {"objective": "rank:ndcg"},
    {"objective": "rank:pairwise", "booster": "dart", "rate_drop": 0.5},
    {"objective": "reg:squarederror", "base_score": 0.7, "num_parallel_tree": 2, "subsample": 0.5},
    {"objective": "binary:logistic", "max_depth": 12},
]


@pytest.mark.parametrize("form", ["json", "ubj"])
@pytest.mark.parametrize("settings", XGBOOST, ids=lambda settings: settings["objective"])
def test_xgboosts_models_decide_as_in_xgboost(settings, form, data, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    y = (data.labels > 0).astype(float)
    matrix = xgboost.DMatrix(np.where(data.features < -1, np.nan, data.features), y, qid=data.query_index)
    booster = xgboost.train({**settings, "nthread": 1, "seed": 1}, matrix, num_boost_round=12)
    booster.save_model(tmp_path / f"model.{form}")
    model = import_model(tmp_path / f"model.{form}")
    X = hostile(model, data)
    theirs = booster.predict(xgboost.DMatrix(X), output_margin=True)
    forest = read_forest(model.params["trees"], model.n_features, exact=True)
    values = forest.values[leaves_of(forest, X)].astype(np.float32)  # (N, T), each a leaf's value
    has_base = bool(
        forest.first_split[-1] == forest.first_split[-2]
    )  # it is the last tree here, the first number there
    total = values[:, -1].copy() if has_base else np.zeros(len(X), np.float32)
    for column in values.T[: len(values.T) - has_base]:
        total += column
    assert total.tobytes() == theirs.tobytes()
    assert np.abs(theirs - model.score(X)).max() <= 1e-5
    assert model.info["imported"]["format"] == "xgboost"


def test_a_linear_model_of_xgboost_is_read(data, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    matrix = xgboost.DMatrix(data.features, data.labels)
    settings = {"booster": "gblinear", "objective": "reg:squarederror", "nthread": 1, "updater": "coord_descent"}
    booster = xgboost.train(settings, matrix, num_boost_round=5)
    booster.save_model(tmp_path / "model.json")
    found = import_model(tmp_path / "model.json").score(data)
    assert found == pytest.approx(booster.predict(matrix, output_margin=True), abs=1e-5)


def test_trees_up_to_the_best_iteration_are_those_of_xgbranker(data, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    train, valid = podium.split(data, (0.6, 0.4), seed=1)
    ranker = xgboost.XGBRanker(n_estimators=60, early_stopping_rounds=3, n_jobs=1, learning_rate=0.9)
    ranker.fit(train.features, train.labels, qid=train.query_index,
               eval_set=[(valid.features, valid.labels)], eval_qid=[valid.query_index], verbose=False)  # fmt: skip
    ranker.save_model(tmp_path / "model.json")
    best, whole = (import_model(tmp_path / "model.json", trees=trees) for trees in ("best", "all"))
    assert best.score(data) == pytest.approx(ranker.predict(data.features), abs=1e-5)
    assert not np.allclose(best.score(data), whole.score(data))


@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
@pytest.mark.parametrize("policy", ["SymmetricTree", "Lossguide", "Depthwise"])
def test_catboosts_models_score_as_in_catboost_to_the_bit(policy, nan_mode, data, tmp_path):
    catboost = pytest.importorskip("catboost")
    X = np.where(data.features < -0.5, np.nan, data.features)
    model = catboost.CatBoost(
        {"iterations": 15, "loss_function": "RMSE", "grow_policy": policy, "nan_mode": nan_mode, "thread_count": 1,
         "verbose": False, "allow_writing_files": False, "random_seed": 1}
    )  # fmt: skip
    model.fit(catboost.Pool(X, data.labels))
    model.save_model(str(tmp_path / "model.json"), format="json")
    found = import_model(tmp_path / "model.json")
    rows = hostile(found, data)
    theirs = model.predict(catboost.Pool(rows), prediction_type="RawFormulaVal", thread_count=1)
    assert found.score(rows).tobytes() == np.asarray(theirs).tobytes()
    assert json.loads((tmp_path / "model.json").read_text())["model_info"]


def test_an_xgboost_model_is_handed_on_to_onnx(data, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    pytest.importorskip("onnxruntime")
    ranker = xgboost.XGBRanker(n_estimators=10, n_jobs=1).fit(data.features, data.labels, qid=data.query_index)
    ranker.save_model(tmp_path / "model.json")
    proof = export(import_model(tmp_path / "model.json"), "onnx", tmp_path / "model.onnx", data=data)
    assert proof.holds
    assert proof.orders.changed == 0
