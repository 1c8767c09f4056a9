"""Exported files in the engines they are for, and imported models beside the libraries that made them.

onnxruntime and XGBoost run what podium wrote; XGBoost and CatBoost predict beside what podium read of their files. The
extras `peers` and `onnx` install them.
"""

import functools
from dataclasses import replace
from shutil import which

import numpy as np
import pytest

import podium
from podium.export import Target, export, prove_file
from podium.export.exported_trees import differences
from podium.export.replay_vectors import vectors
from podium.imports import import_model
from podium.scorers.trees.exact_splits import sums
from podium.scorers.trees.lightgbm_text import read_forest
from reference.forests import FLUSHED, MODELS, D, leaves_of

pytestmark = pytest.mark.slow

ENGINES = {"onnx": "onnxruntime", "onnx(precision=single)": "onnxruntime", "xgboost": "xgboost"}
"""The package of an engine; those not here need none but what podium has, or a compiler."""


def engine_of(name):
    """A target whose engine is here."""
    if name == "c" and not (which("gcc") or which("cc")):
        pytest.skip("no C compiler")
    if name in ENGINES:
        pytest.importorskip(ENGINES[name])
    return Target.parse(name)


def hard_rows(given, target):
    """At every threshold and one float32 on either side, ±0, denormals, gaps, and ±inf where the proof has it."""
    X = vectors(given)
    infinite = np.repeat(X[:D], 2, axis=0)
    infinite[np.arange(2 * D), np.repeat(np.arange(D), 2)] = np.tile(np.array([np.inf, -np.inf], np.float32), D)
    return np.concatenate([X, infinite]) if target.takes_infinite else X


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("name", [*ENGINES, "lightgbm", "c", "python"])
def test_the_engine_itself_scores_as_the_model(name, kind):
    target, model = engine_of(name), MODELS[kind]()
    if name == "lightgbm" and kind in FLUSHED:
        return  # refused: tests/contracts
    given = target.accept(model)
    raw = target.write(given)
    theirs = target.read(raw, given.names)
    assert not [*differences(given.form.forest, theirs.forest, single=target.single, infinite=target.takes_infinite)]
    X = hard_rows(given, target)
    expected = sums(given.form.forest, X, single=True) if target.single else model.score(X)
    if target.rounds_score:
        expected = expected.astype(np.float32).astype(np.float64)
    found = target.run(raw, X, given.names).scores
    assert found.tobytes() == expected.tobytes(), "to the bit: podium's score, it as float32, or the sum in float32"


@pytest.fixture(scope="module")
def data():
    return podium.make_letor_like(30, (5, 12), n_features=8, seed=4)[0]


@pytest.fixture(scope="module")
def trained(data):
    """A model of each method, trained once for all targets; some features are missing."""
    hole = np.arange(8) == np.arange(data.n_documents)[:, None] % 40
    gaps = replace(data, features=np.where(hole, np.float32(np.nan), data.features))
    return functools.cache(lambda method: (podium.train(gaps, method), gaps))


KERNELS = ["ranking-svm-kernel(transform=nystrom(components=20))",
           "listnet(scorer=mlp(hidden=[3]),epochs=3,transform=nystrom(components=9,of=second-order(correlation=0.05)))",
           "listnet(transform=second-order(correlation=0.01,of=nystrom(components=5,of=minmax)))"]  # fmt: skip
NETWORKS = ["listnet", "ranknet(scorer=mlp(hidden=[8,3],activation=relu))", "listnet(scorer=mlp)", "adarank-ndcg",
            "listnet(transform=second-order(correlation=0.05))",
            "listnet(scorer=mlp,epochs=3,transform=second-order(correlation=0.05,of=minmax))",
            "listnet(scorer=mlp,epochs=3,transform=second-order(correlation=0.05,of=add-minmax))"]  # fmt: skip


@pytest.mark.parametrize("method", [*NETWORKS, *KERNELS])
@pytest.mark.parametrize("name", ["onnx", "c", "python"])
def test_networks_score_as_in_podium_up_to_the_order_of_sums(name, method, trained, tmp_path):
    engine_of(name)
    model, data = trained(method)
    proof = export(model, name, tmp_path / "file", data=data)
    assert proof.engine.startswith("ran in ")
    assert proof.holds
    assert proof.bound < (1e-6 if method in KERNELS else 1e-11), "a feature of a kernel may be rounded the other way"
    assert proof.orders.changed == proof.orders.tied == 0
    assert prove_file(model, name, tmp_path / "file", data=data).holds


MIXED_TREES = ["lambdamart(rounds=5,transform=add-minmax)", "rankboost(rounds=15,transform=add-minmax)",
               "lambdamart(rounds=5,transform=second-order(correlation=0.05))",
               "rankboost(rounds=15,transform=second-order(correlation=0.02,of=identity))",
               "lambdamart(rounds=5,transform=second-order(correlation=0.02,of=minmax))"]  # fmt: skip


