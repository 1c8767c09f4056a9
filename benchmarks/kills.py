"""Commands that write, killed (SIGKILL) at random moments and run again: `python -m benchmarks.kills [KILLS]`.

What the second run leaves must be what an undisturbed run leaves, and nothing else: no temporary file, no lock.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import podium
from podium.formats import write_letor
from podium.text.index.index import Index


@dataclass(frozen=True)
class Command:
    """What is run, and what it leaves: by name, with the bytes or numbers that must be the same."""

    words: str
    left: Callable[[Path], object]


def main(kills: int = 60, seed: int = 0) -> None:
    with tempfile.TemporaryDirectory() as place:
        prepare(Path(place) / "input")
        for name in COMMANDS:
            killed, again = trial(Path(place), name, -(-kills // len(COMMANDS)), seed)
            print(f"{name:8} killed {killed}, the same after it was run again {again}", flush=True)


def trial(place: Path, name: str, kills: int, seed: int, *, undisturbed: int = 2) -> tuple[int, int]:
    """How often a command was killed before its end, and how often the next run left what an undisturbed one does."""
    command = COMMANDS[name]
    expected, seconds = None, 0.0
    for _ in range(undisturbed):  # the first may compile
        folder = _fresh(place)
        began = time.monotonic()
        code, words = run(folder, command.words)
        seconds = time.monotonic() - began
        assert code == 0, words
        expected = command.left(folder)
    killed, same, rng = 0, 0, random.Random(f"{name} {seed}")
    for _ in range(kills):
        folder = _fresh(place)
        killed += run(folder, command.words, kill_after=rng.uniform(0.3, 1.05) * seconds)[0] == -signal.SIGKILL
        code, words = run(folder, command.words)
        done = code == 0 or (name == "index" and "exists already" in words)  # it was killed after its last step
        if done and command.left(folder) == expected:
            same += 1
        else:
            print(name, code, words, sorted(os.listdir(folder)), file=sys.stderr)
    return killed, same


def run(folder: Path, words: str, *, kill_after: float | None = None) -> tuple[int, str]:
    """The exit code of a command, and what it said."""
    process = subprocess.Popen(
        [sys.executable, "-m", "podium", *words.split()],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        _, err = process.communicate(timeout=kill_after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        _, err = process.communicate()
    return process.returncode, err.decode()


def prepare(folder: Path) -> None:
    """The files that commands read."""
    folder.mkdir()
    data, _ = podium.make_letor_like(400, (10, 20), n_features=20, seed=1)
    write_letor(data, folder / "data.txt")
    podium.train(data, "lambdamart(rounds=20)").save(folder / "m.podium")
    rows = ({"id": f"d{k}", "title": f"t{k % 7}", "text": f"common w{k % 50} w{k % 31} x{k}"} for k in range(4000))
    (folder / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    events = []
    for k in range(2000):
        items = [{"id": f"i{(k + j) % 40}"} for j in range(5)]
        query = {"name": "query", "value": f"q{k % 20}"}
        events.append({"event": "ranking", "id": f"r{k}", "timestamp": f"{k}", "user": "u", "session": "s",
                       "fields": [query], "items": items})  # fmt: skip
        events.append({"event": "interaction", "id": f"e{k}", "ranking": f"r{k}", "timestamp": f"{k}", "user": "u",
                       "session": "s", "type": "click", "item": items[k % 5]["id"], "fields": []})  # fmt: skip
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))


def _fresh(place: Path) -> Path:
    shutil.rmtree(place / "work", ignore_errors=True)
    return Path(shutil.copytree(place / "input", place / "work"))


def _files(folder: Path) -> object:
    """Every file with its bytes, but those that name seconds or machines."""
    timed = ("results.json", "report.html", "provenance.json", "table.md", "table.tex")
    names = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    return {name: "" if name.endswith(timed) or "/runs/" in name else (folder / name).read_bytes() for name in names}


def _index(folder: Path) -> object:
    index = Index.open(folder / "my.index")
    hits = [index.search(query, 50) for query in ("common w3", "x17 t2", "w1 w2 w3")]
    documents = list(index.store.documents())
    index.close()
    names = sorted(name for name in os.listdir(folder))
    return names, documents, [(one.ids, one.scores.tobytes()) for one in hits]


COMMANDS = {
    "index": Command("index docs.jsonl -o my.index", _index),
    "cache": Command("cache data.txt -o data.pod", _files),
    "train": Command("train data.txt --method listnet -o out.podium", _files),
    "compare": Command("compare data.txt --methods random,single-feature,regression -o out", _files),
    "export": Command("export m.podium --to c -o m.c", _files),
    "clicks": Command("clicks import metarank events.jsonl -o log.parquet", _files),
}


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
