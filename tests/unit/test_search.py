"""Searches on validation data: where they look, what they keep, and that chance is the seed's."""

import sys

import pytest

from podium.errors import DataError, MissingPackageError, ParameterError, UnknownNameError
from podium.learner import Learner
from podium.methods import METHODS, Method, method
from podium.metrics import Metric
from podium.recipe import Recipe
from podium.scorers import MLP
from podium.search import Dimension, Optuna, Search, space
from podium.solvers import SGD
from podium.testing import linear_data
from podium.training import measured, train

DATA, VALID = linear_data(20, 8), linear_data(10, 8, seed=1)
NDCG = Metric.parse("ndcg@10")


def test_the_space_of_a_recipe_is_that_of_its_parts():
    assert space(method("lambdamart")) == {
        "num_leaves": Dimension("scorer", "num_leaves", (4, 64, "log")),
        "min_data_in_leaf": Dimension("scorer", "min_data_in_leaf", (5, 100, "log")),
        "features": Dimension("scorer", "features", (0.3, 1.0)),
        "learning_rate": Dimension("solver", "learning_rate", (0.01, 0.3, "log")),
        "penalty": Dimension("solver", "penalty", (0.0, 10.0)),
    }
    assert list(space(method("softrank"))) == ["sigma", "learning_rate", "penalty"]
    assert list(space(method("svm-map"))) == ["cost"]
    assert space(method("random")) == {}


def test_what_a_specification_names_is_not_searched():
    assert list(space(method("lambdamart(num_leaves=7,learning_rate=0.1)"))) == [
        "min_data_in_leaf",
        "features",
        "penalty",
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
        "podium.search.search_space", lambda cls: {"learning_rate": (0.1, 1.0)} if cls in (MLP, SGD) else {}
    )
    assert list(space(Method(Recipe(scorer=MLP(), solver=SGD())))) == ["scorer.learning_rate", "solver.learning_rate"]


def test_optuna_tries_the_methods_own_settings_first_and_keeps_the_best():
    model = train(DATA, "listnet", valid=VALID, search="optuna(trials=6)")
    trials = model.info["trials"]
    assert len(trials) == 6
    assert trials[0]["penalty"] == METHODS["listnet"].learner.solver.penalty == 0.1
    assert all(1e-4 <= trial["penalty"] <= 10 for trial in trials)
    best = max(trials, key=lambda trial: trial["valid"])
    assert model.learner.solver.penalty == best["penalty"]
    assert model.info["valid"] == best["valid"] == measured(model, VALID, NDCG)


def test_lists_are_searched_by_the_texts_of_their_values():
    model = train(DATA, "listnet(scorer=mlp,epochs=3)", valid=VALID, search="optuna(trials=4)")
    [best] = [trial for trial in model.info["trials"] if trial["valid"] == model.info["valid"]][:1]
    assert repr(model.learner.scorer) == repr(
        MLP(hidden=tuple(map(int, best["hidden"][1:-1].split(","))), activation=best["activation"])
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
        return train(DATA, learner, valid=VALID)

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
    assert Search.parse("optuna(trials=50)") == Optuna(50)
    with pytest.raises(UnknownNameError, match="Did you mean 'optuna'"):
        Search.parse("optunna")
    with pytest.raises(ParameterError, match="trials must be at least 1; got 0"):
        Optuna(trials=0)
