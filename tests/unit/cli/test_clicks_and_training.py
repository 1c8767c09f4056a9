"""`podium clicks propensity` and `podium train --clicks`: from a log to a model without its bias."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.clicks import Propensities, read_clicks, read_propensities, simulate, weights, write_clicks
from podium.data import Dataset, make_letor_like, split
from podium.data.splits import hold_out
from podium.formats import read_letor, write_letor
from podium.metrics import Metric
from podium.model import Model
from podium.propensities import propensities
from podium.training import train

Podium = Callable[..., Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Dataset, Dataset]:
    """A folder with train.txt, test.txt and a log of two rankers, log.jsonl; and the parts."""
    folder = tmp_path_factory.mktemp("clicks")
    data, _ = make_letor_like(60, (6, 9), n_features=8, seed=1)
    training, test = split(data, (0.7, 0.3))
    rankers = [np.asarray(training.features[:, column], np.float64) for column in (0, 5)]
    write_clicks(simulate(training, rankers, pages=4000, depth=6, seed=0), folder / "log.jsonl")
    Propensities.of_theta(1 / np.arange(1, 7), how="true").write(folder / "true.json")
    write_letor(training, folder / "train.txt")
    write_letor(test, folder / "test.txt")
    return folder, read_letor(folder / "train.txt"), test


def test_a_log_becomes_a_file_of_propensities(podium: Podium, made: Any) -> None:
    log = made[0] / "log.jsonl"
    result = podium("clicks", "propensity", str(log), "--how", "harvest(draws=10)", "-o", "theta.json")
    assert result.exit_code == 0, result.stderr
    from podium.clicks import read_clicks

    expected = propensities(read_clicks(log), "harvest(draws=10)")
    found = read_propensities("theta.json")
    np.testing.assert_array_equal(found.theta, expected.theta)
    np.testing.assert_array_equal(found.low, expected.low)
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["rank", "theta", "low", "high", "click", "rate"]
    assert lines[2].split()[:4] == ["2", *(f"{x[1]:.4f}" for x in (found.theta, found.low, found.high))]
    assert len(lines) == 7


def test_propensities_are_printed_as_json_and_drawn_as_a_page(podium: Podium, made: Any) -> None:
    log = made[0] / "log.jsonl"
    result = podium(
        "clicks", "propensity", str(log), "--how", "pbm", "--depth", "4", "--json", "--report", "page.html"
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["ranks"] == [1, 2, 3, 4]
    text = Path("page.html").read_text()
    assert "<script" not in text
    assert text.count("<circle") == 4
    assert f"{found['theta'][2]:.4f}" in text


def test_the_page_shows_names_as_text(made: Any) -> None:
    from podium.pages.propensities import page

    log = dataclasses.replace(read_clicks(made[0] / "log.jsonl"), source="<script>alert(1)</script>")
    text = page(Propensities.of_theta([1.0, 0.5], how="<b>"), log)
    assert "<script" not in text
    assert "<b>" not in text


def test_training_on_clicks_is_training_with_their_weights(podium: Podium, made: Any) -> None:
    folder, training, _ = made
    files = [str(folder / name) for name in ("train.txt", "log.jsonl", "true.json")]
    result = podium(
        "train", files[0], "--clicks", files[1], "--propensities", files[2], "--method", "softmax", "-o", "m.podium",
        "--valid", "none",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert f"clicks     {files[1]}: propensities true" in result.stdout
    assert "% of their documents never shown" in result.stderr
    with pytest.warns(UserWarning, match="never shown"):
        weighted = weights(read_clicks(files[1]), read_propensities(files[2]), training).data
    model = Model.load("m.podium")
    np.testing.assert_array_equal(model.score(training), train(weighted, "softmax").score(training))
    assert model.info["clicks"] == {"log": files[1], "propensities": "true", "clip": 0.01, "by": "weights"}
    options = ["--clicks", files[1], "--propensities", files[2], "--propensities-as", "offsets", "--method", "softmax"]
    assert podium("train", files[0], *options, "--valid", "none", "-o", "m.podium").exit_code == 0
    with pytest.warns(UserWarning, match="never shown"):
        offset = weights(read_clicks(files[1]), read_propensities(files[2]), training, by="offsets").data
    np.testing.assert_array_equal(Model.load("m.podium").score(training), train(offset, "softmax").score(training))


def test_clicks_as_they_are_need_the_word_none_and_give_a_warning(podium: Podium, made: Any) -> None:
    folder = made[0]
    files = [str(folder / name) for name in ("train.txt", "log.jsonl")]
    result = podium("train", files[0], "--clicks", files[1], "--method", "softmax")
    assert result.exit_code == 2
    assert "--clicks needs --propensities FILE" in result.stderr
    result = podium("train", files[0], "--clicks", files[1], "--method", "softmax", "--propensities", "none")
    assert result.exit_code == 0
    assert "warning: clicks are taken as they are" in result.stderr
    assert podium("train", files[0], "--propensities", "none").exit_code == 2


def test_validation_data_without_grades_is_judged_by_clicks(podium: Podium, made: Any) -> None:
    folder, training, test = made
    parts = split(training, (0.5, 0.5))
    for name, part in zip(("first.txt", "second.txt"), parts, strict=True):
        write_letor(dataclasses.replace(part, labels=np.zeros(part.n_documents)), name)
    options = ["--clicks", str(folder / "log.jsonl"), "--propensities", str(folder / "true.json")]
    result = podium("train", "first.txt", "--valid", "second.txt", *options, "--method", "softmax")
    assert result.exit_code == 0, result.stderr
    assert "second.txt: weighted-dcg@10 " in result.stdout
    write_letor(test, "judged.txt")
    result = podium("train", "first.txt", "--valid", "judged.txt", *options, "--method", "softmax")
    assert "judged.txt: ndcg@10 " in result.stdout
    metric, scores = Metric.parse("ndcg@10"), Model.load("model.podium").score(test)
    assert f"{np.nanmean(metric(scores, test.labels, test.offsets)):.4f}" in result.stdout


@pytest.mark.parametrize("by", ["weights", "offsets"])
def test_clicks_of_held_out_queries_choose_the_model_and_teach_it_nothing(podium: Podium, made: Any, by: Any) -> None:
    folder, training, _ = made
    options = ["--clicks", str(folder / "log.jsonl"), "--propensities", str(folder / "true.json")]
    result = podium("train", str(folder / "train.txt"), *options, "--propensities-as", by, "--method", "softmax")
    assert result.exit_code == 0, result.stderr
    log, theta = read_clicks(folder / "log.jsonl"), read_propensities(folder / "true.json")
    with pytest.warns(UserWarning, match="never shown"):
        learned = weights(log, theta, training, by=by).data
    with pytest.warns(UserWarning, match="never shown"):
        judged = weights(log, theta, training).data
    rest, held = hold_out(judged, 0.2)
    queries = [q for q in range(training.n_queries) if training.query_name(q) in set(rest.query_ids)]
    parts = learned.select(queries), held
    assert "of the clicks are on documents" not in result.stderr  # of the other part
    expected = train(parts[0], "softmax", valid=parts[1], metric="weighted-dcg@10")
    assert f"{held.n_queries} of {training.n_queries} queries of {folder / 'train.txt'}, held out by" in result.stdout
    assert f"(the default): weighted-dcg@10 {expected.info['valid']:.4f}\n" in result.stdout
    np.testing.assert_array_equal(Model.load("model.podium").score(training), expected.score(training))


@pytest.mark.parametrize("logged", [False, True])
def test_a_document_that_is_shown_on_few_pages_keeps_its_place(podium: Podium, logged: bool) -> None:
    """The best of four documents is shown on a fifth of the pages, at the end; the log names no ranker."""
    rng, relevance, lines = np.random.default_rng(0), np.array([0.9, 0.5, 0.3, 0.1]), []
    for page in range(4000):
        shown = np.array([3, 2, 0] if rng.random() < 0.2 else [3, 1, 2])
        clicks = 1 + np.flatnonzero(rng.random(3) < relevance[shown] / np.arange(1, 4))
        line = {"query": f"q{page % 20}", "documents": [f"d{d}" for d in shown], "clicks": clicks.tolist()}
        chances = {"propensities": [1.0, 0.2, 0.2] if 0 in shown else [1.0, 0.8, 0.8]}
        lines.append(json.dumps(line | (chances if logged else {})) + "\n")
    Path("log.jsonl").write_text("".join(lines))
    Path("theta.json").write_text(json.dumps({"ranks": [1, 2, 3], "theta": [1.0, 0.5, 1 / 3]}))
    rows = [f"0 qid:q{q} {d + 1}:1 # d{d}\n" for q in range(20) for d in range(4)]
    Path("train.txt").write_text("".join(rows))
    options = ["--clicks", "log.jsonl", "--propensities", "theta.json", "--method", "softmax(penalty=0)"]
    result = podium("train", "train.txt", *options, "--valid", "none")
    assert result.exit_code == 0, result.stderr
    scores = Model.load("model.podium").score(read_letor("train.txt"))[:4]
    np.testing.assert_allclose(np.exp(scores - scores[0]), relevance / relevance[0], atol=0.06)


def test_offsets_are_refused_for_methods_that_they_would_mislead(podium: Podium, made: Any) -> None:
    files = [str(made[0] / name) for name in ("train.txt", "log.jsonl", "true.json")]
    options = ["--clicks", files[1], "--propensities", files[2], "--propensities-as", "offsets"]
    for method in ("ranknet(sigma=2)", "listnet", "lambdamart"):
        result = podium("train", files[0], *options, "--method", method)
        assert result.exit_code == 1
        assert "its best scores are not those of clicks without position bias" in result.stderr
        assert "lambdamart(damped=false,by_grade=0)" in result.stderr
    assert (
        podium("train", files[0], *options, "--method", "lambdamart(damped=false,by_grade=0,rounds=5)").exit_code == 0
    )


def test_what_a_method_needs_beside_the_log_is_named(podium: Podium, made: Any) -> None:
    result = podium("clicks", "propensity", str(made[0] / "log.jsonl"), "--how", "regression-em")
    assert result.exit_code == 1
    assert "--data" in result.stderr
