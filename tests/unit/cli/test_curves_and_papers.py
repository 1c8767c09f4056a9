"""`podium curve`, `podium demo papers`, and `podium compare SPEC --data NAME=PATH`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.data import Dataset, make_letor_like, split
from podium.evaluation.curves.learning_curve import learning_curve
from podium.formats import read_folder, read_letor, write_letor

Podium = Callable[..., Any]


@pytest.fixture
def larger(tmp_path: Path) -> Path:
    """A folder with enough queries for a curve of four sizes."""
    path = tmp_path / "larger"
    path.mkdir()
    data, _ = make_letor_like(130, (4, 6), n_features=4, seed=1)
    for name, part in zip(("train", "vali", "test"), split(data, (0.5, 0.25, 0.25)), strict=True):
        write_letor(part, path / f"{name}.txt")
    return path


def test_a_curve_is_printed_drawn_and_given_as_json(podium: Podium, larger: Path) -> None:
    options = ("--method", "regression(penalty=0.1)", "-m", "ndcg@5")
    result = podium("curve", str(larger), *options, "-o", "curve.html")
    assert result.exit_code == 0, result.stderr
    expected = learning_curve(read_folder(larger)[0], "regression(penalty=0.1)", "ndcg@5")
    heads, *rows = [line.split() for line in result.stdout.splitlines()]
    assert heads == ["queries", "ndcg@5", "from", "to"]
    assert [int(row[0]) for row in rows[: len(expected.sizes)]] == list(expected.sizes)
    assert [float(row[1]) for row in rows[: len(expected.sizes)]] == pytest.approx(expected.means, abs=6e-5)
    assert expected.sentences()[0] in result.stdout
    assert "<svg" in Path("curve.html").read_text(encoding="utf-8")
    documents = podium("curve", str(larger), *options, "--by", "documents", "--json")
    assert json.loads(documents.stdout)["by"] == "documents"


def test_a_curve_of_few_queries_says_that_nothing_can_be_foretold(podium: Podium, folder: Path) -> None:
    few = podium("curve", str(folder), "--method", "regression")
    assert few.exit_code == 0, few.stderr
    assert "no forecast: a fit needs at least 4 sizes of training data; there are 2." in few.stdout
    assert podium("curve", str(folder)).exit_code == 2, "a method is needed"


SPEC = """
methods = ["single-feature"]
metrics = ["ndcg@5"]

[datasets]
A = ""
B = "elsewhere"
"""


def test_data_says_where_the_datasets_of_a_spec_are(podium: Podium, folder: Path) -> None:
    Path("spec.toml").write_text(SPEC, encoding="utf-8")
    result = podium("compare", "spec.toml", "--data", f"A={folder}", "--json", "-o", "results")
    assert result.exit_code == 1
    assert "elsewhere" in result.stderr, "B stays where the spec says"
    result = podium("compare", "spec.toml", "--data", f"A={folder}", "--data", f"B={folder}", "-o", "results")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("single-feature") >= 2
    assert "OTHER" in podium("compare", "spec.toml", "--data", f"OTHER={folder}", "-o", "x").stderr
    assert "NAME=PATH" in podium("compare", "spec.toml", "--data", str(folder), "-o", "x").stderr


@pytest.mark.slow
def test_the_demo_of_papers_runs_their_specs_on_data_that_it_makes(
    podium: Podium, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("podium.comparison.spec.papers", lambda: ["paper:freno-2011-table-2"])
    result = podium("demo", "papers", "-o", "out")
    assert result.exit_code == 0, result.stderr
    assert "paper:freno-2011-table-2, on synthetic data" in result.stdout
    for method in ("energy-ndcg", "ranking-svm", "sortnet"):
        assert method in result.stdout
    clicked: Dataset = read_letor("out/data/AOL/train.txt")
    assert clicked.labels is not None
    assert set(np.unique(clicked.labels)) <= {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0}
    assert len(np.unique(clicked.labels)) > 2
