"""How much of a search to learn from few judged queries: rules for the share of `shrunk`, on synthetic collections.

    python -m benchmarks.shrinkage [SEEDS]

The first feature is the score of a first stage. Relevance is that score, noise, and in some shapes something more: one
feature, a few, a weak sum of all, or one that counts in some queries only. Features go with the score, are skewed, cut
at 0, or go with each other. 10 to 100 queries are judged. Prints, for each rule, the gain of NDCG@10 over the first
stage on 150 other queries ± its standard error over collections, the paired difference of `shrunk` to the rule, and how
many collections lose more than .002. As Markdown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from benchmarks.judging import NDCG, row, shown
from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.ensembles.combining import zscores
from podium.ensembles.shrunk import Shrunk, _chosen, _Trial
from podium.solvers import Watch, mean_metric
from podium.solvers.early_stopping import proved_better

SHAPES = {
    "nothing": [("none", 0.0, 0.0), ("none", 0.0, 1.0)],
    "little": [("one", 0.25, 1.0), ("dense", 0.3, 1.0), ("some queries", 0.8, 0.0)],
    "something": [("one", 0.6, 1.0), ("dense", 0.8, 1.0), ("few", 0.6, 0.0)],
    "much": [("one", 1.5, 0.0), ("few", 1.5, 1.0)],
}
"""Shapes by what there is to learn: its kind and size, and whether features are skewed and copied."""
QUERIES = (10, 20, 40, 100)
DOCUMENTS = 60
Rule = Callable[[list[_Trial], list[float]], int]


def one_error(trials: list[_Trial], means: list[float]) -> int:
    """The smallest share within one standard error of the best."""
    best = trials[int(np.argmax(means))]
    return next(k for k, trial in enumerate(trials) if not proved_better(best.values, trial.values))


RULES: dict[str, Rule] = {
    "learned alone": lambda trials, means: len(trials) - 1,
    "best share": lambda trials, means: int(np.argmax(means)),
    "one standard error": one_error,
    "`shrunk`": _chosen,
}


def collection(shape: tuple[str, float, float], count: int, rng: np.random.Generator) -> tuple[Dataset, Dataset]:
    """Judged queries and others."""
    kind, size, skewed = shape
    d = int(rng.integers(15, 55))
    goes_along, shared, group = rng.uniform(0.0, 0.95, d), rng.uniform(0.0, 0.8, d), rng.integers(0, 6, d)
    truth = np.zeros(d)
    counted = rng.choice(d, {"few": 4, "dense": d}.get(kind, 1), replace=False)
    truth[counted] = rng.normal(size=d) if kind == "dense" else 1.0
    truth *= size / np.linalg.norm(truth)
    noise = rng.uniform(0.3, 1.2)

    def draw(queries: int) -> Dataset:
        parts, labels = [], []
        for _ in range(queries):
            first = np.sort(rng.normal(size=DOCUMENTS))[::-1]
            own = shared * rng.normal(size=(DOCUMENTS, 6))[:, group]
            own += np.sqrt(1.0 - shared**2) * rng.normal(size=(DOCUMENTS, d))
            counts = kind != "some queries" or rng.random() < 0.3
            use = first + counts * (own @ truth) + noise * rng.normal(size=DOCUMENTS)
            features = goes_along * first[:, None] + np.sqrt(1.0 - goes_along**2) * own
            if skewed:
                features[:, ::3], features[:, 1::5] = np.exp(features[:, ::3]), np.maximum(features[:, 1::5], 0.0)
            relevant = np.argsort(-use)[: rng.integers(1, 9)]
            grades = np.zeros(DOCUMENTS)
            grades[relevant] = rng.integers(1, 3, len(relevant))
            parts.append(np.column_stack([first * rng.uniform(1.0, 4.0), features]))
            labels.append(grades)
        return Dataset(
            np.concatenate(parts).astype(np.float32), np.concatenate(labels), np.arange(queries + 1) * DOCUMENTS
        )

    return draw(count), draw(150)


def gains(shape: tuple[str, float, float], count: int, seed: int) -> list[float]:
    """The gain of each rule over the first stage, on other queries."""
    rng = np.random.default_rng([seed, count, *(ord(letter) for letter in shape[0]), int(100 * shape[1])])
    data, others = collection(shape, count, rng)
    learner, watch = Shrunk(towards="1"), Watch(None, NDCG)
    method, trials = learner._tried(data, rng, watch, NDCG)
    means = [float(np.nanmean(trial.values)) for trial in trials]
    [learned] = learner._refitted(method, data, rng, watch)
    first = zscores(np.asarray(others.features[:, 0], np.float64), others.offsets)
    parts = np.column_stack([first, zscores(learned.score(others), others.offsets)])
    reached: list[float] = [mean_metric(NDCG, parts @ trial.shares, others) for trial in trials]
    return [reached[rule(trials, means)] - reached[0] for rule in RULES.values()]


def main(seeds: int = 20) -> None:
    row("to learn", "rule", "gain", "`shrunk` gains more", "lost")
    row(*["---"] * 5)
    for words, shapes in SHAPES.items():
        table: Array = np.array([gains(s, n, seed) for s in shapes for n in QUERIES for seed in range(seeds)])
        for name, column in zip(RULES, table.T, strict=True):
            more = table[:, -1] - column
            error = more.std(ddof=1) / np.sqrt(len(more))
            difference = "" if column is table.T[-1] or not more.any() else f"{more.mean():+.4f} ± {error:.4f}"
            row(words, name, shown(column, "+"), difference, f"{(column < -0.002).mean():.0%}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
