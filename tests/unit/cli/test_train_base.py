"""`podium train` on top of another ranker's scores, of methods of methods, and with documents nobody judged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.formats import read_letor, write_letor
from podium.model import Model
from podium.training import train

Podium = Callable[..., Any]


def test_a_model_is_the_base_of_training_and_validation_data(podium: Podium, folder: Path) -> None:
    assert podium("train", str(folder), "--method", "regression", "-o", "old.podium").exit_code == 0
    result = podium("train", str(folder), "--method", "listnet", "--base", "old.podium", "-o", "new.podium")
    assert result.exit_code == 0, result.stderr
    assert "base       old.podium: the model's scores are to be added to these" in result.stdout
    old = Model.load("old.podium")
    parts = [read_letor(folder / f"{name}.txt") for name in ("train", "vali")]
    based = [part.with_base_scores(old.score(part)) for part in parts]
    expected = train(based[0], "listnet", valid=based[1])
    assert Model.load("new.podium").params["theta"].tobytes() == expected.params["theta"].tobytes()
    note = podium("rank", "new.podium", str(folder / "test.txt")).stderr
    assert "to be added to the base scores, old.podium" in note


def test_scores_next_to_a_file_are_its_base(podium: Podium, folder: Path) -> None:
    data = read_letor(folder / "train.txt")
    scores = np.random.default_rng(0).normal(size=data.n_documents)
    Path("scores.txt").write_text("".join(f"{score!r}\n" for score in scores.tolist()), encoding="utf-8")
    for name, option in {"option": ["--base", "scores.txt"], "init": [], "base_margin": []}.items():
        write_letor(data, "data.txt")
        if not option:
            Path(f"data.txt.{name}").write_bytes(Path("scores.txt").read_bytes())
        result = podium("train", "data.txt", "--method", "listnet", *option, "-o", f"{name}.podium")
        assert result.exit_code == 0, result.stderr
        Path(f"data.txt.{name}").unlink(missing_ok=True)
    models = [Model.load(f"{name}.podium") for name in ("option", "init", "base_margin")]
    assert len({model.params["theta"].tobytes() for model in models}) == 1
    assert models[0].params["theta"].tobytes() != train(data, "listnet").params["theta"].tobytes()


def test_base_scores_are_written_and_read(tmp_path: Path, folder: Path) -> None:
    data = read_letor(folder / "train.txt")
    based = data.with_base_scores(np.random.default_rng(0).normal(size=data.n_documents))
    write_letor(based, tmp_path / "based.txt")
    np.testing.assert_array_equal(read_letor(tmp_path / "based.txt").base_scores, based.base_scores)


def test_scores_that_do_not_fit_are_refused(podium: Podium, folder: Path) -> None:
    Path("short.txt").write_text("1\n2\n", encoding="utf-8")
    result = podium("train", str(folder / "train.txt"), "--base", "short.txt")
    assert result.exit_code == 1
    assert "2 scores for the" in result.stderr
    result = podium("train", str(folder), "--base", "short.txt")
    assert result.exit_code == 2
    assert "the scores of the validation data are needed too" in result.stderr


@pytest.mark.parametrize("name", ["bagged", "blended", "interpolated", "adapted", "self-trained"])
def test_methods_of_methods_are_listed_and_explained(podium: Podium, name: str) -> None:
    assert f"\n{name} " in podium("methods").stdout
    page = podium("methods", name).stdout
    assert all(heading in page for heading in ("Formula:", "Ties:", "Cost:", "Use it for:", "Reference:"))


def test_methods_of_methods_are_trained(podium: Podium, folder: Path) -> None:
    for method in ("bagged(of=listnet,members=2)", "blended(members=[listnet,regression],of=listnet)"):
        result = podium("train", str(folder), "--method", method, "-o", "m.podium")
        assert result.exit_code == 0, result.stderr
        assert podium("rank", "m.podium", str(folder / "test.txt")).exit_code == 0


def test_documents_that_nobody_judged_are_counted(podium: Podium, folder: Path) -> None:
    lines = (folder / "train.txt").read_text(encoding="utf-8").splitlines()
    hidden = ["nan" + line[line.index(" ") :] for line in lines[:3]]
    Path("data.txt").write_text("\n".join(hidden + lines[3:]), encoding="utf-8")
    result = podium("train", "data.txt", "--method", "listnet")
    assert result.exit_code == 0, result.stderr
    assert "unjudged   3 documents without a label (nan), not learned from" in result.stdout
