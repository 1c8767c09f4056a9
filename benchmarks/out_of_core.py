"""Data larger than memory, measured once: python -m benchmarks.out_of_core [documents features]

Writes a cache of made-up data (10 million documents of 136 features: 5.4 GB), then in a process of its own each: trains
listnet over linear and mlp scorers and lambdamart, scores, evaluates and checks. Prints wall and CPU seconds and the
largest resident memory of each. The data is removed at the end; TMPDIR says where it lies.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from podium.data.cache_writer import write_cache
from podium.data.dataset import Dataset
from podium.rows import Rows

STEPS = {
    "listnet × linear": "recipe(loss=listnet,scorer=linear,solver=lbfgs(iterations=10))",
    "listnet × mlp": "recipe(loss=listnet,scorer=mlp(hidden=[16]),solver=adam(epochs=1,batch=100))",
    "lambdamart": "lambdamart(rounds=10)",
    "check": "",
}


class MadeUp(Rows):
    """Grades go with the first features; values are those that 8 bits can tell apart, as in many feature sets."""

    def read(self, first: int, last: int) -> np.ndarray:
        parts = [
            np.random.default_rng(block).integers(0, 256, (1000, self.shape[1]), dtype=np.uint8)
            for block in range(first // 1000, -(-last // 1000))
        ]
        whole = np.concatenate(parts) if parts else np.empty((0, self.shape[1]), np.uint8)
        return (whole[first % 1000 :][: last - first] / np.float32(16)).astype(np.float32)


def main(n: int, d: int, folder: Path) -> None:
    X = MadeUp((n, d))
    labels = np.concatenate([np.rint(X[a : a + 8000][:, :3].sum(axis=1) / 12) for a in range(0, n, 8000)])
    data = Dataset(X, labels, np.arange(0, n + 1, 100))
    start = time.perf_counter()
    write_cache(data, folder / "data.pod")
    print(f"{n} × {d}: {4 * n * d / 1e9:.2f} GB, made and written in {time.perf_counter() - start:.0f} s", flush=True)
    for name, method in STEPS.items():
        command = [sys.executable, "-m", "benchmarks.out_of_core", "--step", str(folder / "data.pod"), method]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        print(f"{name:18}", done.stdout.decode().strip(), flush=True)


def step(path: str, method: str) -> None:
    import podium

    data = podium.read_data(path)
    seconds: dict[str, float] = {}
    start = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal start
        seconds[name] = round(time.perf_counter() - start, 1)
        start = time.perf_counter()

    if not method:
        podium.check(data)
        lap("check")
    else:
        model = podium.train(data, method)
        lap("train")
        scores = model.score(data)
        lap("score")
        seconds["ndcg@10"] = round(podium.evaluate(data, scores).means()["ndcg@10"].value, 4)
        lap("evaluate")
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({**seconds, "cpu": round(usage.ru_utime + usage.ru_stime), "peak MB": usage.ru_maxrss // 1024}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        step(*sys.argv[2:])
    else:
        n, d = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (10**7, 136)
        with tempfile.TemporaryDirectory() as place:
            main(n, d, Path(place))
