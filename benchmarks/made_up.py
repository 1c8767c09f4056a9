"""Made-up data of the sizes that people have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from podium.data.dataset import Dataset

SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]  # of the grades 0 to 4, as in MSLR-WEB


def graded(queries: int, documents: int, features: int, *, seed: int) -> Dataset:
    """Grades that follow from the features, partly not in a straight line, with much noise."""
    truth = np.random.default_rng(12345)
    linear, bent = truth.standard_normal(features), truth.permutation(features)[:8]
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((queries * documents, features)).astype(np.float32)
    use = X @ linear + 3 * np.abs(X[:, bent]).sum(axis=1) + 3 * X[:, bent[0]] * X[:, bent[1]]
    use = use + 10 * rng.standard_normal(len(X)) + np.repeat(4 * rng.standard_normal(queries), documents)
    labels = np.digitize(use, np.quantile(use, np.cumsum(SHARES[:-1]))).astype(np.float64)
    return Dataset.from_arrays(X, labels, group=np.full(queries, documents))


def scored(queries: int, documents: int) -> tuple[Dataset, np.ndarray]:
    """Grades and scores that have nothing to do with each other, without features."""
    rng = np.random.default_rng(0)
    n = queries * documents
    labels = rng.choice(5, p=SHARES, size=n)
    return Dataset.from_arrays(np.zeros((n, 1)), labels, group=np.full(queries, documents)), rng.normal(size=n)


def letor_file(path: Path, megabytes: float) -> None:
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
            for label, row in zip(rng.choice(5, n, p=SHARES), rows, strict=True):
                file.write(f"{label} qid:{query} " + " ".join(f"{c}:{v:.8g}" for c, v in enumerate(row, 1)) + "\n")


def trec_files(folder: Path, *, runs: int, queries: int, documents: int) -> tuple[Path, list[Path]]:
    """Qrels, and runs over the same collection, each with its own errors."""
    rng = np.random.default_rng(0)
    qrels = folder / "qrels.txt"
    pools: list[Any] = []
    with qrels.open("w") as file:
        for q in range(queries):
            pool = rng.choice(10 * documents, 2 * documents, replace=False)
            grades = rng.choice(5, p=SHARES, size=len(pool))
            pools.append((pool, grades))
            judged = rng.random(len(pool)) < 0.4
            file.writelines(f"{q + 1} 0 doc-{d:08d} {g}\n" for d, g in zip(pool[judged], grades[judged], strict=True))
    paths = []
    for k in range(runs):
        path = folder / f"run{k}.txt"
        with path.open("w") as file:
            for q, (pool, grades) in enumerate(pools):
                scores = grades + 2.0 * rng.standard_normal(len(pool))
                order = np.argsort(-scores)[:documents]
                file.writelines(
                    f"{q + 1} Q0 doc-{pool[i]:08d} {rank} {scores[i]:.6f} run{k}\n" for rank, i in enumerate(order, 1)
                )
        paths.append(path)
    return qrels, paths
