"""What rankers of several markets, of similar queries and in stages are worth, where the truth is planted.

    python benchmarks/tasks.py [markets|turning|stages] [SEEDS]

markets: five markets whose linear truths are moved by 0.6 standard normals, 3 or 8 training queries of each,
4 for validation, 40 for test.
turning: the truth turns with the query, by half a turn over the queries; 200 training queries, 40 for validation, 200
for test. Query features are the point on the circle, or the angle alone.
stages: one direction makes a document relevant, another says how relevant; 60 documents a query, 40 training queries,
20 for validation, 200 for test; and the same where one direction says all.
Prints the mean NDCG@10 over seeds, and the paired difference to the better baseline with its standard error, as
Markdown; the baseline of stages is the method itself.
"""

from __future__ import annotations

import sys

import numpy as np

from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.metrics import Metric
from podium.solvers import mean_metric
from podium.training import train

NDCG = Metric.parse("ndcg@10")
FIRST = 100
"""Seed of the first run; seeds below were used to try things out."""
MARKETS = {
    "pooled": "listnet",
    "separate": "per-class(of=listnet,by=market)",
    "shared": "listnet(transform=shared(by=market))",
    "adapted": "adapted(of=listnet,by=market)",
}
TURNING = {
    "pooled": "listnet",
    "crossed": "listnet(transform=crossed)",
    "nearest, k = 20": "nearest(of=listnet,k=20)",
    "nearest, k = 50": "nearest(of=listnet,k=50)",
    "offline-1, k = 20": "nearest(of=listnet,k=20,when=offline-1)",
    "online, k = 20": "nearest(of=listnet,k=20,when=online)",
    "per-class": "per-class(of=listnet,by=cluster(8))",
}
STAGES = {
    "ranknet": "ranknet",
    "nested": "nested(of=ranknet)",
    "lambdarank": "lambdarank",
    "nested(of=lambdarank)": "nested(of=lambdarank)",
}


def graded(X: Array, use: Array, about: Array, names: tuple[str, ...], documents: int = 20) -> Dataset:
    """Queries with grades 0 to 4 by the utility of their documents."""
    labels = np.digitize(use, [-0.2, 0.5, 1.2, 1.8]).astype(np.float64)
    offsets = np.arange(len(about) + 1) * documents
    return Dataset(X.astype(np.float32), labels, offsets, query_features=about, query_feature_names=names)


def unit(weights: Array) -> Array:
    return np.asarray(weights / np.linalg.norm(weights, axis=-1, keepdims=True))


def markets(each: int, weights: Array, rng: np.random.Generator) -> Dataset:
    """As many queries of each market."""
    market = np.tile(np.arange(len(weights)), each)
    X = rng.standard_normal((20 * len(market), weights.shape[1]))
    use = (X * weights[np.repeat(market, 20)]).sum(axis=1) + 0.3 * rng.standard_normal(len(X))
    return graded(X, use, market[:, None].astype(np.float64), ("market",))


def of_markets(seed: int, *, each: int) -> list[float]:
    rng = np.random.default_rng(seed)
    weights = unit(rng.standard_normal(20) + 0.6 * rng.standard_normal((5, 20)))
    return qualities(MARKETS, *(markets(queries, weights, rng) for queries in (each, 4, 40)))


def turning(queries: int, plane: Array, rng: np.random.Generator, *, angle_alone: bool) -> Dataset:
    """Queries whose weights turn in a plane."""
    angle = np.pi * rng.random(queries)
    point = np.column_stack([np.cos(angle), np.sin(angle)])
    X = rng.standard_normal((20 * queries, plane.shape[1]))
    use = (X * np.repeat(point @ plane, 20, axis=0)).sum(axis=1) + 0.3 * rng.standard_normal(len(X))
    return graded(X, use, angle[:, None], ("angle",)) if angle_alone else graded(X, use, point, ("east", "north"))


def of_turning(seed: int, *, angle_alone: bool) -> list[float]:
    rng = np.random.default_rng(seed)
    plane = np.linalg.qr(rng.standard_normal((10, 2)))[0].T
    return qualities(TURNING, *(turning(n, plane, rng, angle_alone=angle_alone) for n in (200, 40, 200)))


def stages(queries: int, directions: Array, rng: np.random.Generator) -> Dataset:
    """Queries of 60 documents: the first direction makes them relevant, and the second says how relevant."""
    X = rng.standard_normal((60 * queries, directions.shape[1]))
    first, second = (X @ direction + 0.2 * rng.standard_normal(len(X)) for direction in directions)
    labels = np.where(first > 0.7, 1.0 + np.digitize(second, [-0.3, 0.5, 1.2]), 0.0)
    return Dataset(X.astype(np.float32), labels, np.arange(queries + 1) * 60)


def of_stages(seed: int, *, alike: bool) -> list[float]:
    rng = np.random.default_rng(seed)
    first, second = unit(rng.standard_normal((2, 10)))
    directions = np.stack([first, first if alike else second])
    return qualities(STAGES, *(stages(n, directions, rng) for n in (40, 20, 200)))


def qualities(methods: dict[str, str], data: Dataset, valid: Dataset, test: Dataset) -> list[float]:
    models = [train(data, text, valid=valid) for text in methods.values()]
    return [mean_metric(NDCG, model.score(test), test) for model in models]


def row(*cells: object) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def print_table(methods: dict[str, str], table: Array, baselines: list[int]) -> None:
    """A row per method: its mean, and its paired difference to the best baseline."""
    row("method", "NDCG@10", "− better baseline")
    row("---", "---", "---")
    best = table[:, max(baselines, key=lambda b: table[:, b].mean())]
    for number, name in enumerate(methods):
        difference = table[:, number] - best
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        lead = "" if number in baselines else f"{difference.mean():+.4f} ± {error:.4f}"
        row(f"{name}: `{methods[name]}`", f"{table[:, number].mean():.3f}", lead)


def main(what: str = "markets", seeds: int = 5) -> None:
    runs = range(FIRST, FIRST + seeds)
    if what == "markets":
        for each in (3, 8):
            print(f"\n{each} queries of each market\n")
            print_table(MARKETS, np.array([of_markets(seed, each=each) for seed in runs]), [0, 1])
    elif what == "turning":
        for alone in (False, True):
            print(f"\n{'the angle' if alone else 'the point on the circle'}\n")
            print_table(TURNING, np.array([of_turning(seed, angle_alone=alone) for seed in runs]), [0])
    else:
        for alike in (False, True):
            print(f"\n{'one direction' if alike else 'two directions'}\n")
            table = np.array([of_stages(seed, alike=alike) for seed in runs])
            print_table(dict(list(STAGES.items())[:2]), table[:, :2], [0])
            print_table(dict(list(STAGES.items())[2:]), table[:, 2:], [0])


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
