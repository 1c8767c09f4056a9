"""Damaged stores of feedback: each is refused in words, or read; none ends a thread of the service.

python tests/fuzz/store_mutations.py 800 [SEED]
"""

from __future__ import annotations

import contextlib
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from podium.base.errors import PodiumError
from podium.service.experiments.ab_tests import Experiments
from podium.service.experiments.experiment_schemas import ExperimentRequest
from podium.service.feedback.events import Action, Feedback, Impression
from podium.service.feedback.feedback_export import backup, click_log, judgments, totals, training_data
from podium.service.feedback.judging import agreement, judged_data, qrels, read_judgments
from podium.service.models.versions import Models


def make_store(path: Path, models: Models) -> None:
    """A store with all that can be in one: impressions, events, judgments, three experiments."""
    kept = Feedback(path)
    experiments = Experiments(kept)
    for name, kind in (("a", "split"), ("c", "shadow"), ("b", "interleave")):
        request = ExperimentRequest(name=name, kind=kind, candidate="plain", control="web")
        experiments.start(request, models.current, searches=False)
        if name != "b":
            experiments.end(name)
    for k in range(60):
        arms = [1.0, -1.0, 1.0] if k % 3 else None
        kept.log(
            Impression(
                f"r{k}", "web@1", ("a", "b"), f"q{k % 7}", f"u{k % 5}", ["x", "y y", "z"],
                np.ones((3, 2), np.float32), "ab"[k % 2] if arms else None, arms,
            )
        )  # fmt: skip
        kept.add([Action("click", "y y", f"r{k}"), Action("dwell", "x", f"r{k}", value=3.5)]).result()
        kept.add([Action("judgment", "x", query=f"q{k % 7}", value=float(k % 4), who=f"w{k % 3}")]).result()
    rows = [("c", f"r{k}", 1, 0.5, 0.5, 0.1, 0.1) for k in range(20)]
    columns = "experiment, request, at, kendall, overlap, difference, seconds"
    kept.change(
        lambda base: base.executemany(f"INSERT INTO shadow({columns}) VALUES(?,?,?,?,?,?,?)", rows).rowcount
    ).result()
    kept._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    kept.close()


def mutated(content: bytes, rng: random.Random) -> bytes:
    """The same file with some bytes changed, a page lost, or its end."""
    data = bytearray(content)
    kind = rng.randrange(10)
    if kind == 0:
        return bytes(data[: rng.randrange(len(data))])
    if kind == 1:
        start = rng.randrange(len(data))
        data[start : start + 4096] = bytes(len(data[start : start + 4096]))
        return bytes(data)
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def use(path: Path) -> None:
    """All that is done with a store; raises what is not an error of podium."""
    work = [
        lambda: totals(path), lambda: click_log(path), lambda: click_log(path, by="request"),
        lambda: training_data(path), lambda: training_data(path, label="judgment"), lambda: judgments(path),
        lambda: agreement(read_judgments(path)), lambda: qrels(read_judgments(path)),
        lambda: judged_data(path, None), lambda: backup(path, path.with_name("copy.db")),
    ]  # fmt: skip
    for one in work:
        _in_words(one)
    _in_words(lambda: _write(path))


def _write(path: Path) -> None:
    kept = Feedback(path, keep_days=1e-9)
    try:
        for one in (
            lambda: Experiments(kept).all(), lambda: Experiments(kept).apply_rules(),
            lambda: kept.own_id("r1"), lambda: kept.add([Action("click", "x", "r1")]).result(10),
            lambda: kept.log(Impression("new", "web@1", ("a",), "q", "u", ["x"], np.ones((1, 1), np.float32))),
            lambda: kept.forget("u1").result(10), kept._tidy,
            lambda: kept.add([Action("judgment", "x", query="q", value=1.0)]).result(10),
        ):  # fmt: skip
            _in_words(one)
        assert kept._thread.is_alive(), "the writer has ended"
    finally:
        kept.close()


def _in_words(work) -> None:
    with contextlib.suppress(PodiumError):
        work()


def run(folder: Path, models: Models, times: int, seed: int = 0) -> Counter[str]:
    """Damage a store so many times. Returns how many could not be opened, and the slowest."""
    whole, copy = folder / "whole.db", folder / "feedback.db"
    make_store(whole, models)
    content, rng = whole.read_bytes(), random.Random(seed)
    seen: Counter[str] = Counter()
    for number in range(times):
        for path in folder.glob("*.db*"):
            if not path.name.startswith("whole.db"):
                path.unlink()
        shutil.copy(f"{whole}.key", f"{copy}.key")
        copy.write_bytes(mutated(content, rng))
        start = time.monotonic()
        try:
            use(copy)
        except Exception as error:
            raise AssertionError(f"mutation {number} of seed {seed}: {error!r}") from error
        seen["read or refused in words"] += 1
        seen["slower than 5 s"] += time.monotonic() - start > 5.0
    return seen


def make_models(folder: Path) -> Models:
    import podium

    data, _ = podium.make_letor_like(20, (5, 9), n_features=4, seed=1)
    files = [folder / "web.podium", folder / "plain.podium"]
    for file, method in zip(files, ("listnet(iterations=3)", "regression"), strict=True):
        podium.train(data, method).save(file)
    models = Models()
    models.add_files(files)
    return models


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(run(Path(name), make_models(Path(name)), int(sys.argv[1]), int((sys.argv[2:] or ["0"])[0])))
