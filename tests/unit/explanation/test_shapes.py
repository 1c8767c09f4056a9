"""Shapes: exact ones add up to the scores, others are means of what scores and ranks do; their page and command."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import podium
from podium.base.errors import DataError
from podium.cli.main import app
from podium.data import Dataset, make_letor_like
from podium.explanation.shapes import shapes
from podium.formats import write_letor
from podium.pages.shape_charts import page
from podium.training import train

DATA = make_letor_like(30, (8, 14), n_features=5, seed=2)[0]
OTHER = make_letor_like(20, (8, 14), n_features=5, seed=3)[0]
STUMPS = "lambdamart(num_leaves=2,rounds=30,min_data_in_leaf=5)"


@pytest.mark.parametrize(
    "method",
    [STUMPS, "lambdamart(num_leaves=2,rounds=5,transform=zscore)", "listnet", "regression(transform=identity)",
     "rankboost(rounds=20)", "lambdamart(num_leaves=4,rounds=9,together=[[1],[4]])",
     "listnet(transform=keep(only=[1,4]))", "bagged(of=regression,members=2)"],
)  # fmt: skip
def test_exact_shapes_add_up_to_the_scores_of_any_data(method):
    model = train(DATA, method)
    drawn = shapes(model, DATA)
    assert drawn.exact
    for data in (DATA, OTHER):
        assert drawn.base + drawn.parts(data).sum(axis=1) == pytest.approx(model.score(data), abs=1e-12)
    assert drawn.parts(DATA).mean(axis=0) == pytest.approx(np.zeros(5), abs=1e-12)
    assert drawn.base == pytest.approx(model.score(DATA).mean(), abs=1e-12)


@pytest.mark.parametrize("method", [STUMPS, "rankboost(rounds=20)", "listnet"])
def test_the_drawn_values_are_those_of_the_function(method):
    model = train(DATA, method)
    drawn = shapes(model, DATA)
    parts, X = drawn.parts(DATA), np.asarray(DATA.features)
    for l, shape in enumerate(drawn.shapes):
        assert shape.at[[0, -1]].tolist() == [X[:, l].min(), X[:, l].max()]
        expected = (
            shape.score[np.searchsorted(shape.at, X[:, l], side="left")]
            if shape.steps
            else np.interp(X[:, l], shape.at, shape.score)
        )
        assert expected == pytest.approx(parts[:, l], abs=1e-6)


def test_missing_values_have_a_level_of_their_own():
    X = np.array(DATA.features)
    X[::3, 0] = np.nan
    data = replace(DATA, features=X)
    model = train(data, STUMPS)
    drawn = shapes(model, data)
    assert drawn.base + drawn.parts(data).sum(axis=1) == pytest.approx(model.score(data), abs=1e-12)
    assert drawn.shapes[0].missing == pytest.approx(drawn.parts(data)[0, 0])
    assert drawn.shapes[1].missing is None


def test_partial_dependence_is_the_mean_change_of_score_and_rank():
    data = DATA.select(np.arange(6))
    model = train(DATA, "lambdamart(rounds=6,num_leaves=5,min_data_in_leaf=5)")
    drawn = shapes(model, data)
    assert not drawn.exact
    before = model.score(data)
    for l in (0, 3):
        shape = drawn.shapes[l]
        changes = []
        for row in range(data.n_documents):
            a, b = data.offsets[data.query_index[row] : data.query_index[row] + 2]
            for value in shape.at:
                X = np.array(data.features)
                X[row, l] = value
                after = model.score(replace(data, features=X))
                ranks = [(s[a:b] > s[row]).sum() + (s[a:b] == s[row]).sum() / 2 for s in (after, before)]
                changes.append((after[row] - before[row], ranks[0] - ranks[1]))
        mean = np.array(changes).reshape(data.n_documents, len(shape.at), 2).mean(axis=0)
        assert np.stack([shape.score, shape.rank], axis=1) == pytest.approx(mean, abs=1e-9)


def test_scores_that_depend_on_the_query_are_computed_for_the_whole_query():
    data = DATA.select(np.arange(4))
    model = train(DATA, "listnet(transform=query-zscore)")
    drawn, before = shapes(model, data), model.score(data)
    shape, changes = drawn.shapes[3], []
    for row in range(data.n_documents):
        X = np.array(data.features)
        X[row, 3] = shape.at[-1]
        changes.append(model.score(replace(data, features=X))[row] - before[row])
    assert not drawn.exact
    assert shape.score[-1] == pytest.approx(np.mean(changes), abs=1e-9)


def test_a_constant_feature_and_one_that_is_always_missing_are_flat():
    X = np.array(DATA.features)
    X[:, 1], X[:, 2] = 3.0, np.nan
    data = replace(DATA, features=X)
    for method in (STUMPS, "lambdamart(rounds=4)"):
        drawn = shapes(train(data, method), data)
        assert [drawn.shapes[l].size for l in (1, 2)] == [0.0, 0.0]
        assert "3" not in {shape.feature for shape in drawn.by_size}


@pytest.mark.parametrize("leaves", [2, 4])
def test_categories_are_drawn_one_by_one_with_their_names(leaves):
    rng = np.random.default_rng(0)
    brand = rng.integers(3, size=600)
    X = np.stack([brand, rng.standard_normal(600)], axis=1).astype(np.float32)
    labels = (brand == 1) * 2.0 + (rng.random(600) < 0.3)
    data = Dataset(X, labels, np.arange(61) * 10, categories={0: ("ape", "bee", "cat")})
    shape = shapes(train(data, f"lambdamart(num_leaves={leaves},rounds=5)"), data).shapes[0]
    assert shape.categories == ("ape", "bee", "cat")
    assert shape.at.tolist() == [0.0, 1.0, 2.0]
    assert shape.score.argmax() == 1
    assert "bee" in str(shapes(train(data, f"lambdamart(num_leaves={leaves},rounds=5)"), data))


def test_shapes_without_documents_or_parts_of_means_are_refused():
    model = train(DATA, "lambdamart(rounds=4)")
    with pytest.raises(DataError, match="no document"):
        shapes(model, DATA.select([]))
    with pytest.raises(DataError, match="have no parts"):
        shapes(model, DATA).parts(DATA)


def test_the_page_has_a_chart_for_each_feature_and_escapes_names():
    data = replace(DATA, feature_names=tuple(f"<b>{k}" for k in range(5)))
    drawn = podium.shapes(train(data, "lambdamart(rounds=6,num_leaves=5,min_data_in_leaf=5)"), data)
    html = page(drawn, model="a model")
    assert html.count("<svg") == len(drawn.by_size)
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "towards the first rank" in html


def test_the_command_prints_shapes_and_trees_and_writes_the_page(tmp_path):
    write_letor(DATA, tmp_path / "data.txt")
    train(DATA, STUMPS).save(tmp_path / "model.podium")
    run = CliRunner()
    model, data, out = (str(tmp_path / name) for name in ("model.podium", "data.txt", "shapes.html"))
    printed = run.invoke(app, ["explain", model, data, "--shapes", "-o", out])
    assert "exact: a score is the mean score plus the shapes" in printed.stdout
    assert (tmp_path / "shapes.html").read_text().startswith("<!doctype html>")
    assert json.loads(run.invoke(app, ["explain", model, data, "--shapes", "--json"]).stdout)["exact"] is True
    assert run.invoke(app, ["explain", model, "--trees"]).stdout.startswith("tree 1\n  feature ")
    for wrong, why in (
        (["--shapes"], "documents are needed"),
        ([data, "--shapes", "--trees"], "not several"),
        ([data, "--shapes", "--query", "1"], "pair of documents"),
        (["--trees", "-o", out], "Add --shapes"),
        (["--trees", "--json"], "podium export"),
        ([data], "two documents are needed"),
    ):
        failed = run.invoke(app, ["explain", model, *wrong])
        assert failed.exit_code == 2
        assert why in failed.stderr
