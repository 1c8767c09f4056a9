"""Killed at six moments and gone on with each time, a comparison ends as one that nobody disturbed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from podium.data import make_letor_like, split
from podium.formats import write_letor

pytestmark = pytest.mark.slow

METHODS = "regression,listnet,lambdamart(rounds=20),single-feature"


def start(folder: Path, output: str) -> subprocess.Popen[bytes]:
    words = ["compare", "data", "--methods", METHODS, "-m", "ndcg@5,map", "-o", output, "--jobs", "2"]
    return subprocess.Popen(
        [sys.executable, "-m", "podium", *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def finish(folder: Path, output: str) -> float:
    """Run to the end; the seconds that took."""
    begun = time.monotonic()
    with start(folder, output) as process:
        _, err = process.communicate()
    assert process.returncode == 0, err.decode()
    return time.monotonic() - begun


def kill_after(seconds: float, folder: Path, output: str) -> bool:
    """Kill the whole group at a moment; whether there was still something to kill."""
    with start(folder, output) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    return process.returncode == -signal.SIGKILL


def test_killed_at_six_moments_it_gives_the_same_results(tmp_path: Path) -> None:
    for k in (1, 2):
        (tmp_path / f"data/Fold{k}").mkdir(parents=True)
        data, _ = make_letor_like(60, (10, 20), n_features=10, seed=k)
        for name, part in zip(("train", "vali", "test"), split(data), strict=True):
            write_letor(part, tmp_path / f"data/Fold{k}/{name}.txt")
    finish(tmp_path, "warm")  # kernels are compiled, once
    whole = finish(tmp_path, "whole")
    moments = (np.arange(6) + np.random.default_rng(0).random(6)) / 6 * whole
    killed = 0
    for moment in moments:
        killed += kill_after(moment, tmp_path, "out")
        for run in (tmp_path / "out/runs").glob("[!.]*"):
            json.loads(run.read_bytes())  # whole, or not there
    assert killed >= 3
    finish(tmp_path, "out")
    for name in ("results.json", "per_query.tsv"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    names = {str(p.relative_to(tmp_path / "whole")) for p in (tmp_path / "whole").rglob("*")}
    assert names == {str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*")}
