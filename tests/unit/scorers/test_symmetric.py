"""Symmetric trees: compared with the best splits by exhaustive search, and as models of every kind of use."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import podium
from podium.base.errors import IncompatibleError, ParameterError
from podium.data.dataset import Dataset
from podium.ensembles.refitting import refit
from podium.export import export
from podium.scorers import Trees
from podium.scorers.trees.lightgbm_text import read_forest
from podium.scorers.trees.symmetric import Binned, SymmetricGrower
from podium.testing import linear_data

DATA = linear_data(30, 10)


def grower(data, *, depth=2, valid=None, max_bin=63, **more):
    begin = np.zeros(data.n_documents), None if valid is None else np.zeros(valid.n_documents)
    fields = {"documents": 20, "learning_rate": 1.0, "penalty": 0.0, "feature_fraction": 1.0, "seed": 0} | more
    return SymmetricGrower(Binned(data, valid, max_bin=max_bin), depth=depth, start=begin, **fields)


def best_pair(X, g, h):
    """Score Σ G²/(H + λ), first splits alone and then with a second one, by trying all thresholds of all features."""
    pull = 20 * h.mean()
    cuts = [(f, t) for f in range(X.shape[1]) for t in np.unique(X[:, f])[:-1]]
    sides = [X[:, f] > t for f, t in cuts]

    def score(chosen):
        cell = sum((side.astype(int) << k for k, side in enumerate(chosen)), np.zeros(len(X), int))
        return sum(g[cell == c].sum() ** 2 / (h[cell == c].sum() + pull) for c in np.unique(cell))

    first = max(sides, key=lambda side: score([side]))
    return score([first]), max(score([first, side]) for side in sides)


def test_each_level_has_the_split_that_is_best_for_all_its_nodes_together():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 5, (80, 4)).astype(np.float32)
    data = Dataset.from_arrays(X, rng.integers(0, 3, 80).astype(float), group=[80])
    g, h = rng.normal(size=80), rng.uniform(0.5, 2.0, 80)
    for depth, expected in zip((1, 2), best_pair(X, g, h), strict=True):
        trees = grower(data, depth=depth)
        assert trees.grow(lambda _: (g, h))
        forest = read_forest(trees.text(1), 4)
        assert set(forest.feature.tolist()).issubset(range(4))
        assert len(set(forest.feature.tolist())) <= depth
        got = sum(
            g[cell].sum() ** 2 / (h[cell].sum() + 20 * h.mean())
            for value in np.unique(trees.outputs())
            for cell in [trees.outputs() == value]
        )
        assert got == pytest.approx(expected, rel=1e-9)


def test_leaves_are_minus_gradient_over_curvature_with_twenty_documents_more():
    g, h = np.repeat([1.0, -1.0], [40, 60]), np.full(100, 2.0)
    X = np.repeat([[0.0], [1.0]], [40, 60], axis=0).astype(np.float32)
    data = Dataset.from_arrays(X, np.arange(100.0) % 2, group=[100])
    trees = grower(data, depth=6, learning_rate=0.5)
    trees.grow(lambda _: (g, h))
    np.testing.assert_allclose(np.unique(trees.outputs()), [-0.5 * 40 / (80 + 40), 0.5 * 60 / (120 + 40)])
    assert not grower(data).grow(lambda _: (np.zeros(100), h))  # nothing to gain


@pytest.mark.parametrize("max_bin", [2, 7, 255])
def test_outputs_are_those_of_the_written_forest_whatever_the_values(max_bin):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 5)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:20, 0], X[20:40, 0], X[:50, 1], X[50:60, 1] = -np.inf, np.inf, 1e-38, -1e-36
    X[:, 4], X[:150, 3] = np.nan, rng.normal(size=150)  # never seen, and only missing later
    train, valid = (
        Dataset.from_arrays(part, rng.integers(0, 3, len(part)).astype(float), group=[len(part)])
        for part in (X[:150], X[150:])
    )
    trees = grower(train, valid=valid, depth=6, max_bin=max_bin)
    for _ in range(5):
        g, h = rng.normal(size=150), rng.uniform(0.1, 1, 150)
        assert trees.grow(lambda _, g=g, h=h: (g, h))
    params = {"trees": trees.text(5)}
    np.testing.assert_allclose(Trees().score(params, train), trees.outputs(), rtol=1e-12)
    np.testing.assert_allclose(Trees().score(params, valid), trees.valid_outputs(), rtol=1e-12)
    thin = replace(train, features=sparse.csr_array(np.nan_to_num(train.features, posinf=9, neginf=-9)))
    dense = replace(train, features=np.asarray(thin.features.toarray()))
    np.testing.assert_array_equal(Binned(thin, None, max_bin=9).train, Binned(dense, None, max_bin=9).train)


def test_gains_of_a_level_are_what_it_adds_to_the_score():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 5, (80, 4)).astype(np.float32)
    data = Dataset.from_arrays(X, rng.integers(0, 3, 80).astype(float), group=[80])
    g, h = rng.normal(size=80), rng.uniform(0.5, 2.0, 80)
    root = g.sum() ** 2 / (h.sum() + 20 * h.mean())
    first, both = best_pair(X, g, h)
    trees = grower(data, depth=2)
    trees.grow(lambda _: (g, h))
    text = trees.text(1).tobytes().decode()
    gains = [float(x) for x in text.partition("split_gain=")[2].split("\n")[0].split(" ")]
    assert gains[0] == pytest.approx(first - root)
    assert sum(gains[1:]) == pytest.approx(both - first)


def test_features_of_symmetric_trees_have_gains_beside_those_of_other_trees():
    shares = podium.importance(podium.train(DATA, "lambdamart(growth=levels,rounds=5)"), kind="gain")[0]
    assert shares.sum() == pytest.approx(1.0)
    texts = podium.train(DATA, "lambdamart(growth=mixed,rounds=2)").params["trees"].tobytes().decode()
    gains = [line for line in texts.split("\n") if line.startswith("split_gain=")]
    assert len(gains) == 8
    assert all(float(line.partition("=")[2].split(" ")[0]) > 0 for line in gains)


def test_splits_with_an_empty_side_are_not_written():
    trees = grower(DATA, depth=6)
    trees.grow(lambda _: (np.sin(np.arange(300.0)), np.ones(300)))
    forest = read_forest(trees.text(1), DATA.n_features)
    assert forest.cover.min() >= 1
    assert forest.cover.sum() == 300


def test_mixed_growth_is_the_mean_of_its_four_forests():
    mixed = podium.train(DATA, "lambdamart(growth=mixed,rounds=5,bagging_fraction=1)")
    alone = [
        podium.train(DATA, f"lambdamart({growth},rounds=5,bagging_fraction=1)")
        for growth in ("growth=leaves", "growth=leaves,num_leaves=28", "growth=levels,max_depth=4", "growth=levels")
    ]
    np.testing.assert_allclose(mixed.score(DATA), np.mean([model.score(DATA) for model in alone], axis=0), rtol=1e-12)
    assert mixed.info["iterations"] == 20
    assert "mean of 4 forests" in mixed.info["stopped"]


@pytest.mark.parametrize("growth", ["levels", "mixed"])
def test_they_are_saved_explained_and_exported_and_the_same_on_any_threads(growth, tmp_path, monkeypatch):
    spec = f"lambdamart(growth={growth},rounds=8,bagging_fraction=0.8,feature_fraction=0.7)"
    texts = set()
    for threads in ("1", "3"):
        monkeypatch.setenv("PODIUM_THREADS", threads)
        monkeypatch.setattr("podium.scorers.trees.symmetric._WORTH_THREADS", 1)
        model = podium.train(DATA, spec, valid=linear_data(10, 10, seed=4))
        texts.add(model.params["trees"].tobytes())
    assert len(texts) == 1
    model.save(tmp_path / "m.podium")
    np.testing.assert_array_equal(podium.load(tmp_path / "m.podium").score(DATA), model.score(DATA))
    values = podium.shap(model, DATA)
    np.testing.assert_allclose(values.values.sum(axis=1) + values.base, model.score(DATA), rtol=1e-9, atol=1e-12)
    for target in ("python", "xgboost", "elasticsearch-ltr", "lightgbm"):
        assert export(model, target, tmp_path / target, data=DATA).holds
    further = podium.train(DATA, start=model)
    assert further.info["iterations"]
    assert not np.array_equal(further.score(DATA), model.score(DATA))
    with pytest.raises(IncompatibleError, match="growth=leaves"):
        refit(model, DATA)


def test_without_a_feature_to_split_all_scores_are_zero():
    flat = Dataset.from_arrays(np.ones((20, 2), np.float32), np.arange(20.0) % 2, group=[10, 10])
    with pytest.warns(Warning, match="ranks nothing"):
        assert not podium.train(flat, "lambdamart(growth=mixed)").score(flat).any()


@pytest.mark.parametrize(
    "refused",
    [
        "extra=true", "smooth=1", "rising=[1]", "penalty_l1=1", "sample=goss,bagging_fraction=1", "drop=0.1",
        "min_sum_hessian_in_leaf=1",
    ],
)  # fmt: skip
def test_settings_that_they_do_not_know_are_refused_in_words(refused):
    with pytest.raises(IncompatibleError, match="symmetric trees, which do not know"):
        podium.train(DATA, f"lambdamart(growth=levels,{refused})")
    with pytest.raises(ParameterError, match="at most 6"):
        podium.train(DATA, "lambdamart(growth=levels,max_depth=7)")
    with pytest.raises(IncompatibleError, match="symmetric trees of depths 4 and 6; got max_depth=2"):
        podium.train(DATA, "lambdamart(growth=mixed,max_depth=2)")


def test_the_number_of_leaves_is_not_tuned_for_symmetric_trees():
    tuned = podium.train(DATA, "lambdamart(growth=levels,rounds=3)", valid=linear_data(10, 10, seed=4))
    assert "num_leaves" not in tuned.info.get("trials", [{}])[0]


def test_with_validation_data_lambdamart_is_mixed_unless_its_data_or_the_size_of_its_trees_forbid_it():
    valid = linear_data(10, 10, seed=4)
    growths = {
        settings: podium.train(DATA, f"lambdamart(rounds=3{settings})", valid=valid).learner.scorer.growth
        for settings in ("", ",rising=[1]", ",num_leaves=4", ",max_depth=2", ",growth=levels")
    }
    assert list(growths.values()) == ["mixed", "leaves", "leaves", "leaves", "levels"]
    assert podium.train(DATA, "lambdamart(rounds=3)").learner.scorer.growth == "leaves"


def test_on_much_data_lambdamart_grows_single_forests_of_two_sizes(monkeypatch):
    monkeypatch.setattr("podium.scorers.trees.trees.MOST_DOCUMENTS", DATA.n_documents - 1)
    tuned = podium.train(DATA, "lambdamart(rounds=3)", valid=linear_data(10, 10, seed=4))
    assert [trial["num_leaves"] for trial in tuned.info["trials"] if "transform" not in trial] == [7, 31]
    assert tuned.learner.scorer.growth == "leaves"
    with pytest.raises(IncompatibleError, match="four forests, which pays with up to"):
        podium.train(DATA, "lambdamart(growth=mixed)")