@pytest.mark.parametrize("method", MIXED_TREES)
@pytest.mark.parametrize("name", ["onnx", "onnx(precision=single)", "c", "python"])
def test_trees_on_transformed_features_decide_as_in_podium(name, method, trained, tmp_path):
    target, (model, data) = engine_of(name), trained(method)
    proof = export(model, name, tmp_path / "file", data=data)
    assert proof.engine.startswith("ran in ")
    assert proof.holds
    assert proof.orders.changed == 0
    given = target.accept(model)
    one = given.form.scores(proof.rows, single=target.single)
    expected = one.astype(np.float32).astype(np.float64) if target.rounds_score else one
    found = target.run((tmp_path / "file").read_bytes(), proof.rows, given.names).scores
    assert found.tobytes() == expected.tobytes(), "to the bit, on both sides of every threshold"
    assert one.tobytes() == proof.scores.tobytes() or target.single, "and what is emulated is podium's"


def hostile(model, data, seed=0):
    """Real rows, rows at thresholds and one float32 on either side, ±0, denormals, and gaps."""
    rng = np.random.default_rng(seed)
    forest = read_forest(model.params["trees"], model.n_features, exact="exact" in model.params)
    X = np.asarray(data.features)[rng.integers(0, data.n_documents, 600)].copy()
    for l in range(X.shape[1]):
        cuts = forest.threshold[(forest.feature == l) & (np.abs(forest.threshold) < 1e38)].astype(np.float32)
        beside = [np.nextafter(cuts, np.float32(side)) for side in (9e9, -9e9)]
        near = np.concatenate([cuts, *beside, [0.0, -0.0, 1e-45, -1e-45, 1e-36, -1e-36]])
        chosen = rng.random(len(X)) < 0.5
        X[chosen, l] = rng.choice(near.astype(np.float32), int(chosen.sum()))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


XGBOOST = [
    {"objective": "rank:ndcg"},
    {"objective": "rank:pairwise", "booster": "dart", "rate_drop": 0.5},
    {"objective": "reg:squarederror", "base_score": 0.7, "num_parallel_tree": 2, "subsample": 0.5},
    {"objective": "binary:logistic", "max_depth": 12},
    {"objective": "rank:map", "gamma": 1e9},  # one leaf
    {"objective": "reg:logistic", "max_depth": 1},
    {"objective": "count:poisson", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0},
    {"objective": "reg:absoluteerror", "max_leaves": 255, "max_depth": 0, "min_child_weight": 0},
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


CATBOOST = {
    "no trees": {"iterations": 1, "depth": 1, "model_size_reg": 0, "l2_leaf_reg": 1e30},
    "2 leaves": {"depth": 1},
    "32 leaves": {"depth": 5},
    "level by level": {"grow_policy": "Depthwise", "depth": 5},
    "31 leaves": {"grow_policy": "Lossguide", "max_leaves": 31, "min_data_in_leaf": 1},
    "255 leaves": {"grow_policy": "Lossguide", "max_leaves": 255, "depth": 16, "min_data_in_leaf": 1},
}


@pytest.mark.parametrize("nan_mode", ["Min", "Max", "Forbidden"])
@pytest.mark.parametrize("kind", CATBOOST)
def test_catboosts_models_score_as_in_catboost_to_the_bit(kind, nan_mode, data, tmp_path):
    catboost = pytest.importorskip("catboost")
    gaps = nan_mode != "Forbidden"
    X = np.where((data.features < -0.5) & gaps, np.nan, data.features)
    model = catboost.CatBoost(
        {"iterations": 8, "loss_function": "RMSE", "nan_mode": nan_mode, "thread_count": 1, "verbose": False,
         "allow_writing_files": False, "random_seed": 1, **CATBOOST[kind]}
    )  # fmt: skip
    model.fit(catboost.Pool(X, data.labels))
    model.save_model(str(tmp_path / "model.json"), format="json")
    found = import_model(tmp_path / "model.json")
    rows = hostile(found, data)
    rows[:8] = np.where(np.eye(8), np.array([[np.inf, -np.inf] * 4], np.float32), rows[:8])
    rows = rows if gaps else np.nan_to_num(rows, nan=0.5, posinf=np.inf, neginf=-np.inf)
    theirs = model.predict(catboost.Pool(rows), prediction_type="RawFormulaVal", thread_count=1)
    assert found.score(rows).tobytes() == np.asarray(theirs).tobytes()


def test_an_xgboost_model_is_handed_on_to_onnx(data, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    pytest.importorskip("onnxruntime")
    ranker = xgboost.XGBRanker(n_estimators=10, n_jobs=1).fit(data.features, data.labels, qid=data.query_index)
    ranker.save_model(tmp_path / "model.json")
    proof = export(import_model(tmp_path / "model.json"), "onnx", tmp_path / "model.onnx", data=data)
    assert proof.holds
    assert proof.orders.changed == 0
