"""`podium train`, `rank`, `check` and `methods`."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.cli.progress import Bar
from podium.data import make_letor_like, to_frame
from podium.data.splits import hold_out
from podium.formats import read_letor
from podium.methods import METHODS
from podium.metrics import Metric
from podium.model import Model
from podium.solvers import Step
from podium.training import TrainingProgress, train

Podium = Callable[..., Any]
APART = b"1 qid:b 1:1 2:0.5 #docid = x\n0 qid:a 1:2 #docid = y\n0 qid:b 1:0 2:3 #docid = z\n2 qid:a 1:0 #docid = w\n"


def test_training_on_a_folder_tunes_on_its_validation_file_and_says_so(podium: Podium, folder: Path) -> None:
    result = podium("train", str(folder), "--method", "regression", "--seed", "4", "-m", "map", "-o", "m.podium")
    assert result.exit_code == 0, result.stderr
    model = Model.load("m.podium")
    parts = [read_letor(folder / f"{name}.txt") for name in ("train", "vali")]
    expected = train(parts[0], "regression", valid=parts[1], metric="map", seed=4)
    assert repr(model.learner) == repr(expected.learner)
    assert f"{folder / 'vali.txt'}: map {expected.info['valid']:.4f}" in result.stdout
    assert result.stdout.count("tried") == len(METHODS["regression"].grid["penalty"])
    assert result.stdout.count("← chosen") == 1
    assert "chosen   the best setting; another part, such as a transform, if better by over one" in result.stdout
    assert "optimistic, since it chose the model" in result.stdout


@pytest.mark.parametrize(
    "method", ["auto(linear=[listnet],trees=[lambdamart(rounds=3)])", "blended(members=[listnet,regression])"]
)
def test_a_measure_that_chose_members_or_their_shares_is_called_optimistic(
    podium: Podium, folder: Path, method: str
) -> None:
    result = podium("train", str(folder), "--method", method, "-o", "of_members.podium")
    assert result.exit_code == 0, result.stderr
    assert "optimistic, since it chose the model" in result.stdout


def test_a_measure_that_chose_nothing_is_not_called_optimistic(podium: Podium, folder: Path) -> None:
    result = podium("train", str(folder), "--method", "regression(penalty=0.1,solver=lbfgs(patience=none))")
    assert result.exit_code == 0, result.stderr
    assert "vali.txt: ndcg@10 " in result.stdout
    assert "optimistic" not in result.stdout


def test_training_without_validation_data_says_that_nothing_is_tuned(podium: Podium, folder: Path) -> None:
    result = podium("train", str(folder / "train.txt"), "--method", "regression", "--valid", "none")
    assert "validation none: hyperparameters are the method's defaults" in result.stdout
    model, whole = Model.load("model.podium"), read_letor(folder / "train.txt")
    np.testing.assert_array_equal(model.score(whole), train(whole, "regression").score(whole))


@pytest.mark.parametrize(("options", "by"), [([], "0.2 (the default)"), (["--valid", "20%"], "0.2")])
def test_of_one_file_a_fifth_of_the_queries_is_validation_data(
    podium: Podium, folder: Path, options: list[str], by: str
) -> None:
    path = folder / "train.txt"
    result = podium("train", str(path), "--method", "regression", "--seed", "3", *options)
    training, held = hold_out(read_letor(path), 0.2, seed=3)
    expected = train(training, "regression", valid=held, seed=3)
    assert f"validation {held.n_queries} of 18 queries of {path}, held out by --valid {by}: ndcg@10 " in result.stdout
    assert f": ndcg@10 {expected.info['valid']:.4f}\n" in result.stdout
    model = Model.load("model.podium")
    np.testing.assert_array_equal(model.score(held), expected.score(held))
    assert "temperature" in model.info
    assert model.info == train(read_letor(path), "regression", valid=0.2, seed=3).info


def test_rows_in_another_order_are_split_alike(podium: Podium, folder: Path) -> None:
    lines = (folder / "train.txt").read_text().splitlines(keepends=True)
    Path("shuffled.txt").write_text("".join(lines[::-1]))
    texts = [
        podium("train", str(path), "--method", "regression").stdout for path in (folder / "train.txt", "shuffled.txt")
    ]
    values = [re.findall(r"ndcg@10 (\S+)", text) for text in texts]
    assert values[0] == values[1] != []


def test_too_few_queries_are_not_split_and_it_is_said(podium: Podium) -> None:
    Path("few.txt").write_bytes(APART)
    for options in ([], ["--valid", "0.2"]):
        result = podium("train", "few.txt", "--method", "regression", *options)
        assert (
            "validation none, since 2 of 2 queries have documents of different labels, and 10 are needed to hold some "
            "out: hyperparameters" in result.stdout
        )


def test_labels_that_the_metric_cannot_measure_do_not_stop_training_on_one_file(podium: Podium, folder: Path) -> None:
    lines = (folder / "train.txt").read_text().splitlines()
    Path("high.txt").write_text("".join(f"{90 * int(line[0])}{line[1:]}\n" for line in lines))
    result = podium("train", "high.txt", "--method", "regression")
    assert (result.exit_code, "none, since ndcg@10 cannot measure these labels" in result.stdout) == (0, True)
    assert podium("train", "high.txt", "--method", "regression", "--valid", "0.2").exit_code == 1


@pytest.mark.parametrize("valid", ["0", "1.0", "20", "150%"])
def test_a_number_that_is_no_fraction_is_refused(podium: Podium, folder: Path, valid: str) -> None:
    result = podium("train", str(folder / "train.txt"), "--valid", valid)
    assert result.exit_code == 2
    assert f"--valid {valid}: a fraction of the queries is above 0 and below 1, e.g. 0.2 or 20%." in result.stderr


def test_ranking_the_training_data_says_that_a_metric_would_be_of_it(podium: Podium, folder: Path) -> None:
    podium("train", str(folder / "train.txt"), "--method", "regression")
    result = podium("rank", "model.podium", str(folder / "train.txt"))
    assert (
        "train.txt: the model was trained on 15 of 18 queries; a metric here is of its own training data."
        in result.stderr
    )
    assert podium("rank", "model.podium", str(folder / "test.txt")).stderr == ""


def test_validation_data_may_leave_out_the_last_features(podium: Podium) -> None:
    Path("train.txt").write_bytes(APART)
    Path("valid.txt").write_text("1 qid:1 1:2\n0 qid:1 1:1\n")
    result = podium("train", "train.txt", "--method", "regression", "--valid", "valid.txt")
    assert result.exit_code == 0, result.stderr


def test_a_folder_of_folds_is_for_compare(podium: Podium, folder: Path, tmp_path: Path) -> None:
    for k in (1, 2):
        (tmp_path / "folds").mkdir(exist_ok=True)
        (tmp_path / f"folds/Fold{k}").symlink_to(folder)
    result = podium("train", "folds", "--method", "regression")
    assert result.exit_code == 1
    assert result.stderr == "podium: folds: has 2 folds. Train on one, e.g. folds/Fold1, or use podium compare.\n"


def trained(podium: Podium) -> None:
    assert podium("train", "-", "--method", "regression", stdin=APART).exit_code == 0


def test_scores_come_back_in_the_order_of_the_lines(podium: Podium) -> None:
    trained(podium)
    result = podium("rank", "model.podium", "-", stdin=APART)
    model, lines = Model.load("model.podium"), APART.splitlines(keepends=True)
    Path("data.txt").write_bytes(APART)
    data = read_letor("data.txt")
    assert [float(line) for line in result.stdout.splitlines()] == model.score(data).tolist()
    turned = podium("rank", "model.podium", "-", stdin=b"".join(reversed(lines)))
    assert turned.stdout.splitlines() == list(reversed(result.stdout.splitlines()))


def test_runs_and_objects_are_ranked_within_queries(podium: Podium) -> None:
    trained(podium)
    Path("data.txt").write_bytes(APART)
    data = read_letor("data.txt")
    score = dict(zip(data.document_ids, Model.load("model.podium").score(data), strict=True))
    best_first = {"b": sorted("xz", key=lambda name: -score[name]), "a": sorted("yw", key=lambda name: -score[name])}
    expected = [(query, name) for query, names in best_first.items() for name in names]
    assert podium("rank", "model.podium", "data.txt", "--format", "trec", "-o", "run.txt").stdout == ""
    rows = [line.split() for line in Path("run.txt").read_text().splitlines()]
    assert [(row[0], row[2]) for row in rows] == expected
    assert [row[3] for row in rows] == ["1", "2", "1", "2"]
    assert [float(row[4]) for row in rows] == [score[name] for _, name in expected]
    found = [json.loads(x) for x in podium("rank", "model.podium", "data.txt", "--format", "jsonl").stdout.splitlines()]
    assert found[0] == {"query": "b", "document": expected[0][1], "rank": 1, "score": score[expected[0][1]]}
    assert [(x["query"], x["document"]) for x in found] == expected


def test_output_named_gz_is_gzipped(podium: Podium) -> None:
    trained(podium)
    assert podium("rank", "model.podium", "-", "-o", "s.txt.gz", stdin=APART).exit_code == 0
    assert len(gzip.decompress(Path("s.txt.gz").read_bytes()).split()) == 4


def test_more_features_than_the_model_knows_are_refused_and_fewer_are_zeros(podium: Podium) -> None:
    trained(podium)
    result = podium("rank", "model.podium", "-", "-o", "s.txt", stdin=b"0 qid:1 1:1 3:1\n")
    assert result.exit_code == 1
    assert "<stdin>: 3 features, but the model was trained with 2" in result.stderr
    assert not Path("s.txt").exists()
    short = podium("rank", "model.podium", "-", stdin=b"0 qid:1 1:1\n")
    assert short.stderr.startswith("<stdin>: only features up to 1 occur; the model was trained with 2.")
    assert short.stdout == podium("rank", "model.podium", "-", stdin=b"0 qid:1 1:1 2:0\n").stdout


def test_what_is_no_model_is_refused(podium: Podium) -> None:
    Path("data.txt").write_bytes(APART)
    result = podium("rank", "data.txt", "data.txt")
    assert result.exit_code == 1
    assert "not a podium model" in result.stderr


def test_check_says_what_it_finds_and_fails_on_errors(podium: Podium, folder: Path) -> None:
    result = podium("check", str(folder))
    assert "train: 18 queries" in result.stdout
    (folder / "test.txt").write_bytes((folder / "train.txt").read_bytes())
    shared = podium("check", str(folder / "train.txt"), str(folder / "test.txt"))
    assert shared.exit_code == 1
    assert "error: " in shared.stdout
    for word in ("where", "why", "do"):
        assert f"  {word} " in shared.stdout


def test_check_takes_files_or_one_folder(podium: Podium, folder: Path) -> None:
    result = podium("check", str(folder), str(folder / "train.txt"))
    assert result.exit_code == 2
    assert "is a folder: check it alone" in result.stderr


def test_every_method_is_listed_in_its_family_in_a_phrase(podium: Podium) -> None:
    families = {part.splitlines()[0]: part for part in podium("methods").stdout.strip().split("\n\n")}
    for name, method in METHODS.items():
        (row,) = [line for line in families[method.family].splitlines() if line.startswith(f"{name} ")]
        assert method.summary
        assert row.endswith(method.summary)
        assert f"recipe  {method.learner!r}\n" in podium("methods", name).stdout


def test_everything_listed_has_a_page(podium: Podium) -> None:
    kinds = podium("methods").stdout.splitlines()[-1].removeprefix("kinds: ").split(", ")
    names = list(METHODS)
    for kind in kinds:
        names += [line.split()[0] for line in podium("methods", kind).stdout.splitlines()[1:]]
    assert {"ranknet", "mlp", "lbfgs", "zscore", "ndcg", "random", "mmr", "pbm", "solr"} <= set(names)
    for name in names:
        result = podium("methods", name)
        assert result.exit_code == 0, name
        assert name in result.stdout.splitlines()[0]


def test_a_page_shows_the_recipe_the_grid_and_the_convention(podium: Podium) -> None:
    page = podium("methods", "listnet(scorer=mlp(hidden=[4]))").stdout
    assert "recipe(loss=listnet,scorer=mlp(hidden=[4]),solver=adam)" in page
    grid = METHODS["listnet"].grid["penalty"]
    assert f"penalty: {', '.join(f'{value:g}' for value in grid)}" in podium("methods", "listnet").stdout
    assert Metric.parse("ndcg_cut_5").tag() in podium("methods", "ndcg_cut_5").stdout


def test_a_page_explains_each_parameter_and_its_range(podium: Podium) -> None:
    assert "  learning_rate = 0.1     Factor of each tree. (> 0)\n" in podium("methods", "lambdamart").stdout
    assert "  k = 60.0  Damping: the larger, the less" in podium("methods", "rrf").stdout


@pytest.mark.parametrize("fits", [1, 3])
def test_the_bar_fills_up_fit_by_fit(fits: int) -> None:
    seen: list[float] = []

    class Shown:
        def update(self, _: object, completed: float, **__: object) -> None:
            seen.append(completed)

    bar = Bar(2, live=Shown())
    for part in ("one", "other"):
        progress = TrainingProgress(fits, bar.progress(part))
        for _ in range(fits):
            for k in (1, 2):
                progress.record(Step(k, 2, 0.0, None))
        bar.put(part, 1.0, finished=True)
    assert seen == sorted(seen)
    assert seen[0] == 1 / (2 * fits)
    assert seen[-1] == 2.0


def test_columns_of_a_table_are_named(podium: Podium) -> None:
    data = make_letor_like(12, (5, 8), n_features=4, seed=1)[0]
    table = to_frame(data).rename(columns={"qid": "query", "label": "grade"}).sample(frac=1, random_state=0)
    table.to_csv("a.csv", index=False)
    table.drop(columns="grade").to_csv("b.csv", index=False)
    assert "no column 'label'" in podium("train", "a.csv", "--method", "listnet").stderr
    roles = ("--label", "grade", "--qid", "query")
    assert podium("train", "a.csv", "--method", "listnet", *roles, "--valid", "a.csv").exit_code == 0
    scores = podium("rank", "model.podium", "b.csv", "--qid", "query").stdout.split()
    expected = Model.load("model.podium").score(table.rename(columns={"query": "qid"}))
    assert [float(word) for word in scores] == pytest.approx(expected.tolist(), rel=1e-9)


def test_documents_without_queries_are_said_to_be_one_query(podium: Podium) -> None:
    result = podium("train", "-", "--method", "listnet", stdin=b"1 1:1\n0 1:2\n2 1:3\n")
    assert result.exit_code == 0
    assert "warning: <stdin>: all 3 documents are one query" in result.stderr
    assert "data       <stdin>: 1 query, 3 documents, 1 feature\n" in result.stdout


def test_a_constant_model_is_said_to_be_one(podium: Podium) -> None:
    result = podium("train", "-", "--method", "listnet", stdin=b"1 qid:1 1:1\n0 qid:1 1:1\n2 qid:2 1:1\n0 qid:2 1:1\n")
    assert result.exit_code == 0
    assert "warning: recipe(loss=listnet): the model gives all 4 documents" in result.stderr
    assert "site-packages" not in result.stderr


def test_a_preset_holds_for_the_metric_of_validation_data(podium: Podium, folder: Path) -> None:
    assert podium("train", str(folder), "--method", "listnet", "--preset", "trec").exit_code == 0
    assert Model.load("model.podium").info["metric"] == str(Metric.parse("ndcg@10", preset="trec"))
