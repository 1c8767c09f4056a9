"""`podium warm`: commands after it compile nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from podium.data import make_letor_like, split
from podium.formats import write_letor
from podium.jit.compiled import is_interpreted

COUNTED = """
import sys
from podium.cli.main import app
from podium.jit.compiled import counting_compilations
for command in sys.argv[1].split(";"):
    with counting_compilations() as compiled:
        try:
            app(command.split())
        except SystemExit as end:
            assert not end.code, command
    assert not compiled, (command, compiled)
"""
NOTING = """
import os
from podium.jit.disk_cache import DiskCache
place = DiskCache._place

def noted(cache, *arguments):
    name, stamp = place(cache, *arguments)
    with open(os.environ["NOTED"], "a") as file:
        file.write(name + chr(10))
    return name, stamp

DiskCache._place = noted
"""
"""A plug-in that writes down which files of the cache are looked for or written."""


@pytest.mark.slow
@pytest.mark.skipif(is_interpreted(), reason="nothing is compiled")
def test_after_warming_train_rank_evaluate_and_search_compile_nothing(tmp_path: Path) -> None:
    (tmp_path / "noting.py").write_text(NOTING)
    warmed, used = tmp_path / "warmed.txt", tmp_path / "used.txt"
    environment = {**os.environ, "PODIUM_PLUGINS": str(tmp_path / "noting.py"), "NOTED": str(warmed)}
    warm = [sys.executable, "-m", "podium", "warm", "listnet", "--jobs", "2"]
    subprocess.run(warm, env=environment, capture_output=True, text=True, check=True)
    data, _ = make_letor_like(40, seed=3)
    (tmp_path / "data").mkdir()
    for name, part in zip(("train", "vali", "test"), split(data), strict=True):
        write_letor(part, tmp_path / "data" / f"{name}.txt")
    test = part.n_documents
    np.savetxt(tmp_path / "scores.txt", np.arange(test) % 9)
    documents = "".join(f'{{"id": "{k}", "text": "some words {k % 3}"}}\n' for k in range(300))
    (tmp_path / "documents.jsonl").write_text(documents)
    commands = [
        "train data --method listnet -o model.podium",
        "rank model.podium data/test.txt --odds",
        "evaluate data/test.txt scores.txt -m ndcg@5,map,err@10",
        "index documents.jsonl -o my.index",
        "search my.index words",
    ]
    large = {**environment, "NOTED": str(used), "PODIUM_COMPILE": "always"}  # as large inputs
    again = [sys.executable, "-c", COUNTED, ";".join(commands)]
    later = subprocess.run(again, env=large, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert later.returncode == 0, later.stderr
    needed, ready = (set(noted.read_text().split()) for noted in (used, warmed))
    assert len(needed) > 20
    assert len(ready) > 50
    assert needed <= ready  # and not only compiled by another test


def test_an_unknown_method_is_refused() -> None:
    command = [sys.executable, "-m", "podium", "warm", "nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "nonsense" in done.stderr
