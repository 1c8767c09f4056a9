"""SHAP values and interactions of an exported model are those that XGBoost computes from it."""

import numpy as np
import pytest

import podium
from podium.data import make_letor_like
from podium.export import export

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_xgboost_finds_the_same_values_and_interactions_in_an_exported_model(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    data, _ = make_letor_like(60, (8, 14), n_features=6, seed=2)
    model = podium.train(data, "lambdamart(rounds=20,num_leaves=12,min_data_in_leaf=5)")
    export(model, "xgboost", tmp_path / "model.json")
    booster = xgboost.Booster(model_file=str(tmp_path / "model.json"))
    matrix = xgboost.DMatrix(np.asarray(data.features), feature_names=booster.feature_names)
    contributions, pairs = (booster.predict(matrix, **{what: True}) for what in ("pred_contribs", "pred_interactions"))
    parts = podium.shap(model, data)
    assert parts.values == pytest.approx(contributions[:, :-1], abs=1e-5)
    assert parts.base == pytest.approx(contributions[0, -1], abs=1e-5)
    assert podium.shap_interactions(model, data).values == pytest.approx(pairs[:, :-1, :-1], abs=1e-5)
