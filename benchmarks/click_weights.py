"""What weights made of clicks are good for: the choice of a model, the losses that learn from them, odds.

    python -m benchmarks.click_weights [--logs 100]

Three tables. How often the truly better of two models is chosen by clicks alone; how near the gradient of each loss
with document weights comes to that with grades; what Thurstone's odds give, and what comes. With 100 logs it takes
about 15 minutes of one core.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from benchmarks.unbiased import table
from benchmarks.unbiased_runs import SOFTMAX, quietly
from podium.clicks import simulate, weights
from podium.clicks.simulate import click_chance
from podium.data import Dataset, make_letor_like
from podium.losses import Loss, sweep
from podium.methods import method
from podium.metrics import Metric
from podium.model import Model
from podium.propensities import propensities
from podium.training import train

LEARNING, PAGES = 200, 50
VALIDATION = {1: 3000, 5: 1000, 50: 300}
"""The number of validation queries, by the pages of each; 1 is what `podium feedback --by request` writes."""
MEASURE = Metric.parse("weighted-dcg@10")
Array = np.ndarray


class Choice(NamedTuple):
    """Whether clicks chose the better of two models."""

    right: bool
    divided: bool  # whether it would be right if each query were divided by its own weight
    gain: float  # of the better model, in DCG@10 of the probabilities by which people click


def choice(seed: int, pages: int, queries: int) -> Choice:
    """The pipeline of docs/unbiased.md: a log, its propensities, a naive and an unbiased model, and the choice.

    Two weak rankers show 50 pages a query to learn from, and `pages` a query to validate on.
    """
    data, _ = make_letor_like(LEARNING + queries, (20, 40), seed=seed)
    learning, held = data.select(range(LEARNING)), data.select(range(LEARNING, LEARNING + queries))
    rankers = list(_rankers(learning, np.random.default_rng(1000 + seed)))
    log = simulate(learning, [one.score(learning) for one in rankers], pages=PAGES * LEARNING, seed=seed)
    theta = quietly(propensities, log, "harvest(draws=0)")
    ips, naive = (quietly(weights, log, curve, learning).data for curve in (theta, None))
    naive = replace(naive, document_weights=naive.document_weights * (ips.relevance().sum() / naive.relevance().sum()))
    shown = simulate(held, [one.score(held) for one in rankers], pages=pages * queries, seed=seed + 1)
    clicked = quietly(weights, shown, theta, held).data.relevance()
    return _judged([train(one, method(SOFTMAX)).score(held) for one in (naive, ips)], clicked, held)


def _rankers(learning: Dataset, rng: np.random.Generator) -> Iterator[Model]:
    """Two weak rankers, each of two random queries that have relevant documents."""
    good = np.flatnonzero(np.add.reduceat(learning.labels > 0, learning.offsets[:-1]))
    for _ in range(2):
        yield train(learning.select(rng.choice(good, 2, replace=False)), "softmax(penalty=0.01)")


def _judged(scores: list[Array], clicked: Array, held: Dataset) -> Choice:
    values = np.array([MEASURE(one, clicked, held.offsets) for one in scores])
    truth = [float(np.mean(MEASURE(one, click_chance(held), held.offsets))) for one in scores]
    sums = np.add.reduceat(clicked, held.offsets[:-1])
    by_clicks = np.nanmean(values, axis=1)
    divided = np.mean(values[:, sums > 0] / sums[sums > 0], axis=1)
    better = truth[1] > truth[0]
    right = [(one[1] > one[0]) == better for one in (by_clicks, divided)]
    return Choice(*right, gain=abs(truth[1] - truth[0]))


def choices(logs: int) -> str:
    """How often the better model was chosen."""
    rows = []
    for pages, queries in VALIDATION.items():
        chosen = [choice(seed, pages, queries) for seed in range(logs)]
        shares = np.mean(chosen, axis=0)
        rows.append([str(pages), str(queries), f"{shares[0]:.2f}", f"{shares[1]:.2f}", f"{shares[2]:.3f}"])
        print(rows[-1], flush=True)
    heads = ["pages a query", "queries", "right", "right if divided by the weight of the query", "difference of DCG@10"]
    return table(heads, rows)


def gradients() -> str:
    """The cosine between the gradient with document weights and that with grades, for every loss."""
    cosines = [(name, *(cosine(kind(), binary=b) for b in (True, False))) for name, kind in Loss.catalogue().items()]
    rows = [[name, f"{binary:.2f}", f"{graded:.2f}"] for name, binary, graded in sorted(cosines, key=lambda x: -x[1])]
    return table(["loss", "relevant or not", "grades 0 to 4"], rows)


def cosine(loss: Loss, *, binary: bool, queries: int = 200, n: int = 10, seed: int = 0) -> float:
    """The mean over queries; scores are standard normal, and a document's weight is its label."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(queries * n) < 0.3).astype(float) if binary else rng.integers(0, 5, queries * n).astype(float)
    scores, offsets = rng.standard_normal(queries * n), n * np.arange(queries + 1)
    nothing = np.zeros((queries * n, 0), np.float32)
    graded = Dataset(nothing, labels, offsets)
    weighted = Dataset(nothing, None, offsets, document_weights=labels)
    a, b = (sweep(loss, scores, data).gradient.reshape(queries, n) for data in (graded, weighted))
    sizes = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return float(np.mean((a * b).sum(axis=1)[sizes > 1e-12] / sizes[sizes > 1e-12]))


def odds(queries: int = 4000) -> str:
    """Thurstone's odds of rankings by one draw of noise: the scale of scores, what was given and what came."""
    rows = []
    for n in (3, 6, 12):
        rng = np.random.default_rng(n)
        features = rng.standard_normal((2 * queries * n, 3))
        worth = features @ np.array([1.0, -0.7, 0.4])
        places = np.argsort(np.argsort((worth + rng.standard_normal(len(worth))).reshape(-1, n)))
        data = Dataset.from_arrays(features, places.ravel().astype(float), group=np.full(2 * queries, n))
        model = train(data.select(range(queries)), "thurstone(penalty=0)")
        new = data.select(range(queries, 2 * queries))
        distribution = model.distribution(new)
        given, came = distribution.summary().first, new.labels == n - 1
        near = (given > 0.4) & (given < 0.5)
        error = math.sqrt(float((given * (1 - given))[near].sum())) / near.sum()
        scale = np.polyfit(worth[queries * n :], distribution.scores, 1)[0]
        rows.append([str(n), f"{scale:.2f}", f"{given[near].mean():.3f}", f"{came[near].mean():.3f} ± {error:.3f}"])
        print(rows[-1], flush=True)
    return table(["documents", "scale over the truth", "given", "came"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=100)
    asked = parser.parse_args()
    for part in (gradients(), odds(), choices(asked.logs)):
        print(part, flush=True)


if __name__ == "__main__":
    main()
