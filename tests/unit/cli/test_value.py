"""`podium value`: models or runs, a click log and propensities in; what they are worth out."""

import json

import numpy as np
import pytest

from podium import Recipe
from podium.clicks import write_clicks
from podium.clicks.propensity_file import Propensities
from podium.clicks.simulate import simulate
from podium.counterfactual import LOGGED
from podium.data import make_letor_like
from podium.formats import write_letor, write_run
from podium.formats.trec.trec import Run
from podium.losses import RankNet
from podium.metrics import NDCG
from podium.training import fit


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with documents.txt, a model, two runs, log.jsonl and theta.json."""
    folder = tmp_path_factory.mktemp("value")
    data, utility = make_letor_like(12, (5, 8), n_features=5, seed=1)
    write_letor(data, folder / "documents.txt")
    fit(Recipe(loss=RankNet()), data, metric=NDCG()).save(folder / "ranknet.podium")
    for name, scores in (("best", utility), ("worst", -utility)):
        write_run(Run.from_scores(data, scores), folder / f"{name}.run")
    write_clicks(simulate(data, pages=600, seed=2), folder / "log.jsonl")
    Propensities.of_theta(1 / np.arange(1, 9), how="planted").write(folder / "theta.json")
    return folder


@pytest.fixture
def value(made, podium, monkeypatch):
    monkeypatch.chdir(made)

    def run(*words, propensities="theta.json"):
        return podium("value", *words, "--propensities", propensities)

    return run


def test_two_runs_are_compared_and_the_better_one_named(value):
    done = value("best.run", "worst.run", "log.jsonl")
    lines = done.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[1:4]] == [LOGGED, "best", "worst"]
    assert all("●" in line for line in lines[1:4])
    assert "best is worth more than worst" in lines[6]
    assert lines[5].startswith("difference")
    assert done.stderr.startswith("600 pages, ")


def test_the_output_says_whether_intervals_hold_the_errors_of_propensities(value, made, podium):
    assert "propensities are taken as known" in value("best.run", "log.jsonl").stderr
    podium("clicks", "propensity", "log.jsonl", "--how", "randomised", "--depth", "5", "-o", "estimated.json")
    done = value("best.run", "log.jsonl", propensities="estimated.json")
    assert "the intervals hold the errors of the propensities, which are from this log" in done.stderr
    lines = (made / "log.jsonl").read_text().splitlines(keepends=True)
    (made / "later.jsonl").write_text("".join(lines[1:]))
    done = value("best.run", "later.jsonl", propensities="estimated.json")
    assert "which are from another log" in done.stderr


def test_a_model_ranks_the_documents_of_the_data_that_the_log_names(value):
    found = json.loads(value("ranknet.podium", "best.run", "log.jsonl", "--data", "documents.txt", "--json").stdout)
    by_name = {one["name"]: one for one in found["values"]}
    assert by_name["ranknet"]["never_shown"] == 0.0
    assert by_name["ranknet"]["value"] > by_name[LOGGED]["value"]
    assert len(found["sentences"]) == len(found["differences"]) == 3
    done = value("ranknet.podium", "log.jsonl")
    assert done.exit_code == 2
    assert "--data FILE" in done.stderr


def test_features_can_guess_relevance(value):
    done = value("best.run", "log.jsonl", "--relevance", "features", "--data", "documents.txt", "--how", "dm")
    assert done.exit_code == 0
    assert "do not include errors of the guessed relevance" in done.stderr
    assert value("best.run", "log.jsonl", "--relevance", "features").exit_code == 2


def test_ids_that_are_not_the_logs_are_noticed(value, made):
    text = (made / "best.run").read_text()
    (made / "renamed.run").write_text("".join(line.replace("Q0 ", "Q0 x") for line in text.splitlines(keepends=True)))
    done = value("renamed.run", "log.jsonl")
    assert "no verdict on renamed and what was shown: 100 %" in done.stdout
    assert "are its ids those of the log?" in done.stderr
    assert "given twice" in value("best.run", "best.run", "log.jsonl").stderr


def test_pages_of_other_queries_and_ranks_without_propensity_are_left_out(value, made):
    (made / "one.run").write_text((made / "best.run").read_text().split("\n1 ")[0] + "\n")
    Propensities.of_theta([1.0, 0.5], how="planted").write(made / "short.json")
    done = value("one.run", "log.jsonl", "--how", "ips", propensities="short.json")
    assert "pages of queries that not every ranker ranks are left out" in done.stderr
    assert "clicks at ranks without a propensity are ignored" in done.stderr
