"""A data scientist's way: from LGBMRanker and scikit-learn, with the parameters and objects that they know."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import podium
from podium.base.errors import DataError, ParameterError
from podium.sklearn import Ranker

RNG = np.random.default_rng(0)
SIZES = RNG.integers(8, 15, 60)
QID = np.repeat(np.arange(60), SIZES)
X = pd.DataFrame(RNG.normal(size=(len(QID), 5)), columns=[f"f{k}" for k in range(5)])
BRAND = RNG.choice(["hoka", "on", "asics"], len(QID))
Y = np.clip(np.round(X["f0"] + 0.5 * (BRAND == "hoka") + 0.3 * RNG.normal(size=len(QID)) + 1), 0, 3).astype(int)
PARAMETERS = {"n_estimators": 30, "num_leaves": 7, "min_child_samples": 5, "reg_lambda": 1.0, "subsample": 0.8}


def test_the_arguments_of_lgbm_ranker_train_as_good_a_model() -> None:
    last = QID >= 45
    fit: dict[str, Any] = {
        "group": SIZES[:45], "eval_set": [(X[last], Y[last])], "eval_group": [SIZES[45:]], "eval_at": [10],
    }  # fmt: skip
    ranker = Ranker(**PARAMETERS, max_depth=-1, n_jobs=-1, verbose=-1)
    ranker.fit(X[~last], Y[~last], **fit, callbacks=[lightgbm.early_stopping(10, verbose=False)])
    theirs = lightgbm.LGBMRanker(**PARAMETERS, verbose=-1).fit(X[~last], Y[~last], group=SIZES[:45])
    ours, other = (
        podium.evaluate(Y[last], scores, "ndcg@10", group=SIZES[45:]).means()["ndcg@10"].value
        for scores in (ranker.predict(X[last]), theirs.predict(X[last]))
    )
    assert ours > other - 0.03
    assert ranker.score(X[last], Y[last], group=SIZES[45:]) == pytest.approx(ours)


def test_a_column_of_categories_is_named_and_a_pipeline_takes_it() -> None:
    frame = X.assign(brand=BRAND)
    with pytest.raises(DataError, match="brand"):
        Ranker("listnet").fit(frame, Y, qid=QID)
    with sklearn.config_context(enable_metadata_routing=True):
        encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["brand"]), remainder="passthrough")
        ranker = Ranker("listnet").set_fit_request(qid=True).set_score_request(qid=True)
        pipeline = make_pipeline(encoder, ranker).fit(frame, Y, qid=QID)
        assert pipeline.score(frame, Y, qid=QID) > 0.7


@pytest.mark.slow
def test_a_grid_is_searched_with_whole_queries() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = Ranker("lambdamart", rounds=10).set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(ranker, {"num_leaves": [3, 7]}, cv=GroupKFold(3), error_score="raise")
        search.fit(X, Y, qid=QID, groups=QID)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_models_are_saved_pickled_and_imported_with_the_same_bits(tmp_path: Path) -> None:
    ranker = Ranker("lambdamart", **PARAMETERS).fit(X, Y, qid=QID)
    ranker.save(tmp_path / "m.podium")
    for again in (Ranker.load(tmp_path / "m.podium"), pickle.loads(pickle.dumps(ranker))):
        np.testing.assert_array_equal(again.predict(X), ranker.predict(X))
    np.testing.assert_array_equal(podium.load(tmp_path / "m.podium").score(X), ranker.predict(X))
    theirs = lightgbm.LGBMRanker(n_estimators=10, verbose=-1).fit(X, Y, group=SIZES)
    np.testing.assert_array_equal(podium.import_model(theirs).score(X), theirs.predict(X))
    shares = pd.Series(ranker.feature_importances_, ranker.feature_names_in_)
    assert shares.idxmax() == "f0"


@pytest.mark.parametrize("name", ["categorical_feature", "device"])
def test_what_is_not_here_is_said_in_words(name: str) -> None:
    value = {"device": "gpu", "categorical_feature": "0"}[name]
    with pytest.raises(ParameterError, match=f"No parameter '{name}': "):
        Ranker(**{name: value}).fit(X, Y, qid=QID)
