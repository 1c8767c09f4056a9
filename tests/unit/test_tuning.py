"""Searches on validation data: where they look, what they keep, and that chance is the seed's."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from podium.base.errors import DataError, MissingPackageError, ParameterError, UnknownNameError
from podium.data.dataset import Dataset
from podium.learner import Learner
from podium.methods import METHODS, Method, method
from podium.metrics import Metric
from podium.recipe import Recipe
from podium.scorers import MLP
from podium.solvers import SGD
from podium.solvers.early_stopping import proved_better
from podium.testing import linear_data
from podium.training import measured, train
from podium.transforms import AddMinMax, Identity
from podium.tuning import Dimension, Grid, Optuna, Tuning, space

DATA, VALID = linear_data(20, 8), linear_data(10, 8, seed=1)
NDCG = Metric.parse("ndcg@10")


def test_the_space_of_a_recipe_is_that_of_its_parts():
    assert space(method("lambdamart")) == {
        "num_leaves": Dimension("scorer", "num_leaves", (4, 64, "log")),
        "min_data_in_leaf": Dimension("scorer", "min_data_in_leaf", (5, 100, "log")),
        "feature_fraction": Dimension("scorer", "feature_fraction", (0.3, 1.0)),
        "max_depth": Dimension("scorer", "max_depth", [None, 3, 5, 8]),
        "extra": Dimension("scorer", "extra", [False, True]),
        "learning_rate": Dimension("solver", "learning_rate", (0.01, 0.3, "log")),
        "penalty": Dimension("solver", "penalty", (0.0, 10.0)),
        "penalty_l1": Dimension("solver", "penalty_l1", (0.0, 10.0)),
        "bagging_fraction": Dimension("solver", "bagging_fraction", (0.4, 1.0)),
    }
    assert list(space(method("softrank"))) == ["sigma", "learning_rate", "penalty"]
    assert list(space(method("svm-map"))) == ["cost"]
    assert space(method("random")) == {}


def test_what_a_specification_names_is_not_searched():
    assert list(space(method("lambdamart(num_leaves=7,learning_rate=0.1)"))) == [
        "min_data_in_leaf",
        "feature_fraction",
        "max_depth",
        "extra",
        "penalty",
        "penalty_l1",
        "bagging_fraction",
    ]
    assert list(space(method("listnet(scorer=mlp(hidden=[3]))"))) == ["activation", "learning_rate", "penalty"]
    assert list(space(method("recipe(loss=listnet,solver=lbfgs(penalty=1.0))"))) == []


@pytest.mark.parametrize("name", METHODS)
def test_every_end_of_a_space_is_a_value_that_the_method_takes(name):
    chosen = method(name)
    for one in space(chosen).values():
        for value in one.where if isinstance(one.where, list) else one.where[:2]:
            changed = one.put(chosen.learner, value)
            assert one.get(changed) == value
            assert one.holds(value)
            assert Learner.parse(repr(changed)) == changed


def test_parameters_of_one_name_are_told_apart_by_their_part(monkeypatch):
    monkeypatch.setattr(
        "podium.tuning.search_space", lambda cls: {"learning_rate": (0.1, 1.0)} if cls in (MLP, SGD) else {}
    )
    assert list(space(Method(Recipe(scorer=MLP(), solver=SGD())))) == ["scorer.learning_rate", "solver.learning_rate"]


def test_optuna_tries_the_methods_own_settings_first_and_says_which_it_chose():
    model = train(DATA, "listnet", valid=VALID, search="optuna(trials=6)")
    trials = model.info["trials"]
    assert len(trials) == 6
    assert trials[0]["penalty"] == METHODS["listnet"].learner.solver.penalty == 0.1
    assert all(1e-4 <= trial["penalty"] <= 10 for trial in trials)
    chosen = trials[model.info["chosen"]]
    assert model.learner.solver.penalty == chosen["penalty"]
    assert model.info["valid"] == chosen["valid"] == measured(model, VALID, NDCG)


def searched(values_of, *, trials=8):
    """Optuna's choice for listnet where each validation query's value is a function of the penalty."""
    made = train(DATA, "listnet", valid=VALID)

    def fit(learner):
        values = np.asarray(values_of(learner.solver.penalty), np.float64)
        return replace(made, learner=learner, info={**made.info, "valid": float(np.nanmean(values))}), values

    return Optuna(trials=trials).run(method("listnet"), fit, seed=0)


def test_a_gain_within_one_standard_error_does_not_move_the_settings():
    def lucky(penalty):  # a mean gain of 0.003, of differences whose standard error is about 0.014
        noise = np.random.default_rng(int(1e9 * penalty)).standard_normal(100)
        return 0.5 + 0.003 * (penalty != 0.1) + 0.1 * (noise - noise.mean())

    model = searched(lucky)
    trials = model.info["trials"]
    assert max(trial["valid"] for trial in trials) > trials[0]["valid"]
    assert model.info["chosen"] == 0
    assert model.learner.solver.penalty == 0.1


def test_a_gain_that_every_query_shows_moves_them_and_no_further_than_it_must():
    def better_above_one(penalty):
        return np.linspace(0.1, 0.9, 50) + 0.05 * (penalty > 1)

    model = searched(better_above_one, trials=15)
    above = [trial["penalty"] for trial in model.info["trials"] if trial["penalty"] > 1]
    assert len(set(above)) > 1
    assert model.learner.solver.penalty == min(above)


def test_the_rule_of_one_standard_error_pairs_queries_and_leaves_out_those_that_do_not_count():
    easy = np.linspace(0.0, 1.0, 30)  # queries differ far more than settings do
    worse = np.where(easy > 0.9, np.nan, easy)
    assert proved_better(easy, worse - 0.01 - 0.001 * easy)
    assert not proved_better(easy, worse - 0.01 * np.cos(50 * easy) - 0.0005)
    assert not proved_better(np.array([0.3]), np.array([0.2]))
    assert not proved_better(easy, easy)


def queries_of_their_own_level(queries, *, seed, scaled=False):
    """Queries whose features have a level of their own, which hides what they say about documents."""
    rng = np.random.default_rng(seed)
    X = rng.random((queries, 12, 3))
    labels = np.digitize(X[..., 0], [0.5, 0.8]).ravel().astype(float)
    X = minmax(X) if scaled else X + 20 * rng.standard_normal((queries, 1, 3))
    return Dataset.from_arrays(X.reshape(-1, 3).astype(np.float32), labels, group=[12] * queries)


def minmax(X):
    low, high = X.min(axis=1, keepdims=True), X.max(axis=1, keepdims=True)
    return (X - low) / (high - low)


TREES = "lambdamart(rounds=20,min_data_in_leaf=5)"


def test_lambdamart_scales_features_within_queries_where_validation_data_proves_it_better():
    data, valid = (queries_of_their_own_level(60, seed=seed) for seed in (1, 2))
    found = train(data, TREES, valid=valid)
    assert found.learner.transform == AddMinMax()
    trials = found.info["trials"]
    assert [trial["transform"] for trial in trials] == ["identity", "add-minmax", "add-minmax"]
    assert found.info["chosen"] == 2
    assert [trial.get("growth") for trial in trials] == [None, None, "mixed"]
    assert trials[2]["valid"] == found.info["valid"] == measured(found, valid, NDCG) > trials[0]["valid"] + 0.1
    named = train(data, "lambdamart(rounds=20,min_data_in_leaf=5,transform=identity)", valid=valid)
    assert len(named.info["trials"]) == 1
    searched = train(data, TREES, valid=valid, search="optuna(trials=2)")
    assert [trial.get("transform") for trial in searched.info["trials"]] == [None, None, "add-minmax"]
    assert searched.learner.transform == AddMinMax()


def test_another_part_that_is_not_proved_better_is_not_taken():
    data, valid = (queries_of_their_own_level(60, seed=seed) for seed in (1, 2))
    found = train(data, TREES, valid=valid.select(np.arange(1)))
    assert [trial["transform"] for trial in found.info["trials"]] == ["identity", "add-minmax", "identity"]
    assert found.learner.transform == Identity()


@pytest.mark.parametrize(("better", "chosen"), [(0.0, Identity()), (0.1, AddMinMax())])
def test_other_parts_are_tried_with_the_learners_own_settings_and_nothing_is_fitted_twice(better, chosen):
    model, fits = train(DATA, "listnet", valid=VALID), []

    def fit(learner):
        fits.append((learner.scorer.num_leaves, learner.transform))
        values = np.linspace(0.1, 0.5, 30) + better * (learner.transform == AddMinMax()) - 0.01 * (fits[-1][0] == 31)
        return replace(model, learner=learner, info={**model.info, "valid": float(values.mean())}), values

    grid = Grid()
    tuned = grid.run(method("lambdaloss-trees"), fit, seed=0)
    assert fits == [(7, Identity()), (7, AddMinMax()), (31, chosen)]
    assert len(fits) == grid.fits(method("lambdaloss-trees"))
    assert (tuned.learner.scorer.num_leaves, tuned.learner.transform) == (7, chosen)
    trials = tuned.info["trials"]
    own = [7, None] if chosen == Identity() else [None, 7]  # the fit of the chosen part is one of the grid's
    assert [trial.get("num_leaves") for trial in trials] == [*own, 31]
    assert len(trials) == len(fits)
    assert trials[tuned.info["chosen"]] == {"num_leaves": 7, "transform": repr(chosen), "valid": tuned.info["valid"]}


@pytest.mark.parametrize("kind", ["scaled", "sparse", "infinite"])
def test_a_transform_that_changes_nothing_or_cannot_take_the_data_is_not_tried(kind):
    data, valid = (queries_of_their_own_level(30, seed=seed, scaled=kind == "scaled") for seed in (1, 2))
    if kind == "sparse":
        data, valid = (one.with_features(scipy.sparse.csr_array(one.features), None) for one in (data, valid))
    if kind == "infinite":
        data.features[3, 1] = np.inf
    found = train(data, TREES, valid=valid)
    assert len(found.info["trials"]) == 1
    assert found.learner.transform == Identity()


def test_distances_are_shares_of_where_the_search_looks():
    assert Dimension(None, "a", (0.01, 1.0, "log")).distance(0.01, 0.1) == pytest.approx(0.5)
    assert Dimension(None, "a", (2, 10)).distance(4, 8) == pytest.approx(0.5)
    assert Dimension(None, "a", ["x", "y"]).distance("x", "y") == 1.0


def test_lists_are_searched_by_the_texts_of_their_values():
    model = train(DATA, "listnet(scorer=mlp,epochs=3)", valid=VALID, search="optuna(trials=4)")
    chosen = model.info["trials"][model.info["chosen"]]
    assert repr(model.learner.scorer) == repr(
        MLP(hidden=tuple(map(int, chosen["hidden"][1:-1].split(","))), activation=chosen["activation"])
    )


def test_the_seed_decides_what_optuna_proposes():
    found = [train(DATA, "listnet", valid=VALID, search=Optuna(trials=5), seed=seed) for seed in (1, 1, 2)]
    one, same, other = ([trial["penalty"] for trial in model.info["trials"]] for model in found)
    assert one == same
    assert one[0] == other[0]
    assert one[1:] != other[1:]


def test_a_method_with_nothing_to_search_has_its_grid_tried():
    chosen = Method(Recipe(), {"penalty": (1e9, 0.01)}, fixed=frozenset({"penalty"}))
    assert Optuna().fits(chosen) == 2
    model = train(DATA, chosen, valid=VALID, search=Optuna())
    assert [trial["penalty"] for trial in model.info["trials"]] == [1e9, 0.01]
    assert "trials" not in train(DATA, "random", valid=VALID, search="optuna").info


def test_settings_that_cannot_be_fitted_are_passed_over_unless_none_can():
    fits = []

    def fit(learner):
        fits.append(learner)
        if len(fits) % 2:
            raise DataError("not this one")
        return train(DATA, learner, valid=VALID), np.zeros(10)

    model = Optuna(trials=6).run(method("listnet"), fit, seed=0)
    assert len(fits) == 6
    assert len(model.info["trials"]) == 3

    def never(learner):
        raise DataError("not this one either")

    with pytest.raises(DataError, match="not this one either"):
        Optuna(trials=2).run(method("listnet"), never, seed=0)


def test_optuna_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingPackageError, match=r"search=optuna needs optuna.*pip install 'podium\[tune\]'"):
        train(DATA, "listnet", valid=VALID, search="optuna")


def test_without_validation_data_nothing_is_searched():
    assert "trials" not in train(DATA, "listnet", search="optuna").info


def test_searches_are_named_as_everything_is():
    assert Tuning.parse("optuna(trials=50)") == Optuna(50)
    with pytest.raises(UnknownNameError, match="Did you mean 'optuna'"):
        Tuning.parse("optunna")
    with pytest.raises(ParameterError, match="trials must be at least 1; got 0"):
        Optuna(trials=0)
