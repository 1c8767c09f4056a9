"""Names of parameters of LightGBM, XGBoost and CatBoost: translated if they mean the same, explained if not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.base.errors import ParameterError, UnknownNameError
from podium.base.familiar_names import ABSENT, ABSENT_OF_TREES, ALIASES, OBJECTIVES, announced, renamed
from podium.data import make_letor_like
from podium.learner import Learner
from podium.methods import METHODS, method
from podium.recipe import Recipe
from podium.scorers import Trees
from podium.solvers import Boosting

Podium = Callable[..., Any]
TREES = method("lambdamart").learner.parameter_names()


@pytest.mark.parametrize(("other", "name"), ALIASES.items())
def test_every_alias_names_a_parameter_of_lambdamart(other: str, name: str) -> None:
    assert name in TREES
    assert renamed({other: "3"}, TREES).keys() == {name}


def test_no_name_is_both_translated_and_absent() -> None:
    assert not ALIASES.keys() & (ABSENT.keys() | ABSENT_OF_TREES.keys())
    assert TREES & (ALIASES.keys() | ABSENT.keys() | ABSENT_OF_TREES.keys()) == {"seed"}  # of drawn pairs


def test_a_seed_is_that_of_drawn_pairs_or_no_parameter() -> None:
    assert method("lambdamart(pairs=4,seed=3)").learner == method("lambdamart(seed=3,pairs=4)").learner
    with pytest.raises(ParameterError, match="the seed is no parameter of a method"):
        method("lambdamart(seed=3)")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("lambdamart(n_estimators=100,eta=0.2,reg_lambda=3)", "lambdamart(rounds=100,learning_rate=0.2,penalty=3)"),
        ("lambdamart(iterations=9,l2_leaf_reg=1,border_count=31)", "lambdamart(rounds=9,penalty=1,max_bin=32)"),
        ("lambdamart(scorer=trees(max_leaves=15))", "lambdamart(scorer=trees(num_leaves=15))"),
        ("recipe(scorer=trees,solver=boosting(num_boost_round=5))", "recipe(scorer=trees,solver=boosting(rounds=5))"),
        ("rankboost(n_estimators=4)", "rankboost(rounds=4)"),
        ("listnet(scorer=trees,n_estimators=4)", "listnet(scorer=trees,rounds=4)"),
        ("lambdamart(max_depth=-1,reg_alpha=0.0,boosting_type=gbdt,device=cpu,verbose=2)", "lambdamart"),
        ("lambdamart(max_depth=6,lambda_l1=2,gamma=1)", "lambdamart(max_depth=6,penalty_l1=2,least_gain=1)"),
        ("lambdamart(depth=6,rsm=0.5)", "lambdamart(max_depth=6,feature_fraction_bynode=0.5)"),
        ("lambdamart(monotone_constraints=[1,0,-1,1])", "lambdamart(rising=[1,4],falling=[3])"),
        ("lambdamart(monotonic_cst=(0,0,-1))", "lambdamart(falling=[3])"),
        ("lambdamart(interaction_constraints=[[0,1],[bm25,a2]])", "lambdamart(together=[[1,2],[bm25,a2]])"),
        ("lambdamart(drop_rate=0.1,extra_trees=true)", "lambdamart(drop=0.1,extra=true)"),
        ("rank:ndcg(n_estimators=4)", "lambdamart(rounds=4)"),
        ("rank:pairwise", "lambdamart(loss=ranknet)"),
        ("lambdamart(objective=lambdarank)", "lambdamart"),
    ],
)  # fmt: skip
def test_a_specification_in_other_words_is_the_same_method(theirs: str, ours: str) -> None:
    assert method(theirs).learner == method(ours).learner
    assert method(theirs).grid == method(ours).grid
    assert method(theirs).fixed >= method(ours).fixed


def test_names_that_podium_has_itself_are_its_own() -> None:
    assert method("listnet(iterations=7)").learner.solver.iterations == 7


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lambdamart(boosting_type=dart)", "For dart set drop=0.1"),
        ("lambdamart(monotone_constraints=[1,2])", "a number for each feature, as in"),
        ("listnet(monotone_constraints=[1,0])", "to a method with trees"),
        ("lambdamart(monotone_constraints=[1],rising=[2])", "rising is given twice"),
        ("lambdamart(categorical_feature=[0])", "podium train --categorical"),
        ("listnet(device=gpu)", "podium has no GPU support"),
        ("lambdamart(random_state=3)", "--seed on the command line"),
        ("lambdamart(colsample_bylevel=0.5)", "not for each level"),
        ("lambdamart(objective=rank:map)", "is the method 'lambdamart-map'"),
        ("lambdamart(objective=tweedie)", "the objective is the method's"),
        ("lambdamart(n_estimators=3,rounds=4)", "rounds is given twice"),
        ("lambdamart(eta=3,shrinkage_rate=4)", "learning_rate is given twice"),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_explained(text: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        method(text)


def test_a_penalty_on_leaves_is_not_taken_for_one_on_weights() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'penalty'"):
        method("listnet(reg_lambda=3)")


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_is_a_method_with_trees(objective: str) -> None:
    learner: Any = method(OBJECTIVES[objective]).learner
    assert isinstance(learner, Recipe)
    assert isinstance(learner.scorer, Trees)
    assert isinstance(learner.solver, Boosting)


@pytest.mark.parametrize("name", METHODS)
def test_what_a_method_prints_is_read_without_translation(name: str) -> None:
    notes: list[str] = []
    with announced(notes.append):
        Learner.parse(repr(METHODS[name].learner))
    assert notes == []


def test_the_names_are_said_once_within_the_block_and_never_outside() -> None:
    notes: list[str] = []
    with announced(notes.append):
        method("lambdamart(n_estimators=10)")
        method("lambdamart(n_estimators=10,max_depth=-1)")
    method("lambdamart(eta=1)")
    assert notes == ["n_estimators=10 is rounds=10", "max_depth=-1 is max_depth=none"]


def test_the_command_line_says_what_a_name_became(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from podium.cli.main import app
    from podium.formats import write_letor
    from podium.model import Model

    write_letor(make_letor_like(12, (4, 6), n_features=4, seed=1)[0], tmp_path / "train.txt")
    words = ["train", str(tmp_path / "train.txt"), "--method", "rankboost(n_estimators=4)", "-o", str(tmp_path / "m")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("note: n_estimators=4 is rounds=4\n") == 1
    assert repr(Model.load(tmp_path / "m").learner) == "rankboost(rounds=4)"
    assert np.isfinite(Model.load(tmp_path / "m").info["valid"])
