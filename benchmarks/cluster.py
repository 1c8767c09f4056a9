"""What a cluster costs per evaluation: python -m benchmarks.cluster [workers]

The loss and gradient of listnet over a linear scorer on synthetic data of 46 features, on one machine and on local
processes; and an empty task, which is what every part costs at least.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from benchmarks.measured import measured
from podium.data.dataset import Dataset
from podium.distributed import cluster_training as training
from podium.distributed import parts
from podium.distributed.dask_cluster import Cluster
from podium.losses import ListNet
from podium.problem import Problem
from podium.recipe import Recipe
from podium.scorers import Linear
from podium.transforms import Identity

FEATURES = 46


def main(workers: int) -> None:
    recipe = Recipe(loss=ListNet(), scorer=Linear(), transform=Identity())
    heads = ("documents", "cells", "parts", "one machine", f"{workers} workers")
    print("".join(f"{head:>14}" for head in heads), "(seconds an evaluation)")
    with Cluster(f"local:{workers}") as cluster:
        for n in (10_000, 100_000, 1_000_000, 3_000_000):
            rng = np.random.default_rng(0)
            X = rng.normal(size=(n, FEATURES)).astype(np.float32)
            data = Dataset(X, rng.integers(0, 3, n).astype(np.float64), np.arange(0, n + 1, 100))
            given, bounds = parts.stored(data, cluster), parts.cuts(data)
            raw = cluster.keep(parts.load, parts.pieces(given, bounds), True)
            kept = cluster.keep(parts.transformed, raw, Identity(), {}, Linear())
            many = training.problem(cluster, recipe, data, {}, kept, bounds)
            one, theta = Problem(ListNet(), Linear(), data, 0.1), np.zeros(FEATURES + 1)
            seconds = f"{timed(one, theta):14.4f}{timed(many, theta):14.4f}"
            print(f"{n:14}{n * FEATURES:14}{len(kept):14}{seconds}", flush=True)
        for n in (1, 8, 64):
            print(f"{n} empty tasks: {timed(lambda _, n=n: cluster.map(abs, range(n)), None):.4f} s", flush=True)
    print(measured("python -m benchmarks.cluster"))


def timed(function, argument) -> float:
    """The least of some runs, after one that compiles and loads."""
    function(argument)
    found = []
    for _ in range(7):
        start = time.perf_counter()
        function(argument)
        found.append(time.perf_counter() - start)
    return min(found)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
