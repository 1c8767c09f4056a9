"""Reading a LETOR file: podium beside scikit-learn, on a 200 MB file like MSLR-WEB10K (136 features), in one run.

    python benchmarks/letor_reading.py [megabytes]

Each reader runs in a process of its own, in turn. CPU seconds are the process's own; memory is the growth of its peak
resident size over that of an empty run of the same reader on a tiny file. The arrays are compared at the end.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROUNDS = 3


def main(megabytes: float = 200.0) -> None:
    with tempfile.TemporaryDirectory() as folder:
        big, tiny = Path(folder, "big.txt"), Path(folder, "tiny.txt")
        make(big, megabytes)
        make(tiny, 0.1)
        size = big.stat().st_size / 1e6
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in READERS}
        for _ in range(ROUNDS):
            for name in READERS:
                runs[name].append(run(name, big) | {"base": run(name, tiny)["peak"]})
        speeds = {}
        for name, results in runs.items():
            cpu, wall = (float(np.median([r[key] for r in results])) for key in ("cpu", "wall"))
            growth = max(r["peak"] - r["base"] for r in results)
            speeds[name] = size / cpu
            print(
                f"{name:8s} {size:.0f} MB: {cpu:.2f} CPU s ({size / cpu:.0f} MB per CPU s), {wall:.2f} s wall, "
                f"memory {growth / results[0]['array']:.2f} × the array of {results[0]['array']:.0f} MB"
            )
        print(f"podium / sklearn: {speeds['podium'] / speeds['sklearn']:.1f} ×")
        same = runs["podium"][0]["digest"] == runs["sklearn"][0]["digest"]
        print(f"same features, labels and query ids: {same}")


def make(path: Path, megabytes: float) -> None:
    """Lines with 136 features as in web search: counts, ratios and logarithms with six digits, many zeros."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        query = 0
        while file.tell() < megabytes * 1e6:
            query += 15
            n = int(rng.integers(60, 180))
            counts = rng.poisson(3, (n, 60)) * (rng.random((n, 60)) < 0.7)
            reals = np.round(rng.lognormal(0, 2, (n, 76)), 6) * (rng.random((n, 76)) < 0.8)
            rows = np.column_stack([counts, reals])[:, rng.permutation(136)].tolist()
            for label, row in zip(rng.choice(5, n, p=[0.52, 0.32, 0.13, 0.02, 0.01]), rows, strict=True):
                file.write(f"{label} qid:{query} " + " ".join(f"{c}:{v:.8g}" for c, v in enumerate(row, 1)) + "\n")


def run(name: str, path: Path) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, "--child", name, str(path)], check=True, capture_output=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def child(name: str, path: str) -> None:
    """One reader in this process; its imports and compilation come before the clock."""
    import hashlib
    import resource
    import time

    reader = READERS[name]()
    reader(str(Path(path).with_name("tiny.txt")))
    cpu, wall = time.process_time(), time.perf_counter()
    X, y, qid = reader(path)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    dense = np.ascontiguousarray(X if isinstance(X, np.ndarray) else X.toarray())
    digest = hashlib.sha256()
    for array in (dense, np.asarray(y, np.float64), np.asarray(qid, np.int64)):
        digest.update(array.tobytes())
    array_mb = dense.nbytes / 1e6
    print(json.dumps({"cpu": cpu, "wall": wall, "peak": peak, "array": array_mb, "digest": digest.hexdigest()}))


def podium_reader():
    from podium.data import read_letor

    def read(path: str):
        data = read_letor(path)
        return data.features, data.labels, np.repeat(data.query_ids.astype(np.int64), data.sizes)

    return read


def sklearn_reader():
    from sklearn.datasets import load_svmlight_file

    return lambda path: load_svmlight_file(path, query_id=True, dtype=np.float32, zero_based=False)


READERS = {"podium": podium_reader, "sklearn": sklearn_reader}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:4])
    else:
        main(*map(float, sys.argv[1:2]))
