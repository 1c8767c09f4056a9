"""A researcher's way: folds, runs and frames of other tools, a notebook, a loss in a file; no glue."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import podium as library
from podium.cli.main import app

LOSS = """
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.losses import Loss


@compiled
def kernel(scores, labels, gradient, curvature, params):
    value = 0.0
    for i in range(len(scores)):
        error = scores[i] - labels[i]
        value += error * error
        gradient[i], curvature[i] = 2.0 * error, 2.0
    return value


@register
class Squares(Loss):
    \"\"\"Squared error, written at home.\"\"\"

    shift_invariant = False
    grades = staticmethod(kernel)
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folds, qrels, and runs of two systems, of which one is better."""
    folder = tmp_path_factory.mktemp("desk")
    for fold in (1, 2):
        place = folder / "DATA" / f"Fold{fold}"
        place.mkdir(parents=True)
        for k, part in enumerate(("train", "vali", "test")):
            library.write_letor(library.make_letor_like(20, (8, 12), seed=10 * fold + k)[0], place / f"{part}.txt")
    rng = np.random.default_rng(0)
    grades = {f"q{q}": {f"d{d}": int(rng.integers(0, 3)) for d in range(20)} for q in range(30)}
    library.write_qrels(library.Qrels.from_dict(grades), folder / "qrels.txt")
    for name, noise in (("good", 0.7), ("poor", 3.0)):
        scores = {q: {d: g + noise * rng.normal() for d, g in of.items()} for q, of in grades.items()}
        library.write_run(library.Run.from_dict(scores), folder / f"{name}.run")
    (folder / "my_loss.py").write_text(LOSS)
    (folder / "bad_loss.py").write_text(LOSS.replace("@compiled\n", "").replace("Squares", "Forgotten"))
    return folder


@pytest.fixture
def podium(desk: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.chdir(desk)
    monkeypatch.setenv("PODIUM_THREADS", "1")
    return lambda *words: CliRunner().invoke(app, list(words))


@pytest.mark.slow
def test_methods_are_compared_with_a_report_and_a_table_for_the_paper(podium: Callable[..., Any]) -> None:
    done = podium("compare", "DATA", "--methods", "listnet,regression,random", "--preset", "mslr", "--jobs", "1",
                  "-o", "three")  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "significantly better" in done.stdout + done.stderr
    table = Path("three", "table.tex").read_text()
    assert "NDCG@10" in table
    assert "booktabs" in table
    assert "svg" in Path("three", "report.html").read_text().lower()


@pytest.mark.slow
def test_runs_are_compared_as_methods_are(podium: Callable[..., Any]) -> None:
    done = podium("compare", "qrels.txt", "poor.run", "good.run", "--baseline", "poor.run", "--test", "t",
                  "--correction", "bonferroni", "-m", "nDCG@10", "-m", "AP(rel=2)", "-o", "runs")  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "good.run is significantly better than poor.run" in done.stderr
    assert {path.name for path in Path("runs").iterdir()} >= {"report.html", "table.tex", "results.json"}


def test_frames_of_pyterrier_and_ir_measures_are_taken(desk: Path) -> None:
    qrels, run = library.read_qrels(desk / "qrels.txt"), library.read_run(desk / "good.run")
    expected = library.evaluate_run(qrels, run, "ndcg@10").means()
    of_qrels, of_run = (np.repeat(part.query_ids, np.diff(part.offsets)) for part in (qrels, run))
    pyterrier = (
        pd.DataFrame({"qid": of_qrels, "docno": qrels.document_ids.tolist(), "label": qrels.labels.astype(int)}),
        pd.DataFrame({"qid": of_run, "docno": run.document_ids.tolist(), "score": run.scores}),
    )
    assert library.evaluate_run(*pyterrier, "ndcg@10").means() == expected
    names = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}
    assert library.evaluate_run(*(frame.rename(columns=names) for frame in pyterrier), "ndcg@10").means() == expected


@pytest.mark.slow
def test_results_are_short_in_a_notebook(desk: Path) -> None:
    qrels = library.read_qrels(desk / "qrels.txt")
    runs = {name: library.read_run(desk / f"{name}.run") for name in ("good", "poor")}
    evaluation = library.evaluate_run(qrels, runs["good"], ["ndcg@10", "map"])
    compared = library.compare_runs(qrels, runs, "ndcg@10")
    for result in (evaluation, compared, compared["ndcg@10"]):
        assert len(repr(result)) < 800
        assert "<table" in result._repr_html_()
        assert len(result.to_frame()) > 0
        assert "\\toprule" in result.to_latex()


@pytest.mark.slow
def test_a_loss_in_a_file_trains_with_every_scorer(desk: Path) -> None:
    """And one without @compiled says so, with its line."""

    def shell(*words: str) -> Any:
        program = [sys.executable, "-m", "podium", *words]
        return subprocess.run(program, cwd=desk, capture_output=True, text=True, check=False)

    for method in ("recipe(loss=squares)", "recipe(loss=squares,scorer=mlp(hidden=[4]),solver=adam(epochs=2))"):
        done = shell("--plugin", "my_loss.py", "train", "DATA/Fold1", "--method", method, "-o", "own.podium")
        assert done.returncode == 0, done.stderr
    ranked = shell("rank", "own.podium", "DATA/Fold1/test.txt", "--format", "jsonl", "--plugin", "my_loss.py")
    assert json.loads(ranked.stdout.splitlines()[0])["rank"] == 1
    done = shell("--plugin", "bad_loss.py", "train", "DATA/Fold1", "--method", "recipe(loss=forgotten)")
    assert done.returncode != 0
    assert "bad_loss.py:" in done.stderr
    assert "@compiled" in done.stderr
    assert "Traceback" not in done.stderr
