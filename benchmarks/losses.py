"""How long one sweep of each loss takes, beside a numpy version of RankNet, all in one run.

    python benchmarks/losses.py [LOSS …] [--queries 6000] [--documents 120] [--repeats 5]

Grades are spread as in MSLR-WEB (52, 32, 13, 2, 1 %). Times are CPU seconds of one thread, the median of repeats that
are interleaved, so that other load on the machine falls on all rows alike.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import time
from collections.abc import Callable

import numpy as np

from podium.data.dataset import Dataset
from podium.losses import Loss, sweep

MORE = ["lambdarank(metric=ndcg)", "lambdarank(metric=map)", "ranknet(sigma=100.0)"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("losses", nargs="*", metavar="LOSS", help="all of them, unless some are named")
    parser.add_argument("--queries", type=int, default=6000)
    parser.add_argument("--documents", type=int, default=120)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    data, scores = make(asked.queries, asked.documents)
    work: dict[str, Callable[[], object]] = {"ranknet in numpy": lambda: numpy_ranknet(scores, data)}
    for name in dict.fromkeys(["ranknet", *(asked.losses or [*Loss.catalogue(), *MORE])]):
        work[name] = functools.partial(sweep, Loss.parse(name), scores, data, threads=1)
    agree(work["ranknet"](), work["ranknet in numpy"]())
    times = measure(work, asked.repeats)
    print(f"{asked.queries} queries of {asked.documents} documents, CPU ms per sweep, one thread")
    for name, seconds in times.items():
        ratio = times["ranknet in numpy"] / seconds
        print(f"{name:28} {1e3 * seconds:9.1f}" + (f"   {ratio:.1f} × numpy" if name == "ranknet" else ""))


def make(queries: int, documents: int) -> tuple[Dataset, np.ndarray]:
    rng = np.random.default_rng(0)
    n = queries * documents
    labels = rng.choice(5, p=[0.52, 0.32, 0.13, 0.02, 0.01], size=n)
    return Dataset.from_arrays(np.zeros((n, 1)), labels, group=np.full(queries, documents)), rng.normal(size=n)


def numpy_ranknet(scores: np.ndarray, data: Dataset, block: int = 100) -> tuple[float, np.ndarray, np.ndarray]:
    """Value, gradient and curvature by blocks of queries of equal length, as arrays (queries, n, n)."""
    n = int(data.sizes[0])
    s, y = scores.reshape(-1, n), data.labels.reshape(-1, n)
    value, gradient, curvature = 0.0, np.empty_like(s), np.empty_like(s)
    for a in range(0, len(s), block):
        part = slice(a, a + block)
        wins = y[part, :, None] > y[part, None, :]
        delta = s[part, :, None] - s[part, None, :]
        p = wins / (1.0 + np.exp(delta))
        value += float(np.logaddexp(0.0, -delta, where=wins, out=np.zeros_like(delta)).sum())
        gradient[part] = p.sum(axis=1) - p.sum(axis=2)
        bend = p * (1.0 - p)
        curvature[part] = bend.sum(axis=1) + bend.sum(axis=2)
    return value, gradient.ravel(), curvature.ravel()


def agree(ours: object, theirs: object) -> None:
    value, gradient, curvature = theirs  # type: ignore[misc]
    assert np.isclose(ours.value, value, rtol=1e-10)  # type: ignore[attr-defined]
    assert np.allclose(ours.gradient, gradient, atol=1e-10)  # type: ignore[attr-defined]
    assert np.allclose(ours.curvature, curvature, atol=1e-10)  # type: ignore[attr-defined]


def measure(work: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The median CPU seconds of each, after one run that compiles."""
    for run in work.values():
        run()
    seen: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(repeats):
        for name, run in work.items():
            start = time.process_time()
            run()
            seen[name].append(time.process_time() - start)
    return {name: statistics.median(seconds) for name, seconds in seen.items()}


if __name__ == "__main__":
    main()
