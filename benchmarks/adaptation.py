"""What adaptation and self-training are worth, on synthetic data where the truth is planted.

    python benchmarks/adaptation.py [adapted|self-trained] [SEEDS]

adapted: 40 features, a linear truth; 150 queries of an old market and 3, 10 or 30 of a new one whose weights are moved
by `shift` standard normals; hyperparameters by 15 validation queries of the new market; 200 test queries of it.
self-trained: relevant documents form a cluster; 3 judged queries, 100 without judgments, 15 for validation.
Prints the mean NDCG@10 over seeds, and the paired difference to the better baseline with its standard error, as
Markdown.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.metrics import Metric
from podium.model import Model
from podium.solvers import mean_metric
from podium.training import train

NDCG = Metric.parse("ndcg@10")
FEATURES, DOCUMENTS = 40, 20
FIRST = 100
"""Seed of the first run; seeds below were used while the penalties to try were chosen."""


def market(weights: Array, queries: int, rng: np.random.Generator) -> Dataset:
    """Queries whose grades 0 to 4 follow a linear utility with noise."""
    X = rng.standard_normal((queries * DOCUMENTS, FEATURES)).astype(np.float32)
    use = X @ (weights / np.linalg.norm(weights)) + 0.3 * rng.standard_normal(len(X))
    labels = np.digitize(use, [-0.2, 0.5, 1.2, 1.8]).astype(np.float64)
    return Dataset(X, labels, np.arange(queries + 1) * DOCUMENTS)


def quality(model: Model, test: Dataset) -> float:
    return mean_metric(NDCG, model.score(test), test)


def adaptation(shift: float, queries: int, seed: int) -> list[float]:
    """NDCG@10 of the source, of the new queries alone, adapted and interpolated."""
    rng = np.random.default_rng([seed, queries, int(10 * shift)])
    old = rng.standard_normal(FEATURES)
    new = old + shift * rng.standard_normal(FEATURES)
    source = train(market(old, 150, rng), "listnet", valid=market(old, 30, rng))
    data, valid, test = market(new, queries, rng), market(new, 15, rng), market(new, 200, rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "old.podium")
        source.save(path)
        texts = ["listnet", f"adapted(of=listnet,source={path})", f"interpolated(sources=[{path}],of=listnet)"]
        models = [train(data, text, valid=valid) for text in texts]
    return [quality(model, test) for model in (source, *models)]


def cluster(queries: int, rng: np.random.Generator, *, centre: Array, judged: bool = True) -> Dataset:
    """Queries in which a quarter of the documents lie around a centre, and these are relevant."""
    labels = (rng.random(queries * DOCUMENTS) < 0.25).astype(np.float64)
    X = rng.standard_normal((len(labels), len(centre))) + labels[:, None] * centre
    return Dataset(
        X.astype(np.float32), labels if judged else np.full(len(labels), np.nan), np.arange(queries + 1) * DOCUMENTS
    )


def self_training(judged: int, seed: int) -> list[float]:
    """NDCG@10 of the method, self-trained with the weight chosen by validation, and with all queries judged."""
    rng = np.random.default_rng([seed, judged])
    centre = rng.standard_normal(20)
    centre *= 1.5 / np.linalg.norm(centre)
    few, many = cluster(judged, rng, centre=centre), cluster(100, rng, centre=centre)
    valid, test = cluster(15, rng, centre=centre), cluster(200, rng, centre=centre)
    assert few.labels is not None
    assert many.labels is not None
    whole = joined(few, many)
    hidden = Dataset(whole.features, np.append(few.labels, np.full(many.n_documents, np.nan)), whole.offsets)
    fits = [(few, "ranknet"), (hidden, "self-trained(of=ranknet)"), (whole, "ranknet")]
    return [quality(train(data, text, valid=valid), test) for data, text in fits]


def joined(first: Dataset, second: Dataset) -> Dataset:
    assert first.labels is not None
    assert second.labels is not None
    return Dataset(
        np.concatenate([first.features, second.features]),
        np.concatenate([first.labels, second.labels]),
        np.concatenate([first.offsets, first.n_documents + second.offsets[1:]]),
    )


def row(*cells: object) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def lead(values: Array, best: Array) -> str:
    """Mean difference over seeds, and its standard error."""
    difference = values - best
    return f"{difference.mean():+.4f} ± {difference.std(ddof=1) / np.sqrt(len(difference)):.4f}"


def main(what: str = "adapted", seeds: int = 8) -> None:
    if what == "adapted":
        row("shift", "new queries", "source alone", "new alone", "adapted", "interpolated", "adapted − better",
            "interpolated − better")  # fmt: skip
        row(*["---"] * 8)
        for shift in (0.2, 0.5):
            for queries in (3, 10, 30):
                table = np.array([adaptation(shift, queries, seed) for seed in range(FIRST, FIRST + seeds)])
                better = table[:, int(table[:, 1].mean() > table[:, 0].mean())]
                means = [f"{mean:.3f}" for mean in table.mean(axis=0)]
                row(shift, queries, *means, lead(table[:, 2], better), lead(table[:, 3], better))
    else:
        row("judged queries", "plain", "self-trained", "all judged", "self-trained − plain")
        row(*["---"] * 5)
        for judged in (3, 10):
            table = np.array([self_training(judged, seed) for seed in range(FIRST, FIRST + seeds)])
            row(judged, *[f"{mean:.3f}" for mean in table.mean(axis=0)], lead(table[:, 1], table[:, 0]))


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
