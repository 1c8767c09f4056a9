"""Ablation: a method without each group of features, with the tests of compare_systems."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.cli.main import app
from podium.data.splits import split
from podium.data.synthetic import make_letor_like
from podium.evaluation.significance import compare_systems
from podium.explanation.ablation import ablate, read_groups
from podium.formats import write_letor
from podium.metrics import Metric
from podium.solvers.early_stopping import query_values
from podium.training import train

DATA = make_letor_like(60, (8, 15), n_features=6, seed=4)[0]
TRAINING, VALID = split(DATA, (0.6, 0.4))


def test_the_tests_are_those_of_compare_systems_on_models_without_the_group():
    tested = ablate(TRAINING, VALID, "regression", groups={"first": ["1", "2"], "last": ["6"]}, seed=3)
    ndcg = Metric.parse("ndcg@10")
    kept = ("1,2,3,4,5,6", "3,4,5,6", "1,2,3,4,5")
    models = [train(TRAINING, f"regression(transform=keep(only=[{only}]))") for only in kept]
    values = [query_values(ndcg, model.score(VALID), VALID) for model in models]
    names = ["all features", "without first", "without last"]
    expected = compare_systems(values, names, metric=ndcg, baseline="all features", seed=3)
    assert tested.to_dict() == expected.to_dict()


def test_features_are_found_by_name_or_number():
    names = ("a", "b", "c", "d", "e", "5")  # the name 5 goes before the number
    training, valid = (replace(part, feature_names=names) for part in (TRAINING, VALID))
    by_name, by_number = (
        ablate(training, valid, "regression", groups={"g": group}) for group in (["b", "5"], ["2", "6"])
    )
    assert by_name.to_dict() == by_number.to_dict()


def test_groups_that_cannot_be_left_out_are_refused():
    with pytest.raises(UnknownNameError, match=r"feature of group 'g': 'nine'"):
        ablate(TRAINING, VALID, "regression", groups={"g": ["nine"]})
    with pytest.raises(ParameterError, match="no feature is left"):
        ablate(TRAINING, VALID, "regression", groups={"g": list(map(str, range(1, 7)))})
    with pytest.raises(ParameterError, match="no group"):
        ablate(TRAINING, VALID, "regression", groups={})


def test_the_file_of_groups_is_read_or_refused(tmp_path):
    file = tmp_path / "groups.toml"
    file.write_text('text = ["bm25", 3]\nclicks = [1]\n')
    assert read_groups(str(file)) == {"text": ("bm25", "3"), "clicks": ("1",)}
    for wrong, why in (
        ("text = ", "it is not TOML"),
        ("text = 3", "not a list of features"),
        ("a = [1.5]", "not a list"),
    ):
        file.write_text(wrong)
        with pytest.raises(DataError, match=why):
            read_groups(str(file))


def test_the_command_prints_differences_and_p_values(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_letor(DATA, "data.txt")
    (tmp_path / "groups.toml").write_text("first = [1, 2]\n")
    run = CliRunner()
    printed = run.invoke(app, ["select", "data.txt", "--method", "regression", "--ablate", "groups.toml"])
    assert printed.exit_code == 0, printed.output
    assert "without first" in printed.output
    row = next(line.split() for line in printed.output.splitlines() if line.startswith("without first"))
    assert float(row[4]) < float(row[3]) < float(row[5])
    refused = run.invoke(app, ["select", "data.txt", "--ablate", "groups.toml", "--keep", "2"])
    assert refused.exit_code == 2
    assert "selects none" in refused.stderr
