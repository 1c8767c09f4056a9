"""What the tests of the command line share: a runner, and small files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from podium.cli.main import app
from podium.data import make_letor_like, split
from podium.formats import write_letor


@pytest.fixture
def podium(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run a command in an empty folder: podium("train", "x.txt") → result with exit_code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PODIUM_THREADS", "1")  # and so one job, which starts faster than several

    def run(*words: str, stdin: bytes | None = None) -> Any:
        return CliRunner().invoke(app, list(words), input=stdin)

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with train, vali and test files."""
    path = tmp_path / "set"
    path.mkdir()
    data, _ = make_letor_like(30, (4, 8), n_features=5, seed=1)
    for name, part in zip(("train", "vali", "test"), split(data), strict=True):
        write_letor(part, path / f"{name}.txt")
    return path
