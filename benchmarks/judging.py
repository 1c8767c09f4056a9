"""What choosing the next judgments is worth, on synthetic data where the truth is planted.

    python -m benchmarks.judging [SEEDS] [DOCUMENTS]

A pool of 400 queries with 20 documents each, 40 features whose spread differs from query to query, and a linear truth.
Four random queries are judged first; then, round by round, four more that a picker chooses by a bagged regression of
eight members: all documents of a query, or the DOCUMENTS that are worth most. Prints the mean NDCG@10 of 200 other
queries after 4, 8, 16, 24 and 32 judged queries, ± its standard error over seeds; the paired difference to random; and
how many judged queries each picker needs for the NDCG that random has after 32, in the mean of the seeds. As Markdown.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.metrics import Metric
from podium.pickers import Picker
from podium.solvers import mean_metric
from podium.training import train

NDCG = Metric.parse("ndcg@10")
FEATURES, DOCUMENTS, QUERIES = 40, 20, 400
STEP, AFTER = 4, (4, 8, 12, 16, 20, 24, 28, 32)
SHOWN = (4, 8, 16, 24, 32)
PICKERS = ("random", "elo", "spread", "depth")
METHOD = "bagged(of=regression,members=8)"


def queries(weights: Array, count: int, rng: np.random.Generator) -> Dataset:
    """Queries whose grades 0 to 4 follow a linear utility with noise; features vary more in some than in others."""
    spread = np.exp(0.7 * rng.standard_normal((count, 1, FEATURES)))
    X = (spread * rng.standard_normal((count, DOCUMENTS, FEATURES))).reshape(-1, FEATURES).astype(np.float32)
    use = X @ (weights / np.linalg.norm(weights)) + 0.8 * rng.standard_normal(len(X))
    labels = np.digitize(use, [-0.2, 0.5, 1.2, 1.8]).astype(np.float64)
    ids = np.array([f"{row}" for row in range(len(X))], dtype=object)
    names = np.array([f"q{q}" for q in range(count)], dtype=object)
    return Dataset(X, labels, np.arange(count + 1) * DOCUMENTS, document_ids=ids, query_ids=names)


def curves(seed: int, documents: int) -> Array:
    """NDCG@10 by picker and number of judged queries."""  # (pickers, rounds)
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal(FEATURES)
    truth, test = queries(weights, QUERIES, rng), queries(weights, 200, rng)
    first = Picker.parse("random").pick(None, without_labels(truth), queries=STEP, documents=documents, seed=seed)
    table = np.empty((len(PICKERS), len(AFTER)))
    for p, name in enumerate(PICKERS):
        pool, picks = without_labels(truth), first
        for r in range(len(AFTER)):
            rows = np.array(picks.pool.document_ids).astype(np.int64)
            assert pool.labels is not None
            assert truth.labels is not None
            labels = pool.labels.copy()
            labels[rows] = truth.labels[rows]
            pool = replace(pool, labels=labels)
            model = train(pool, METHOD, seed=seed)
            table[p, r] = mean_metric(NDCG, model.score(test), test)
            if r + 1 < len(AFTER):
                left = open_queries(pool)
                picks = Picker.parse(name).pick(model, left, queries=STEP, documents=documents, seed=seed + r)
    return table


def without_labels(data: Dataset) -> Dataset:
    return replace(data, labels=np.full(data.n_documents, np.nan))


def open_queries(pool: Dataset) -> Dataset:
    """The queries of which nothing is judged: a round is four new ones."""
    assert pool.labels is not None
    judged = np.bincount(pool.query_index[~np.isnan(pool.labels)], minlength=pool.n_queries)
    return pool.select(np.flatnonzero(judged == 0))


def needed(means: Array, goal: float) -> str:
    """Judged queries until a mean curve reaches the goal, between rounds by interpolation."""
    above = np.flatnonzero(means >= goal)
    if not len(above):
        return f"more than {AFTER[-1]}"
    r = int(above[0])
    if r == 0:
        return str(AFTER[0])
    share = (goal - means[r - 1]) / (means[r] - means[r - 1])
    return f"{AFTER[r - 1] + share * STEP:.0f}"


def row(*cells: object) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def shown(values: Array, sign: str = "") -> str:
    """Mean over seeds and its standard error."""
    return f"{values.mean():{sign}.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"


def main(seeds: int = 20, documents: int = DOCUMENTS) -> None:
    results = np.stack([curves(100 + seed, documents) for seed in range(seeds)])  # (seeds, pickers, rounds)
    at = [AFTER.index(count) for count in SHOWN]
    row("picker", *(f"{count} queries" for count in SHOWN), f"queries for random's at {AFTER[-1]}")
    row(*["---"] * (len(SHOWN) + 2))
    goal = results[:, 0, -1].mean()
    for p, name in enumerate(PICKERS):
        row(f"`{name}`", *(shown(results[:, p, r]) for r in at), needed(results[:, p].mean(axis=0), goal))
    print()
    row("paired difference", *(f"{count} queries" for count in SHOWN[1:]))
    row(*["---"] * len(SHOWN))
    for p, name in enumerate(PICKERS[1:], 1):
        row(f"`{name}` − `random`", *(shown(results[:, p, r] - results[:, 0, r], "+") for r in at[1:]))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
