"""`podium evaluate`, `compare` and `demo`."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podium.cli import demo
from podium.comparison import make_spec
from podium.evaluation.evaluate import evaluate
from podium.formats import read_letor
from podium.methods import METHODS

Podium = Callable[..., Any]
DATA = "0 qid:1 1:1\n2 qid:1 1:2\n0 qid:2 1:1\n0 qid:2 1:2\n"
QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 1\n"
RUN = "1 Q0 b 1 2.0 t\n1 Q0 a 2 1.0 t\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    for name, text in {"data.txt": DATA, "scores.txt": "2\n1\n4\n3\n", "qrels.txt": QRELS, "run.txt": RUN}.items():
        (tmp_path / name).write_text(text)


def test_a_curve_is_written_with_the_auc_of_each_file(podium: Podium, tmp_path: Path) -> None:
    result = podium("evaluate", "data.txt", "scores.txt", "--curve", "curve.html", "--json")
    curve = json.loads(result.stdout)["curve"]
    assert curve["auc"] == {"scores.txt": 0.0}
    assert curve["precision"]["scores.txt"] == [0.5] * 21
    assert "<svg" in (tmp_path / "curve.html").read_text()
    result = podium("evaluate", "qrels.txt", "run.txt", "--curve", "curve.html")
    assert "run.txt: AUC over the documents of all queries 0.0000" in result.stderr


def test_scores_are_judged_with_the_counts_and_the_convention(podium: Podium) -> None:
    result = podium("evaluate", "data.txt", "scores.txt", "-m", "mrr", "-m", "P@1,ndcg@10[gain=linear,ties=input]")
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["metric", "mean", "queries", "skipped", "convention"],
        ["mrr", "0.5000", "1", "1", "mrr[relevant=1,ties=mean,empty=skip]"],
        ["p@1", "0.0000", "1", "1", "p@1[relevant=1,divisor=cutoff,ties=mean,empty=skip]"],
        ["ndcg@10[gain=linear,ties=input]", "0.6309", "1", "1", "ndcg@10[linear,log2,ties=input,empty=skip]"],
    ]


def test_scores_may_come_from_standard_input(podium: Podium) -> None:
    result = podium("evaluate", "data.txt", "-", "-m", "p@1", stdin=b"1\n2\n3\n4\n")
    assert result.stdout.splitlines()[1].split()[:2] == ["p@1", "1.0000"]


def test_the_default_metrics_are_ndcg_at_10_and_map(podium: Podium) -> None:
    lines = podium("evaluate", "data.txt", "scores.txt").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["ndcg@10", "map"]


def test_every_query_is_printed_as_trec_eval_does(podium: Podium) -> None:
    lines = podium("evaluate", "data.txt", "scores.txt", "-m", "mrr", "--per-query").stdout.splitlines()
    assert lines[:2] == ["mrr\t1\t0.5000", "mrr\t2\t–"]


def test_json_is_all_there_is_on_standard_output(podium: Podium) -> None:
    made = json.loads(podium("evaluate", "data.txt", "scores.txt", "-m", "mrr", "--json", "--per-query").stdout)
    assert made["metrics"]["mrr"]["mean"] == 0.5
    assert made["per_query"] == {"1": {"mrr": 0.5}, "2": {"mrr": None}}


def test_four_columns_are_qrels(podium: Podium) -> None:
    result = podium("evaluate", "qrels.txt", "run.txt", "-m", "recip_rank", "--preset", "trec")
    assert result.stdout.splitlines()[1].split()[:3] == ["mrr[trec]", "0.5000", "1"]
    assert result.stderr == "queries: 2 judged, 1 in the run, 1 in both\n"


def test_letor_lines_of_four_columns_are_not_qrels(podium: Podium) -> None:
    Path("four.txt").write_text("# made up\n\n1 qid:1 1:1 2:0\n0 qid:1 1:1 2:1\n")
    assert podium("evaluate", "four.txt", "-", "-m", "p@1", stdin=b"2\n1\n").exit_code == 0


def test_tables_are_data(podium: Podium) -> None:
    Path("table.csv").write_text("label,qid,x\n1,1,0.5\n0,1,0.1\n")
    result = podium("evaluate", "table.csv", "-", "-m", "p@1", stdin=b"2\n1\n")
    assert result.stdout.splitlines()[1].split()[:2] == ["p@1", "1.0000"]


@pytest.mark.parametrize(
    ("judged", "ranked", "words"),
    [
        ("data.txt", "run.txt", "run.txt:1: expected one score per line"),
        ("data.txt", "data.txt", "data.txt:1: expected a score; got '1:1'"),
        ("qrels.txt", "scores.txt", "scores.txt:1: expected 6 columns"),
        ("data.txt", "none.txt", "none.txt: no such file."),
    ],
)
def test_files_that_do_not_fit_are_refused_in_words(podium: Podium, judged: str, ranked: str, words: str) -> None:
    result = podium("evaluate", judged, ranked)
    assert result.exit_code == 1
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_ids_with_hashes_and_commas_are_qrels(podium: Podium) -> None:
    Path("marco.txt").write_text("1 0 msmarco_v2.1_doc_01_1#0_2 1\n1 0 a,b 0\n")
    Path("marco.run").write_text("1 Q0 a,b 1 2.0 t\n1 Q0 msmarco_v2.1_doc_01_1#0_2 2 1.0 t of many words\n")
    result = podium("evaluate", "marco.txt", "marco.run", "-m", "mrr")
    assert result.stdout.splitlines()[1].split()[:2] == ["mrr", "0.5000"]
    assert podium("reconcile", "marco.txt", "marco.run", "--b", "trec", "-m", "mrr").exit_code == 0


def test_options_of_trec_eval_are_options(podium: Podium) -> None:
    def mean(*options: str) -> str:
        result = podium("evaluate", "qrels.txt", "run.txt", "-m", "recip_rank", *options)
        return result.stdout.splitlines()[1].split()[1]

    Path("run.txt").write_text("1 Q0 z 1 3.0 t\n" + RUN)
    assert mean() == "0.3333"
    assert mean("-c") == "0.1667"
    assert mean("-J") == "0.5000"
    assert mean("-M", "2") == "0.0000"
    assert mean("--judged-only", "--all-queries", "--max-documents", "3") == "0.2500"


def test_options_for_runs_are_refused_with_labelled_data(podium: Podium) -> None:
    result = podium("evaluate", "data.txt", "scores.txt", "-c")
    assert result.exit_code == 2
    assert "for runs against qrels" in result.stderr


def test_a_run_where_qrels_should_be_gets_a_hint(podium: Podium) -> None:
    for command in ("evaluate", "reconcile"):
        result = podium(command, "run.txt", "qrels.txt")
        assert result.exit_code == 2
        assert f"Give the qrels first and the run second: podium {command} QRELS run.txt" in result.stderr


def test_several_runs_stand_side_by_side_with_letters(podium: Podium) -> None:
    Path("other.run").write_text("1 Q0 a 1 2.0 t\n2 Q0 a 1 2.0 t\n")
    words = ["evaluate", "qrels.txt", "run.txt", "other.run", "-m", "mrr,num_ret"]
    result = podium(*words)
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["metric", "run.txt", "other.run", "queries"],
        ["mrr", "0.2500", "a", "1.0000", "a", "2"],
        ["num-ret", "2", "a", "2", "a", "2"],
    ]
    made = json.loads(podium(*words, "--json", "--per-query").stdout)
    assert made["runs"]["run.txt"]["per_query"]["2"]["mrr"] == 0.0
    assert [system["name"] for system in made["significance"]["mrr"]["systems"]] == ["other.run", "run.txt"]
    assert podium("evaluate", "qrels.txt", "run.txt", "run.txt").exit_code == 2


def test_several_files_of_scores_stand_side_by_side(podium: Podium) -> None:
    Path("more.txt").write_text("1\n2\n3\n4\n")
    result = podium("evaluate", "data.txt", "scores.txt", "more.txt", "-m", "mrr", "-q")
    assert result.stdout.splitlines()[0] == "mrr\t1\t0.5000\t1.0000"
    assert result.stdout.splitlines()[-1].split() == ["mrr", "0.5000", "1.0000", "1"]  # one query: nothing to test


def test_a_comparison_prints_the_best_first_and_keeps_everything(podium: Podium, folder: Path) -> None:
    words = ["compare", str(folder), "--method", "random", "--methods", "regression,single-feature", "-m", "ndcg@5"]
    result = podium(*words, "-o", "out")
    assert result.exit_code == 0, result.stderr
    results = json.loads(Path("out/results.json").read_text())
    means = {name: found["mean"]["ndcg@5"] for name, found in results["methods"].items()}
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["method", "ndcg@5", "chosen", "seconds", "cpu"]
    assert [row[:2] for row in rows[1:]] == [
        [name, f"{means[name]:.4f}"] for name in sorted(means, key=lambda name: -means[name])
    ]
    test = read_letor(folder / "test.txt")
    assert podium("rank", "out/models/set-regression.podium", str(folder / "test.txt"), "-o", "s.txt").exit_code == 0
    scores = [float(line) for line in Path("s.txt").read_text().splitlines()]
    assert evaluate(test, scores, ["ndcg@5"]).means()["ndcg@5"].value == means["regression"]
    again = podium(*words, "-o", "out", "--json")
    assert "3 of 3 were found in out and not done again." in again.stderr
    assert json.loads(again.stdout) == results


def test_the_table_has_the_mean_over_folds(podium: Podium, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "folds").mkdir()
    for k in (1, 2):
        (tmp_path / f"folds/Fold{k}").symlink_to(folder)
    words = ["compare", "folds", "--method", "random", "-m", "map", "--preset", "letor3"]
    refused = podium(*words)
    assert refused.exit_code == 1
    assert refused.stderr.endswith("Tune by another metric than ndcg@10[letor3]: see --tune-by.\n")
    result = podium(*words, "--tune-by", "map", "--json")
    assert [fold["fold"] for fold in json.loads(result.stdout)["methods"]["random"]["folds"]] == ["Fold1", "Fold2"]
    table = podium(*words, "--tune-by", "map").stdout
    assert table.splitlines()[0].split() == ["method", "map", "chosen", "seconds", "cpu"]


def test_folds_say_how_many_different_queries_there_are(podium: Podium, folder: Path, tmp_path: Path) -> None:
    folds = tmp_path / "folds"
    for name in ("Fold1", "Fold2"):
        shutil.copytree(folder, folds / name)
    result = podium("compare", str(folds), "--method", "random", "-m", "map")
    assert "folds: 6 queries, 2 folds, each with train 18, valid 6, test 6; 5 features" in result.stderr


def test_one_file_is_split_by_query(podium: Podium, folder: Path) -> None:
    result = podium("compare", str(folder / "train.txt"), "--method", "random", "-m", "map")
    assert "split by query 60/20/20; queries: train 11, valid 3, test 4" in result.stderr


def test_all_means_every_method() -> None:
    assert make_spec(["x"], ["all", "random"]).methods == tuple(METHODS)


def test_runs_are_compared_against_their_judgments(podium: Podium) -> None:
    Path("q.txt").write_text("".join(f"{q} 0 a 1\n{q} 0 b 0\n" for q in range(1, 9)))
    for name, order in {"good": "ab", "poor": "ba"}.items():
        lines = [f"{q} Q0 {d} {k} {-k} t\n" for q in range(1, 9) for k, d in enumerate(order, 1)]
        Path(f"{name}.run").write_text("".join(lines))
    result = podium("compare", "q.txt", "poor.run", "good.run", "-m", "mrr")
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["run", "mrr", "from", "to", "letters"],
        ["good.run", "1.0000", "1.0000", "1.0000", "a"],
        ["poor.run", "0.5000", "0.5000", "0.5000", "b"],
    ]
    made = json.loads(podium("compare", "q.txt", "poor.run", "good.run", "-m", "mrr", "--json").stdout)
    assert [one["name"] for one in made["mrr"]["systems"]] == ["good.run", "poor.run"]
    for words, line in {
        ("q.txt", "good.run"): "Two different runs are needed, podium compare QRELS RUN RUN; got 1 beside q.txt.",
        ("q.txt", "good.run", "good.run"): "Two different runs are needed, podium compare QRELS RUN RUN; got good.run",
        ("q.txt", "good.run", "poor.run", "--jobs", "2"): "--jobs: runs are compared as they are; it is for methods.",
    }.items():
        result = podium("compare", *words)
        assert result.exit_code == 2
        assert line in result.stderr


@pytest.mark.slow
def test_the_demo_shows_that_learning_pays_and_its_commands_work(
    podium: Podium, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "METHODS", ("random", "single-feature", "regression", "lambdamart"))
    result = podium("demo", "-o", "my demo")
    assert result.exit_code == 0, result.stderr
    rows = {line.split("  ")[0]: line.split() for line in result.stdout.splitlines() if "." in line}
    value = {name: float(next(word for word in row if word.startswith("0."))) for name, row in list(rows.items())[:5]}
    order = ["(planted truth)", "lambdamart", "regression", "single-feature", "random"]
    assert sorted(value, key=lambda name: -value[name]) == order
    commands = [line.strip() for line in result.stdout.splitlines() if line.startswith("  podium ")]
    shown = {shlex.split(command)[1] for command in commands}
    assert shown == {"rank", "evaluate", "check", "methods", "train", "compare"}
    for command in commands[:-1]:
        assert podium(*shlex.split(command)[1:]).exit_code == 0, command


def test_the_demo_compares_at_least_six_learners_with_both_baselines() -> None:
    assert {"random", "single-feature"} < set(demo.METHODS) <= set(METHODS)
    assert len(demo.METHODS) >= 8
