"""LETOR text → arrays, each reader in a process of its own: CPU seconds, peak memory, and the same numbers read."""

from __future__ import annotations

import functools
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest import OURS, Contest
from benchmarks.made_up import letor_file
from benchmarks.peers import peer

SLOW = 10.0
"""CPU seconds from which a file is read once."""


def contests(*, quick: bool) -> Iterator[Contest]:
    with tempfile.TemporaryDirectory() as folder:
        big, tiny = Path(folder, "big.txt"), Path(folder, "tiny.txt")
        letor_file(big, 20 if quick else 200)
        letor_file(tiny, 0.1)
        size = big.stat().st_size / 1e6
        found: dict[str, dict[str, Any]] = {}

        def read(name: str) -> dict[str, Any]:
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.reading", name, str(big), str(tiny)], check=True, capture_output=True
            )
            found[name] = json.loads(done.stdout)
            return found[name]

        peers: dict[str, Any] = {"LightGBM": "does not read lines with a qid"}
        for name, module in PEERS.items():
            here = peer(module)
            peers[name] = here if isinstance(here, str) else functools.partial(read, name)

        def note() -> str:
            same = [n for n, one in found.items() if one["digest"] == found[OURS]["digest"] and n != OURS]
            speeds = ", ".join(f"{n} {size / one['cpu']:.0f} ({size / one['first']:.0f})" for n, one in found.items())
            memory = ", ".join(f"{n} {one['memory'] / one['array']:.2f}" for n, one in found.items() if one["array"])
            two = found[OURS]["cpu"] / found[OURS]["wall"]
            return (
                f"MB per CPU s, and of a first reading in fresh memory: {speeds}. Peak memory × the dense array: "
                f"{memory}. podium kept {two:.1f} cores busy. "
                f"Same features, labels and queries as podium: {', '.join(same) or 'none'}."
            )

        yield Contest(
            f"LETOR text of {size:.0f} MB → arrays",
            functools.partial(read, OURS),
            peers,
            goal="≥ 5 × the fastest peer per CPU s; memory ≤ 1.3 × the array",
            least_ratio=5.0,
            repeats=5,
            note=note,
        )


def measure(name: str, big: str, tiny: str) -> dict[str, Any]:
    """One reader in this process, after its imports and compilation: what a first reading takes, and a second one.

    The first one also waits for memory that the machine has not given to anyone yet, which on virtual machines may cost
    more than to read. Where reading is slow anyway, the first one counts.
    """
    reader = READERS[name]()
    reader(tiny)
    Path("/proc/self/clear_refs").write_text("5")  # sets the peak back to what is in memory now
    base = status("VmRSS")
    got, first = timed(functools.partial(reader, big))
    peak, again = status("VmHWM"), first
    if first["cpu"] < SLOW:
        del got
        got, again = timed(functools.partial(reader, big))
    digest, array = "", 0.0
    if got is not None:
        X, y, qid = got
        dense = np.ascontiguousarray(X if isinstance(X, np.ndarray) else X.toarray(), np.float32)
        array = dense.nbytes / 1e6
        parts = (dense, np.asarray(y, np.float64), np.asarray(qid, np.int64))
        digest = hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
    return {**again, "first": first["cpu"], "memory": (peak - base) / 1e3, "array": array, "digest": digest}


def timed(read: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    cpu, wall = time.process_time(), time.perf_counter()
    got = read()
    return got, {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def status(word: str) -> float:
    """A number of kB from Linux's account of this process."""
    return float(Path("/proc/self/status").read_text().partition(word + ":")[2].split()[0])


def podium() -> Callable[[str], Any]:
    from podium.formats import read_letor

    def read(path: str) -> Any:
        data = read_letor(path)
        return data.features, data.labels, np.repeat(data.query_ids.astype(np.int64), data.sizes)

    return read


def scikit_learn() -> Callable[[str], Any]:
    from sklearn.datasets import load_svmlight_file

    return lambda path: load_svmlight_file(path, query_id=True, dtype=np.float32, zero_based=False)


def xgboost() -> Callable[[str], Any]:
    import xgboost

    def read(path: str) -> None:
        xgboost.DMatrix(f"{path}?format=libsvm")

    return read


def catboost() -> Callable[[str], Any]:
    import catboost

    def read(path: str) -> None:
        catboost.Pool(f"libsvm://{path}")

    return read


READERS = {OURS: podium, "scikit-learn": scikit_learn, "XGBoost": xgboost, "CatBoost": catboost}
PEERS = {"XGBoost": "xgboost", "scikit-learn": "sklearn", "CatBoost": "catboost"}

if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:4])))
