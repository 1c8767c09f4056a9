"""Click: how long the command line takes for little work, everything compiled and cached."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.contest import Contest
from benchmarks.made_up import trec_files


def contests(*, quick: bool) -> Iterator[Contest]:
    with tempfile.TemporaryDirectory() as folder:
        qrels, runs = trec_files(Path(folder), runs=1, queries=50, documents=20)
        command("demo", "-o", f"{folder}/demo")
        data = next(iter(sorted(Path(folder, "demo").rglob("test.txt"))))
        model = f"{folder}/m.podium"
        command("train", str(data), "--method", "lambdamart(rounds=20)", "-o", model)
        for words, most in (
            (("--help",), 0.3),
            (("methods",), 0.5),
            (("evaluate", str(qrels), str(runs[0])), 0.7),
            (("rank", model, str(data)), 0.7),
        ):
            shown = " ".join([words[0], *("…" for _ in words[1:2])])
            yield Contest(
                f"podium {shown}",
                lambda words=words: command(*words),
                {"python -c 'import numpy'": lambda: process(sys.executable, "-c", "import numpy")},
                goal=f"< {most} s",
                most_seconds=most,
                repeats=5,
            )


def command(*words: str) -> dict[str, float]:
    return process(sys.executable, "-m", "podium", *words)


def process(*words: str) -> dict[str, float]:
    """CPU and wall seconds of a command."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=known)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": cpu, "wall": time.perf_counter() - wall}
