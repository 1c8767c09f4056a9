"""Feature importance by gain, splits, SHAP values and drops of a metric; the command and its page."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import podium
from podium.base.errors import DataError, ParameterError
from podium.cli.main import app
from podium.data import make_letor_like
from podium.formats import write_letor
from podium.scorers.trees.trees import booster
from podium.training import train

DATA = make_letor_like(30, (8, 14), n_features=5, seed=2)[0]


@pytest.fixture(scope="module")
def trees():
    return train(DATA, "lambdamart(rounds=6,num_leaves=6,min_data_in_leaf=5)")


@pytest.mark.parametrize("kind", ["gain", "splits"])
def test_gain_and_splits_of_trees_are_lightgbms_and_need_no_data(trees, kind):
    peer = booster(trees.form().text, 5).feature_importance("split" if kind == "splits" else "gain")
    shares, _ = podium.importance(trees, kind=kind)
    assert shares == pytest.approx(peer / peer.sum())


def test_shap_is_the_mean_size_of_the_values(trees):
    summary = podium.shap(trees, DATA).summary
    shares, how = podium.importance(trees, DATA, kind="shap")
    assert shares == pytest.approx(summary / summary.sum())
    assert how == "mean |SHAP value|"


def test_drop_is_of_any_model_and_repeats_itself():
    model = train(DATA, "listnet(scorer=mlp(hidden=[3]),epochs=10)")
    assert podium.importance(model, DATA) is None
    assert podium.importance(model, DATA, kind="splits") is None
    first, again = (podium.importance(model, DATA, kind="drop") for _ in range(2))
    assert np.array_equal(first[0], again[0])
    assert "30 queries" in first[1]


def test_thresholds_of_stumps_are_counted():
    model = train(DATA, "rankboost(rounds=20)")
    shares, _ = podium.importance(model, kind="splits")
    assert shares == pytest.approx(np.bincount(model.form().feature, minlength=5) / len(model.form().feature))


def test_what_is_missing_is_said(trees):
    with pytest.raises(DataError, match="Give the documents"):
        podium.importance(train(DATA, "listnet"))
    with pytest.raises(DataError, match="documents with labels"):
        podium.importance(trees, np.asarray(DATA.features), kind="drop")
    with pytest.raises(ParameterError, match="kind is one of"):
        podium.importance(trees, kind="weight")


def test_the_command_prints_shares_and_writes_a_page(trees, tmp_path):
    write_letor(DATA, tmp_path / "data.txt")
    trees.save(tmp_path / "model.podium")
    model, data, out = (str(tmp_path / name) for name in ("model.podium", "data.txt", "page.html"))
    run = CliRunner()
    assert "Share: gain of the splits." in run.invoke(app, ["importance", model]).stdout
    printed = run.invoke(app, ["importance", model, data, "--kind", "shap", "--json", "-o", out])
    shares = json.loads(printed.stdout)["features"]
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert (tmp_path / "page.html").read_text().count("<rect") == 5
