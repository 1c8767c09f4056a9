"""Models in memory: a Booster or ranker of another tool is imported as from its file, and predicts the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from podium.base.errors import ModelFileError, ParameterError
from podium.data import make_letor_like
from podium.imports import import_model

DATA = make_letor_like(30, (5, 9), n_features=4, seed=3)[0].grouped()
X, Y, SIZES, QID = DATA.features, DATA.labels.astype(int), DATA.sizes, DATA.query_index
FRAME = pd.DataFrame(X, columns=["bm25", "price", "age", "clicks"])


def same(model: Any, predicted: Any, *, tolerance: float = 0.0) -> None:
    np.testing.assert_allclose(model.score(X), predicted, rtol=tolerance, atol=tolerance)


def lgbm_ranker(**more: Any) -> Any:
    lightgbm = pytest.importorskip("lightgbm")
    return lightgbm.LGBMRanker(n_estimators=8, min_child_samples=5, num_leaves=5, verbose=-1, n_jobs=1, **more)


def test_a_ranker_and_a_booster_of_lightgbm() -> None:
    ranker = lgbm_ranker().fit(FRAME, Y, group=SIZES)
    for source in (ranker, ranker.booster_):
        model = import_model(source)
        same(model, ranker.predict(FRAME))
        assert model.feature_names == tuple(FRAME.columns)
        assert model.info["imported"]["format"] == "lightgbm"


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_lightgbm_stopped_early_predicts_with_its_best_trees() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    ranker = lgbm_ranker(learning_rate=1.0)
    stop = lightgbm.early_stopping(2, verbose=False)
    held = {"eval_set": [(FRAME.iloc[:60], Y[:60])], "eval_group": [[60]], "eval_at": [2], "callbacks": [stop]}
    ranker.fit(FRAME, Y, group=SIZES, **held)
    assert ranker.best_iteration_ < 8
    same(import_model(ranker), ranker.predict(FRAME))


def test_a_ranker_and_a_booster_of_xgboost(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    ranker = xgboost.XGBRanker(n_estimators=8, max_depth=3, n_jobs=1).fit(FRAME, Y, qid=QID)
    ranker.save_model(tmp_path / "model.json")
    for source in (ranker, ranker.get_booster(), tmp_path / "model.json"):
        same(import_model(source), ranker.predict(FRAME, output_margin=True), tolerance=1e-6)


def test_xgboost_stopped_early_predicts_as_the_object_does() -> None:
    xgboost = pytest.importorskip("xgboost")
    ranker = xgboost.XGBRanker(
        n_estimators=20, max_depth=3, learning_rate=1.0, n_jobs=1, early_stopping_rounds=2, eval_metric="ndcg@2"
    )
    held = slice(int(DATA.offsets[10]))
    ranker.fit(X, Y, qid=QID, eval_set=[(X[held], Y[held])], eval_qid=[QID[held]], verbose=False)
    booster = ranker.get_booster()
    assert ranker.best_iteration + 1 < booster.num_boosted_rounds()
    same(import_model(ranker), ranker.predict(X), tolerance=1e-6)
    everything = booster.predict(xgboost.DMatrix(X), output_margin=True)
    same(import_model(booster), everything, tolerance=1e-6)
    same(import_model(ranker, trees="all"), everything, tolerance=1e-6)
    same(import_model(booster, trees="best"), ranker.predict(X), tolerance=1e-6)


def test_a_ranker_of_catboost() -> None:
    catboost = pytest.importorskip("catboost")
    pool = catboost.Pool(FRAME, Y, group_id=QID)
    for kind, loss in ((catboost.CatBoostRanker, "YetiRank"), (catboost.CatBoost, "QueryRMSE")):
        parameters = {"iterations": 6, "depth": 3, "loss_function": loss, "verbose": False, "thread_count": 1}
        model = kind(parameters) if kind is catboost.CatBoost else kind(**parameters)
        model.fit(pool)
        same(import_model(model), model.predict(FRAME), tolerance=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "RandomForestRegressor(n_estimators=7)", "ExtraTreesRegressor(n_estimators=7)", "DecisionTreeRegressor()",
        "ExtraTreeRegressor()", "GradientBoostingRegressor(n_estimators=7)",
        "GradientBoostingRegressor(n_estimators=7,init='zero',loss='huber')",
    ],
)  # fmt: skip
def test_trees_of_scikit_learn_decide_as_they_do_for_missing_values_too(text: str) -> None:
    import sklearn.ensemble
    import sklearn.tree

    model: Any = eval(text, {**vars(sklearn.tree), **vars(sklearn.ensemble)})
    missing = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    features = X if "Gradient" in text else missing  # gradient boosting refuses missing values
    ours = import_model(model.set_params(random_state=0).fit(features, Y))
    np.testing.assert_allclose(ours.score(features), model.predict(features), rtol=1e-12, atol=1e-14)
    trees = [model] if hasattr(model, "tree_") else np.ravel(model.estimators_)
    edges = np.unique(np.concatenate([tree.tree_.threshold[tree.tree_.feature == 0] for tree in trees]))
    edges = edges[np.isfinite(edges)]  # all values left, and missing ones right
    near = np.repeat(features[:1], 3 * len(edges), axis=0)
    near[:, 0] = np.concatenate([np.nextafter(np.float32(edges), np.float32(way)) for way in (-9e9, 9e9)] + [edges])
    np.testing.assert_allclose(ours.score(near), model.predict(near), rtol=1e-12, atol=1e-14)
    assert ours.info["imported"]["format"] == "scikit-learn"


def test_names_of_scikit_learns_features_are_kept_and_what_is_no_sum_of_trees_is_refused() -> None:
    from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestClassifier
    from sklearn.linear_model import LinearRegression

    forest = ExtraTreesRegressor(3, random_state=0).fit(FRAME, Y)
    assert import_model(forest).feature_names == ("bm25", "price", "age", "clicks")
    with pytest.raises(ParameterError, match="format, trees and n_features are for other models"):
        import_model(forest, format="lightgbm")
    with pytest.raises(ParameterError, match="got RandomForestClassifier"):
        import_model(RandomForestClassifier(3).fit(X, Y))
    with pytest.raises(ModelFileError, match="not fitted"):
        import_model(ExtraTreesRegressor())
    with pytest.raises(ModelFileError, match="several numbers per document"):
        import_model(ExtraTreesRegressor(3).fit(X, np.stack([Y, Y], axis=1)))
    with pytest.raises(ModelFileError, match="on top of another model"):
        import_model(GradientBoostingRegressor(init=LinearRegression(), n_estimators=3).fit(X, Y))


def test_a_model_that_is_not_fitted_is_refused_in_words() -> None:
    xgboost, catboost = pytest.importorskip("xgboost"), pytest.importorskip("catboost")
    for model in (lgbm_ranker(), xgboost.XGBRanker(), catboost.CatBoostRanker()):
        with pytest.raises(ModelFileError, match=f"{type(model).__name__} cannot be written by"):
            import_model(model)


def test_categories_of_a_frame_are_scored_by_their_codes() -> None:
    frame = FRAME.assign(shop=pd.Categorical(["a", "b", "c"] * (len(FRAME) // 3) + ["a"] * (len(FRAME) % 3)))
    ranker = lgbm_ranker(min_data_per_group=1, cat_smooth=1.0)
    ranker.fit(frame[["shop"]], Y, group=SIZES)
    codes = frame["shop"].cat.codes.to_numpy(np.float32)[:, None]
    np.testing.assert_array_equal(import_model(ranker).score(codes), ranker.predict(frame[["shop"]]))


@pytest.mark.parametrize("source", [None, 3, np.zeros(3), FRAME])
def test_anything_else_is_refused(source: object) -> None:
    with pytest.raises(ParameterError, match="a model file, its bytes, a model of LightGBM"):
        import_model(source)
