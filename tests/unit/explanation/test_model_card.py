"""The model card: what the record says, metrics that are those of evaluate, and warnings where they are due."""

import pytest
from typer.testing import CliRunner

from podium.cli.main import app
from podium.data import make_letor_like, split
from podium.evaluation.evaluate import evaluate
from podium.explanation.importance import importance
from podium.explanation.model_card import model_card
from podium.formats import write_letor
from podium.training import train

TRAIN, TEST = split(make_letor_like(30, (8, 12), n_features=4, seed=2)[0], (0.7, 0.3))


def rows(card: str) -> dict[str, list[str]]:
    """Cells of each line of a table, by the first one."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in card.splitlines() if line[:1] == "|"]
    return {first: rest for first, *rest in lines}


def test_the_card_of_a_model_is_its_record():
    model = train(TRAIN, "listnet", valid=0.3)
    card = model_card(model)
    assert rows(card)["method"] == [str(model.learner)]
    assert rows(card)["ndcg@10 on validation data"] == [f"{model.info['valid']:.4f}"]
    assert rows(card)["training data"] == [f"digest {model.info['data']}"]
    assert "optimistic" in card
    assert "no probabilities of ranks" not in card
    assert "## Quality" not in card


def test_metrics_and_features_are_those_of_the_data():
    model = train(TRAIN, "regression")
    table = rows(model_card(model, TEST))
    mean = evaluate(TEST, model.score(TEST), "ndcg@10").means()["ndcg@10"]
    assert table["ndcg@10"][0] == f"{mean.value:.4f}"
    shares, _ = importance(model, TEST)
    assert {name: float(table[name][0]) for name in "1234"} == {str(k + 1): round(s, 3) for k, s in enumerate(shares)}


def test_data_that_the_model_was_trained_on_is_named():
    model = train(TRAIN, "regression")
    assert f"trained on {TRAIN.n_queries} queries of this data" in model_card(model, TRAIN)
    assert "was trained on" not in model_card(model, TEST)


def test_a_model_without_validation_data_has_no_probabilities_of_ranks():
    card = model_card(train(TRAIN, "lambdamart(rounds=2,transform=add-minmax,min_data_in_leaf=5)"))
    assert rows(card)["probabilities of ranks"] == ["none"]
    assert "ranks the documents of a query together" in card


def test_the_command_prints_the_card_with_and_without_data(tmp_path):
    model = train(TRAIN, "regression")
    model.save(tmp_path / "model.podium")
    write_letor(TEST, tmp_path / "data.txt")
    file, data = str(tmp_path / "model.podium"), str(tmp_path / "data.txt")
    assert CliRunner().invoke(app, ["explain", file, "--card"]).stdout == model_card(model)
    assert rows(CliRunner().invoke(app, ["explain", file, data, "--card"]).stdout) == rows(model_card(model, TEST))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--card", "--json"], "Markdown"),
        (["--card", "--trees"], "not several"),
        (["--card", "-o", "x"], "Add --shapes"),
    ],
)
def test_options_that_a_card_does_not_know_are_refused(tmp_path, options, why):
    train(TRAIN, "regression").save(tmp_path / "model.podium")
    failed = CliRunner().invoke(app, ["explain", str(tmp_path / "model.podium"), *options])
    assert failed.exit_code == 2
    assert why in failed.stderr


@pytest.mark.parametrize(
    "record", [{"valid": "0.5"}, {"valid": [1]}, {"valid": 10**400}, {"trials": 5}, {"trials": 0.5}]
)
def test_a_record_of_another_kind_is_left_out(record):
    model = train(TRAIN, "listnet", valid=0.3).with_info(**record)
    left_out = {"valid": "ndcg@10 on validation data", "trials": "hyperparameters"}[next(iter(record))]
    assert left_out in rows(model_card(train(TRAIN, "listnet", valid=0.3)))
    assert left_out not in rows(model_card(model))
    assert "listnet" in model._repr_html_()
