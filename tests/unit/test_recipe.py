import dataclasses

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError, ParameterError, UnknownNameError
from podium.data.dataset import Dataset
from podium.losses import Exponential, ListNet, RankNet
from podium.recipe import Recipe
from podium.scorers import MLP, Linear, Trees
from podium.solvers import LBFGS, SGD, Adam, Boosting
from podium.testing import linear_data
from podium.training import train
from podium.transforms import Identity, MinMax, ZScore

RECIPE = Recipe(loss=RankNet())


def test_a_recipe_is_ranknet_over_z_scored_features_unless_told_otherwise():
    assert Recipe() == Recipe(RankNet(), Linear(), LBFGS(), ZScore())


def test_parts_are_replaced():
    changed = RECIPE.changed({"loss": "listnet", "transform": "minmax", "solver": "sgd(learning_rate=0.5)"})
    assert changed == Recipe(ListNet(), Linear(), SGD(learning_rate=0.5), MinMax())


def test_another_kind_of_scorer_brings_its_solver():
    assert RECIPE.changed({"scorer": "trees"}).solver == Boosting()
    assert RECIPE.changed({"scorer": "mlp(hidden=[3])"}).solver == Adam()
    assert (
        Recipe(scorer=Trees(), solver=Boosting(), transform=Identity()).changed({"scorer": "linear"}).solver == LBFGS()
    )


def test_a_given_solver_and_the_same_scorer_keep_the_solver():
    assert RECIPE.changed({"scorer": "mlp", "solver": "lbfgs"}).solver == LBFGS()
    own = Recipe(scorer=MLP(), solver=SGD(learning_rate=0.7))
    assert own.changed({"scorer": "mlp(hidden=[3])"}).solver == SGD(learning_rate=0.7)


def test_parameters_find_their_part():
    changed = RECIPE.changed({"sigma": "2", "penalty": "0.5"})
    assert changed == Recipe(RankNet(sigma=2.0), solver=LBFGS(penalty=0.5))
    assert RECIPE.changed({"scorer": "trees", "num_leaves": "3", "learning_rate": "0.3"}).scorer == Trees(num_leaves=3)


def test_unknown_parameters_suggest_near_ones():
    with pytest.raises(UnknownNameError, match=r"No parameter 'penaltey'\. Did you mean 'penalty'\?"):
        RECIPE.changed({"penaltey": "1"})


def test_a_parameter_of_two_parts_is_refused_with_advice():
    # a loss with a parameter of the solver's name
    class Confusing(RankNet):
        penalty: float = 0.0
        name = "confusing"

    recipe = Recipe(loss=dataclasses.dataclass(frozen=True, repr=False)(Confusing)())
    with pytest.raises(ParameterError, match=r"penalty could be of the loss or the solver\. Write the part in full"):
        recipe.changed({"penalty": "1"})


def test_the_original_is_not_changed():
    RECIPE.changed({"loss": "listnet"})
    assert Recipe(loss=RankNet()) == RECIPE


def test_parts_that_do_not_fit_are_refused_before_work_starts():
    with pytest.raises(IncompatibleError, match="lbfgs needs a scorer with parameters to differentiate; got trees"):
        train(linear_data(), Recipe(scorer=Trees()))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_a_scorer_cannot_take_are_named(value):
    data = linear_data(2, 3)
    X = data.features.copy()
    X[4, 1] = value
    spoilt = Dataset.from_arrays(X, data.labels, group=data.sizes, source="here.txt")
    with pytest.raises(DataError, match=rf"here.txt: document 4, feature 2: value {value}, which linear cannot take"):
        train(spoilt, Recipe(transform=Identity()))


def test_missing_values_at_scoring_time_are_refused_where_nothing_fills_them():
    model = train(linear_data(), Recipe(transform=Identity()))
    with pytest.raises(DataError, match="document 0, feature 3: value nan"):
        model.score([[0.0, 1.0, np.nan]])


def test_a_record_says_how_it_went():
    info = train(linear_data(), Recipe(loss=Exponential())).info
    assert info["stopped"] == "converged"
    assert info["iterations"] > 1
    assert info["objective"] > 0
