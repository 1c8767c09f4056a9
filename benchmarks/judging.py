"""What choosing the next judgments is worth, on synthetic data where the truth is planted.

    python -m benchmarks.judging [SEEDS]

Two pools of 400 queries with 20 documents each, 40 features of which 30 matter, grades 0 to 4 from a linear utility
with noise. Each query is of one of six types, of frequencies 1, 1/2, …, 1/6; a type has 12 features that vary among its
documents, while the others hardly do. In the pool "log" the queries are as a query log has them: 70 % have no good
document, 10 % are easy, with one document far above the others, and 20 % can teach; in the pool "useful" all can.

Eight random queries are judged first; then, round by round, four more that a picker chooses by a bagged regression of
eight members. Prints the mean NDCG@10 of 400 other queries of the same kinds ± its standard error over seeds; the
paired difference to random; how many judged queries each picker needs for the NDCG that random has at the end, with an
interval by a bootstrap of the seeds; and, for the same number of judgments, what it is worth to judge few documents of
many queries, which is where `depth` differs from random. As Markdown.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from benchmarks.measured import measured
from podium.base.arrays import Array, Flags
from podium.data.dataset import Dataset
from podium.metrics import Metric
from podium.pickers import Picker
from podium.solvers import mean_metric
from podium.training import train

NDCG = Metric.parse("ndcg@10")
FEATURES, MATTER, VARY, TYPES = 40, 30, 12, 6
DOCUMENTS, QUERIES = 20, 400
START, STEP, ROUNDS = 8, 4, 15
AFTER = np.arange(START, START + STEP * ROUNDS, STEP)  # judged queries, up to 64
SHOWN = (16, 24, 32, 48, 64)
SHARES = {"log": (0.7, 0.1, 0.2), "useful": (0.0, 0.0, 1.0)}  # of queries without a good document, easy, that teach
PICKERS = ("random", "elo", "spread")
BUDGETS = (20, 10, 5)  # documents to judge of a query
METHOD = "bagged(of=regression,members=8)"


class World(NamedTuple):
    """The planted truth."""

    weights: Array  # (d,)
    varies: Flags  # (types, d)


def world(rng: np.random.Generator) -> World:
    weights = np.where(np.arange(FEATURES) < MATTER, rng.standard_normal(FEATURES), 0.0)
    varies = np.stack([rng.permutation(FEATURES) < VARY for _ in range(TYPES)])
    return World(weights / np.linalg.norm(weights), varies)


def queries(truth: World, shares: tuple[float, ...], rng: np.random.Generator) -> Dataset:
    """Queries of the three kinds, of long-tailed types."""
    kind = rng.choice(3, QUERIES, p=shares)
    frequency = 1.0 / np.arange(1, TYPES + 1)
    types = rng.choice(TYPES, QUERIES, p=frequency / frequency.sum())
    spread = np.where(truth.varies[types], 1.0, 0.15) * np.where(kind == 0, 0.6, 1.0)[:, None]
    X = spread[:, None, :] * rng.standard_normal((QUERIES, DOCUMENTS, FEATURES))
    X += np.array([-2.0, -1.5, 0.0])[kind][:, None, None] * truth.weights
    X[kind == 1, 0] += 4.5 * truth.weights
    X = X.reshape(-1, FEATURES).astype(np.float32)
    use = X @ truth.weights + 0.5 * rng.standard_normal(len(X))
    labels = np.digitize(use, [0.3, 0.9, 1.4, 2.0]).astype(np.float64)
    ids = np.array([f"{row}" for row in range(len(X))], dtype=object)
    names = np.array([f"q{q}" for q in range(QUERIES)], dtype=object)
    return Dataset(X, labels, np.arange(QUERIES + 1) * DOCUMENTS, document_ids=ids, query_ids=names)


def curve(picker: str, pool: str, seed: int, *, documents: int = DOCUMENTS) -> Array:
    """NDCG@10 after each round; with fewer documents of a query, a round is as many judgments of more queries."""
    rng = np.random.default_rng(seed)
    planted = world(rng)
    truth, test = (queries(planted, SHARES[pool], rng) for _ in range(2))
    assert truth.labels is not None
    more = DOCUMENTS // documents
    labels = np.full(truth.n_documents, np.nan)
    left = replace(truth, labels=labels)
    picks = Picker.parse("random").pick(None, left, queries=START * more, documents=documents, seed=seed)
    values = np.empty(ROUNDS)
    for r in range(ROUNDS):
        rows = np.array(picks.pool.document_ids).astype(np.int64)
        labels = labels.copy()
        labels[rows] = truth.labels[rows]
        judged = replace(truth, labels=labels)
        teaches = len(np.unique(truth.labels[~np.isnan(labels)])) > 1  # a start may be all of grade 0: judge on
        model = train(judged, METHOD, seed=seed) if teaches else None
        values[r] = mean_metric(NDCG, np.zeros(test.n_documents) if model is None else model.score(test), test)
        left = open_queries(judged)
        if r + 1 == ROUNDS or not left.n_queries:
            values[r:] = values[r]
            break
        by = Picker.parse("random" if model is None else picker)
        picks = by.pick(model, left, queries=STEP * more, documents=documents, seed=seed + r)
    return values


def open_queries(pool: Dataset) -> Dataset:
    """The queries of which nothing is judged: a round is of new ones."""
    assert pool.labels is not None
    judged = np.bincount(pool.query_index[~np.isnan(pool.labels)], minlength=pool.n_queries)
    return pool.select(np.flatnonzero(judged == 0))


def needed(means: Array, goal: float) -> float:
    """Judged queries until a mean curve reaches the goal, between rounds by interpolation; infinite if it does not."""
    above = np.flatnonzero(means >= goal)
    if not len(above):
        return np.inf
    r = int(above[0])
    return float(AFTER[r] if r == 0 else AFTER[r] - STEP * (means[r] - goal) / (means[r] - means[r - 1]))


def interval(own: Array, random: Array, *, each_query: int = 1) -> str:
    """Queries needed for random's NDCG at the end, or judgments, with 95 % of the bootstrap samples of the seeds."""
    rng = np.random.default_rng(0)
    draws = rng.integers(len(own), size=(2000, len(own)))
    counts = [needed(own[draw].mean(axis=0), random[draw, -1].mean()) for draw in draws]
    low, high = np.quantile(counts, [0.025, 0.975], method="nearest")
    least = needed(own.mean(axis=0), random[:, -1].mean())
    return f"{least * each_query:.0f} ({low * each_query:.0f} to {high * each_query:.0f})".replace(
        "inf", f"more than {AFTER[-1] * each_query}"
    )


