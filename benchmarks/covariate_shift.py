"""What weights for covariate shift are worth, on synthetic data where the shift is planted.

    python -m benchmarks.covariate_shift [SEEDS]

One number z describes a query; its truth is w + z·v, and the ranker, linear in the documents' features, cannot follow
it: it can only be right for the queries that count. z has the mean 0 in 150 training queries, and `shift` in 200 target
queries. Prints NDCG@10 on the target with equal weights, and with those of `shift_weights`; the paired difference ± its
standard error over seeds; and the effective sample size. As Markdown.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from benchmarks.judging import NDCG, row, shown
from podium.base.arrays import Array
from podium.data.covariate_shift import shift_weights
from podium.data.dataset import Dataset
from podium.solvers import mean_metric
from podium.training import train

FEATURES, DOCUMENTS = 10, 20


def queries(truth: Array, count: int, shift: float, rng: np.random.Generator) -> Dataset:
    """Queries whose weights of features turn with z ~ N(shift, 1)."""
    z = rng.normal(shift, 1.0, count)
    X = rng.standard_normal((count, DOCUMENTS, FEATURES))
    weights = truth[0] + z[:, None] * truth[1]
    use = np.einsum("qnf,qf->qn", X, weights) / np.linalg.norm(weights, axis=1, keepdims=True)
    use = (use + 0.3 * rng.standard_normal(use.shape)).ravel()
    labels = np.digitize(use, [-0.2, 0.5, 1.2, 1.8]).astype(np.float64)
    return Dataset(
        X.reshape(-1, FEATURES).astype(np.float32), labels, np.arange(count + 1) * DOCUMENTS,
        query_features=z[:, None], query_feature_names=("z",),
    )  # fmt: skip


def trial(shift: float, seed: int) -> list[float]:
    """NDCG@10 with equal weights and with those of the shift, and the share of the queries that these are worth."""
    rng = np.random.default_rng([seed, int(10 * shift)])
    truth = rng.standard_normal((2, FEATURES))
    source, target = queries(truth, 150, 0.0, rng), queries(truth, 200, shift, rng)
    like = shift_weights(source, target)
    models = [train(part, "listnet") for part in (source, replace(source, query_weights=like.weights))]
    values = [mean_metric(NDCG, model.score(target), target) for model in models]
    return [*values, like.effective / source.n_queries]


def main(seeds: int = 8) -> None:
    row("shift", "equal weights", "weighted", "difference", "effective sample size")
    row(*["---"] * 5)
    for shift in (0.0, 0.5, 1.0, 2.0):
        table = np.array([trial(shift, 100 + seed) for seed in range(seeds)])
        row(shift, shown(table[:, 0]), shown(table[:, 1]), shown(table[:, 1] - table[:, 0], "+"),
            f"{table[:, 2].mean():.0%}")  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
