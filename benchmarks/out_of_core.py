"""Data larger than memory, measured once: python -m benchmarks.out_of_core [documents features [allowed MB]]

Writes a cache of made-up data (10 million documents of 136 features: 5.4 GB), then in a process of its own each: trains
listnet over linear and mlp scorers and lambdamart, scores, evaluates and checks. Prints wall and CPU seconds and the
largest resident memory of each. The data is removed at the end; TMPDIR says where it lies.

With a number of MB, each step is done twice: under RLIMIT_AS, set to that many MB above what the process takes once it
has compiled and loaded everything on a few queries, and with all features in memory and no limit. Scores and measures
must have the same bits. Trees then have 15 bins (half a byte a feature): with 255 bins, the binned data alone is a
quarter of the floats. The last step begins with a LETOR file of four times that many MB: it is written as a cache, and
trains lambdamart as it is, all of it under the limit.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.measured import measured
from podium.base.matrix_on_disk import Rows
from podium.data.dataset import Dataset
from podium.formats.cache.cache import file_name
from podium.formats.cache.cache_writer import write_cache
from podium.formats.letor.letor import write_letor

STEPS = {
    "listnet × linear": "recipe(loss=listnet,scorer=linear,solver=lbfgs(iterations=10))",
    "listnet × mlp": "recipe(loss=listnet,scorer=mlp(hidden=[16]),solver=adam(epochs=1,batch=100))",
    "lambdamart": "lambdamart(rounds=10)",
    "check": "",
}
LIMITED = {**STEPS, "lambdamart": "lambdamart(rounds=10,max_bin=15)", "LETOR, lambdamart": STEPS["lambdamart"]}


class MadeUp(Rows):
    """Grades go with the first features; values are those that 8 bits can tell apart, as in many feature sets."""

    def read(self, first: int, last: int) -> np.ndarray:
        parts = [
            np.random.default_rng(block).integers(0, 256, (1000, self.shape[1]), dtype=np.uint8)
            for block in range(first // 1000, -(-last // 1000))
        ]
        whole = np.concatenate(parts) if parts else np.empty((0, self.shape[1]), np.uint8)
        return (whole[first % 1000 :][: last - first] / np.float32(16)).astype(np.float32)


def main(n: int, d: int, folder: Path, allowed: str = "") -> None:
    X = MadeUp((n, d))
    labels = np.concatenate([np.rint(X[a : a + 8000][:, :3].sum(axis=1) / 12) for a in range(0, n, 8000)])
    data = Dataset(X, labels.astype(np.float64), np.arange(0, n + 1, 100))
    start, few = time.perf_counter(), data.select(np.arange(20))
    write_cache(data, folder / "data.pod")
    write_cache(few, folder / "few.pod")
    print(f"{n} × {d}: {4 * n * d / 1e9:.2f} GB, made and written in {time.perf_counter() - start:.0f} s", flush=True)
    if allowed:
        write_letor(few, folder / "few.txt")
        enough = -(-len(few.sizes) * 4 * int(allowed) * 10**6 // (folder / "few.txt").stat().st_size)
        write_letor(data.select(np.arange(enough)), folder / "data.txt")
        print(f"LETOR: {enough * 100} × {d}, {(folder / 'data.txt').stat().st_size / 1e9:.2f} GB", flush=True)
    for name, method in (LIMITED if allowed else STEPS).items():
        for limit in (allowed, "none") if allowed else ("",):
            file = folder / ("data.txt" if name.startswith("LETOR") else "data.pod")
            command = [sys.executable, "-m", "benchmarks.out_of_core", "--step", str(file), method, limit]
            one = {"PODIUM_THREADS": "1", "OMP_NUM_THREADS": "1"} if allowed else {}  # stacks count as memory
            done = subprocess.run(command, stdout=subprocess.PIPE, check=False, env={**os.environ, **one})
            print(f"{name:18}{limit:>6}", done.stdout.decode().strip() or f"exit {done.returncode}", flush=True)
    print(measured(" ".join(["python -m benchmarks.out_of_core", *sys.argv[1:]])))


def step(place: str, method: str, limit: str) -> None:
    file, before = Path(place), 0
    if limit:
        work(file.with_stem("few"), method, in_memory=False)  # compiles, and loads libraries
        before = resident()
        if limit != "none":
            limit_memory(int(limit) * 10**6, file)
    found = work(file, method, in_memory=limit == "none")
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu, peak = round(usage.ru_utime + usage.ru_stime), usage.ru_maxrss // 1024
    print(json.dumps({**found, "cpu": cpu, "peak MB": peak, **({"MB before": before} if limit else {})}))


def limit_memory(allowed: int, file: Path) -> None:
    """Allow some more bytes than the process takes now; the file must have four times as many."""
    large = (file / file_name("features") if file.is_dir() else file).stat().st_size
    if large < 4 * allowed:
        sys.exit(f"{file} has only {large / allowed:.2f} times the memory that is allowed")
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + allowed, resource.RLIM_INFINITY))


def resident() -> int:
    """MB that are in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 10**6


def work(file: Path, method: str, *, in_memory: bool) -> dict[str, object]:
    """Seconds of each step, a measure, and the first digits of a hash of the scores and measures."""
    import podium

    found: dict[str, object] = {}
    start = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal start
        found[name] = round(time.perf_counter() - start, 1)
        start = time.perf_counter()

    if file.suffix == ".txt" and not in_memory:
        data = write_cache(file, file.with_suffix(".cache"))
        lap("cache")
    else:
        data = podium.read_data(file).dense() if in_memory else podium.read_data(file)
        lap("read")
    if not method:
        podium.check(data)
        lap("check")
        return found
    model = podium.train(data, method)
    lap("train")
    scores = model.score(data)
    lap("score")
    means = podium.evaluate(data, scores).means()
    lap("evaluate")
    bits = hashlib.sha256(scores.tobytes() + repr(means).encode()).hexdigest()[:12]
    return {**found, "ndcg@10": round(means["ndcg@10"].value, 4), "bits": bits}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        step(*sys.argv[2:])
    else:
        n, d = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (10**7, 136)
        with tempfile.TemporaryDirectory() as place:
            main(n, d, Path(place), *sys.argv[3:4])