def row(*cells: object) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def shown(values: Array, sign: str = "") -> str:
    """Mean over seeds and its standard error."""
    return f"{values.mean():{sign}.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"


def show_pool(results: dict[str, Array], pool: str) -> None:
    """The curves of pickers that judge whole queries."""
    at = [int(np.flatnonzero(count == AFTER)[0]) for count in SHOWN]
    print(f'\nPool "{pool}"\n')
    row("picker", *(f"{count} queries" for count in SHOWN), f"queries for random's at {AFTER[-1]}")
    row(*["---"] * (len(SHOWN) + 2))
    for name, values in results.items():
        last = AFTER[-1] if name == "random" else interval(values, results["random"])
        row(f"`{name}`", *(shown(values[:, r]) for r in at), last)
    for name in PICKERS[1:]:
        row(f"`{name}` − `random`", *(shown(results[name][:, r] - results["random"][:, r], "+") for r in at), "")


def show_documents(seeds: range, pool: str) -> None:
    """NDCG for the same number of judgments, of few or many documents of a query."""
    counts = [int(count) * DOCUMENTS for count in SHOWN]
    at = [int(np.flatnonzero(count == AFTER)[0]) for count in SHOWN]
    print(f'\nPool "{pool}": documents of each query\n')
    row("picker", "documents", *(f"{count} judgments" for count in counts), f"judgments for random's at {counts[-1]}")
    row(*["---"] * (len(counts) + 3))
    whole = np.stack([curve("random", pool, seed) for seed in seeds])
    for name in (*PICKERS, "depth"):
        for documents in BUDGETS[name == "depth" :]:  # all documents of random queries: depth is random
            values = np.stack([curve(name, pool, seed, documents=documents) for seed in seeds])
            row(
                f"`{name}`",
                documents,
                *(shown(values[:, r]) for r in at),
                interval(values, whole, each_query=DOCUMENTS),
            )


def main(seeds: int = 12) -> None:
    drawn = range(100, 100 + seeds)
    for pool in SHARES:
        show_pool({name: np.stack([curve(name, pool, seed) for seed in drawn]) for name in PICKERS}, pool)
    show_documents(drawn, "log")
    print(f"\n{measured('python -m benchmarks.judging')}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
