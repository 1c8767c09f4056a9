"""`podium compare` with specs, several seeds, several datasets and searches."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.data import make_letor_like, split
from podium.formats import write_letor

Podium = Callable[..., Any]


@pytest.fixture
def data(tmp_path: Path) -> None:
    """Two datasets, one and two."""
    for k, name in enumerate(("one", "two")):
        (tmp_path / name).mkdir()
        made, _ = make_letor_like(30, (4, 8), n_features=5, seed=k)
        for part, cut in zip(("train", "vali", "test"), split(made), strict=True):
            write_letor(cut, tmp_path / name / f"{part}.txt")


@pytest.mark.usefixtures("data")
def test_values_are_averaged_over_seeds_and_their_spread_is_shown(podium: Podium) -> None:
    words = ["compare", "one", "--methods", "random,single-feature", "-m", "ndcg@5"]
    each = [json.loads(podium(*words, "--seed", str(seed), "--json").stdout) for seed in (0, 1, 2)]
    result = podium(*words, "--seeds", "0,1,2", "-o", "out")
    assert result.exit_code == 0, result.stderr
    found = json.loads(Path("out/results.json").read_text())
    means = [one["methods"]["random"]["mean"]["ndcg@5"] for one in each]
    assert found["seeds"] == [0, 1, 2]
    assert [one["mean"]["ndcg@5"] for one in found["methods"]["random"]["seeds"]] == means
    assert found["methods"]["random"]["mean"]["ndcg@5"] == pytest.approx(np.mean(means))
    assert found["methods"]["random"]["spread"]["ndcg@5"] == pytest.approx(np.std(means, ddof=1))
    assert found["methods"]["single-feature"]["spread"]["ndcg@5"] == 0.0
    assert result.stdout.splitlines()[0].split() == ["method", "ndcg@5", "±", "chosen", "seconds", "cpu"]
    assert Path("out/models/one-random-seed2.podium").exists()


@pytest.mark.usefixtures("data")
def test_several_datasets_have_a_folder_each_and_an_overview(podium: Podium) -> None:
    result = podium("compare", "one", "two", "--methods", "random,regression", "-m", "ndcg@5,map", "-o", "out")
    assert result.exit_code == 0, result.stderr
    found = json.loads(Path("out/results.json").read_text())
    for name in ("one", "two"):
        own = json.loads(Path(f"out/{name}/results.json").read_text())
        for method in ("random", "regression"):
            for metric in ("ndcg@5", "map"):
                assert found["methods"][method][metric]["mean"][name] == own["methods"][method]["mean"][metric]
        assert Path(f"out/{name}/report.html").exists()
        assert f'href="{name}/report.html"' in Path("out/report.html").read_text()
    assert found["methods"]["regression"]["ndcg@5"]["rank"] == 1.0
    assert "ndcg@5 on all datasets" in result.stdout
    assert "| regression |" in Path("out/table.md").read_text()


@pytest.mark.usefixtures("data")
def test_a_spec_does_what_the_flags_do_and_its_copy_repeats_it(podium: Podium) -> None:
    Path("e.toml").write_text('datasets = ["one"]\nmethods = ["random"]\nmetrics = ["map"]\nseeds = [3]\noutput = "a"')
    result = podium("compare", "e.toml")
    assert result.exit_code == 0, result.stderr
    podium("compare", "one", "--methods", "random", "-m", "map", "--seed", "3", "-o", "b")
    assert Path("a/results.json").read_bytes() == Path("b/results.json").read_bytes()
    assert Path("a/spec.toml").read_bytes() == Path("b/spec.toml").read_bytes()
    again = podium("compare", "b/spec.toml")
    assert "1 of 1 were found in b and not done again." in again.stderr
    elsewhere = podium("compare", "e.toml", "-o", "c", "--json")
    assert json.loads(elsewhere.stdout) == json.loads(Path("c/results.json").read_text())


@pytest.mark.parametrize(
    "words",
    [("--metric", "map"), ("--search", "grid"), ("--tune-by", "map"), ("--seed", "0"), ("--method", "random")],
    ids=lambda words: words[0],
)
def test_a_spec_says_it_all(podium: Podium, words: tuple[str, str]) -> None:
    Path("e.toml").write_text('datasets = ["one"]\nmethods = ["random"]\nsearch = "optuna"')
    result = podium("compare", "e.toml", *words)
    assert result.exit_code == 2
    allowed = "Only --data, -o, --jobs and --json go with a spec."
    assert result.stderr == f"podium: {words[0]}: write it into e.toml. {allowed}\n"


@pytest.mark.usefixtures("data")
def test_what_tunes_is_said_and_kept(podium: Podium) -> None:
    result = podium("compare", "one", "--methods", "regression,random", "-m", "ndcg@1", "-o", "a")
    assert "tuned by ndcg@10 on validation data\n" in result.stderr
    result = podium("compare", "one", "--methods", "regression", "-m", "ndcg@1", "--tune-by", "map", "-o", "b")
    assert "tuned by map on validation data\n" in result.stderr
    assert "tuned by" not in podium("compare", "one", "--methods", "random,single-feature", "-m", "map").stderr
    assert 'tune_by = "map"' in Path("b/spec.toml").read_text()
    runs = json.loads(Path("b/results.json").read_text())["methods"]["regression"]["folds"][0]["runs"]
    assert runs[0]["info"]["metric"] == "map"


@pytest.mark.slow
def test_ids_that_are_not_utf_8_come_through(podium: Podium) -> None:
    for name, data in {"train": (1, 2), "vali": (3,), "test": (4, 5)}.items():
        Path("odd").mkdir(exist_ok=True)
        lines = [
            b"%d qid:\xe9%d 1:%d 2:%d #docid = \xff%d\n" % (k % 3, q, k % 3, -k, k) for q in data for k in range(6)
        ]
        Path(f"odd/{name}.txt").write_bytes(b"".join(lines))
    result = podium("compare", "odd", "--methods", "regression,random", "-m", "ndcg@5", "-o", "out", "--jobs", "2")
    assert result.exit_code == 0, result.stderr
    assert r"\udce94" in Path("out/per_query.tsv").read_text()
    kept = json.loads(Path("out/runs/odd-random.json").read_text())
    assert [query.encode("utf-8", "surrogateescape") for query in kept["query_ids"]] == [b"\xe94", b"\xe95"]
    again = podium("compare", "odd", "--methods", "regression,random", "-m", "ndcg@5", "-o", "out")
    assert "2 of 2 were found in out and not done again." in again.stderr
    podium("rank", "out/models/odd-random.podium", "odd/test.txt", "-o", "s.txt")
    printed = podium("evaluate", "odd/test.txt", "s.txt", "-m", "ndcg@5", "--per-query")
    assert printed.stdout_bytes.startswith(b"ndcg@5\t\xe94\t")
    as_json = podium("evaluate", "odd/test.txt", "s.txt", "-m", "ndcg@5", "--per-query", "--json")
    assert json.loads(as_json.stdout)["per_query"].keys() == set(kept["query_ids"])


@pytest.mark.usefixtures("data")
def test_settings_are_searched_and_what_was_chosen_is_shown(podium: Podium) -> None:
    words = ["compare", "one", "--methods", "regression", "-m", "ndcg@5", "--search", "optuna(trials=4)", "--json"]
    [fold] = json.loads(podium(*words).stdout)["methods"]["regression"]["folds"]
    trials = fold["runs"][0]["info"]["trials"]
    assert len(trials) == 4
    assert fold["runs"][0]["chosen"]["penalty"] == max(trials, key=lambda trial: trial["valid"])["penalty"]
    assert podium("train", "one", "--method", "regression", "--search", "optuna(trials=3)").stdout.count("tried") == 3


@pytest.mark.usefixtures("data")
def test_what_failed_is_said_after_what_did_not(podium: Podium) -> None:
    Path("one/train.txt").write_text(Path("one/train.txt").read_text().replace(" 2:", " 2:nan #", 1))
    text = Path("one/train.txt").read_text()
    assert "nan" in text
    result = podium("compare", "one", "--methods", "single-feature,regression(transform=identity)", "-m", "map")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1].startswith("single-feature")
    assert "podium: 1 of 2 failed: one regression(transform=identity): " in result.stderr
    assert result.stderr.splitlines()[-1].endswith("The others are finished.")


@pytest.mark.usefixtures("data")
def test_a_folder_that_another_process_writes_to_is_refused(podium: Podium) -> None:
    Path("out").mkdir()
    with open("out/.lock", "w") as other:
        other.write("4711")
        other.flush()
        fcntl.flock(other, fcntl.LOCK_EX)
        result = podium("compare", "one", "--methods", "random", "-o", "out")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == (
        "podium: out: another podium (process 4711) is writing here. Wait until it ends, or choose another folder."
    )
    assert sorted(file.name for file in Path("out").iterdir()) == [".lock"]
    assert podium("compare", "one", "--methods", "random", "-o", "out").exit_code == 0


@pytest.mark.usefixtures("data")
def test_what_killed_processes_left_half_written_is_swept_away(podium: Podium) -> None:
    Path("out/runs").mkdir(parents=True)
    for name in ("out/.results.json.0123456789ab.part", "out/runs/.one-random.json.ba9876543210.part"):
        Path(name).write_text("{")
    assert podium("compare", "one", "--methods", "random", "-o", "out").exit_code == 0
    assert not list(Path("out").rglob("*.part"))
