"""Training that goes on from a model, and leaves that are refitted to other data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.base.errors import IncompatibleError, ParameterError
from podium.data.dataset import Dataset
from podium.data.synthetic import make_letor_like
from podium.ensembles.refitting import refit
from podium.losses import sweep
from podium.model import Model
from podium.training import train

DATA: Dataset = make_letor_like(30, (8, 14), n_features=5, seed=1)[0]
OTHER: Dataset = make_letor_like(15, (8, 14), n_features=5, seed=2)[0]
TREES = "lambdamart(rounds={},bagging_fraction=1,num_leaves=6)"


@pytest.fixture(scope="module")
def first() -> Model:
    return train(DATA, TREES.format(6))


def test_trees_in_two_goes_are_those_of_one_to_the_bit(first: Model) -> None:
    whole = train(DATA, TREES.format(12))
    again = train(DATA, start=first)
    np.testing.assert_array_equal(again.params["trees"], whole.params["trees"])
    np.testing.assert_array_equal(again.score(DATA), whole.score(DATA))
    assert again.info["from"] == first.info["data"]


def test_samples_of_a_loss_go_on_where_they_were() -> None:
    text = "recipe(loss=boltzrank,scorer=trees,solver=boosting(rounds={},bagging_fraction=1),transform=identity)"
    twice = train(DATA, start=train(DATA, text.format(2)))
    np.testing.assert_array_equal(twice.params["trees"], train(DATA, text.format(4)).params["trees"])


def test_validation_data_decides_how_many_trees_are_added(first: Model) -> None:
    more = train(DATA, TREES.format(8), start=first, valid=OTHER)
    added = more.params["trees"].tobytes().count(b"\nTree=") - 6
    assert 1 <= added <= 8
    np.testing.assert_array_equal(more.score(OTHER), train(DATA, TREES.format(6 + added)).score(OTHER))


def test_weights_begin_with_those_of_the_model() -> None:
    linear = train(DATA, "listnet")
    again = train(DATA, start=linear)
    assert again.info["iterations"] < linear.info["iterations"]
    assert again.info["objective"] <= linear.info["objective"]
    on_other = train(OTHER, start=linear)
    np.testing.assert_array_equal(on_other.state["mean"], linear.state["mean"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("listnet", "Leave the method out"),
        ("mcrank(rounds=2)", "it is no recipe"),
        ("lambdamart(transform=zscore)", "transform=zscore"),
    ],
)
def test_another_kind_of_model_cannot_go_on(first: Model, text: str, words: str) -> None:
    with pytest.raises(IncompatibleError, match=words):
        train(DATA, text, start=first)


def test_the_command_line_goes_on_and_a_failure_leaves_the_old_file(first: Model, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from podium.cli.main import app
    from podium.formats import write_letor

    write_letor(DATA, tmp_path / "train.txt")
    first.save(tmp_path / "m.podium")
    before = (tmp_path / "m.podium").read_bytes()
    words = ["train", str(tmp_path / "train.txt"), "--from", str(tmp_path / "m.podium"), "--valid", "none"]
    failed = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "m.podium"), "--method", "listnet"])
    assert failed.exit_code != 0
    assert (tmp_path / "m.podium").read_bytes() == before
    result = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "m.podium"), "--rounds", "3"])
    assert result.exit_code == 0, result.stderr
    assert Model.load(tmp_path / "m.podium").params["trees"].tobytes().count(b"\nTree=") == 9


def test_leaves_refitted_to_the_training_data_are_those_of_training(first: Model) -> None:
    np.testing.assert_array_equal(refit(first, OTHER, decay=1).params["trees"], first.params["trees"])
    np.testing.assert_allclose(refit(first, DATA, decay=0).score(OTHER), first.score(OTHER), rtol=1e-9)
    stump = train(DATA, "lambdamart(rounds=1,learning_rate=1,bagging_fraction=1)")
    np.testing.assert_allclose(refit(stump, DATA, decay=0).score(DATA), stump.score(DATA), rtol=1e-9)


def test_leaves_move_by_the_formula_towards_other_data() -> None:
    one = train(DATA, "lambdamart(rounds=1,num_leaves=3,penalty=2,penalty_l1=0.01,bagging_fraction=1)")
    learner: Any = one.learner
    got = sweep(learner.loss, np.zeros(OTHER.n_documents), OTHER)
    old, new = one.score(OTHER), refit(one, OTHER, decay=0.25).score(OTHER)
    for value in np.unique(old):
        here = old == value
        g, h = got.gradient[here].sum(), got.curvature[here].sum()
        step = -0.1 * np.sign(g) * max(abs(g) - 0.01, 0) / (h + 2)
        np.testing.assert_allclose(new[here], 0.25 * value + 0.75 * step, rtol=1e-5)


def test_what_cannot_be_refitted_is_refused(first: Model) -> None:
    with pytest.raises(IncompatibleError, match="refit moves the leaves of boosted trees"):
        refit(train(DATA, "listnet"), OTHER)
    with pytest.raises(ParameterError, match="decay must be from 0 to 1"):
        refit(first, OTHER, decay=2.0)
    with pytest.raises(IncompatibleError, match="with drop"):
        refit(replace(first, learner=first.learner.changed({"drop": "0.1"})), OTHER)
