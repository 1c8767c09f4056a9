"""Training epochs of linear models and networks, few and many queries at a time; Ranking SVM to its tolerance.

Rax's losses, with Adam written in JAX, make the same steps on the same padded batches, in single precision. Of podium,
which checks and scales the data before the first epoch, the epochs after it are timed.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import podium
from benchmarks.contest import Contest
from benchmarks.made_up import graded
from benchmarks.peers import peer
from podium.data.dataset import Dataset

EPOCHS = 6
LOSSES = {"listnet": "softmax_loss", "ranknet": "pairwise_logistic_loss", "listmle": "listmle_loss"}


def contests(*, quick: bool) -> Iterator[Contest]:
    small, large = graded(471, 20, 46, seed=1), graded(100 if quick else 1_400, 100, 136, seed=2)
    for data, kind in ((small, "471 × 20 × 46"), (large, f"{large.n_queries:,} × 100 × 136")):
        for batch in (1, 32, data.n_queries):
            for scorer, hidden in (("linear", ()), ("mlp(hidden=[64,32])", (64, 32))):
                for loss in LOSSES if batch == 32 and not quick else ["listnet"]:
                    yield Contest(
                        f"an epoch of {loss}, {scorer}, {kind}, {batch} queries a step",
                        functools.partial(ours, loss, scorer, data, batch),
                        {"Rax": rax(loss, data, batch, hidden)},
                        goal="≥ 3 × Rax",
                        least_ratio=3.0,
                        repeats=3,
                    )
    rows = graded(100 if quick else 1_400, 103, 136, seed=3)
    yield Contest(
        f"Ranking SVM (squared hinge) to 1e-3, {rows.n_documents:,} × 136",
        lambda: podium.train(rows, "ranking-svm(tolerance=0.001)"),
        {"SVMrank": "no package; 38.7 CPU s on such data, for the linear hinge, with reading"},
        goal="≥ 10 × SVMrank's figure",
        most_seconds=None if quick else 3.87,
        repeats=3,
    )


def ours(loss: str, scorer: str, data: Dataset, batch: int) -> dict[str, float]:
    """The median of the epochs after the first."""
    seen: list[tuple[float, float]] = []
    podium.train(
        data,
        f"recipe(loss={loss},scorer={scorer},solver=adam(epochs={EPOCHS},batch={batch}))",
        observers=(lambda step: seen.append((time.process_time(), time.perf_counter())),),
    )
    cpu, wall = np.median(np.diff(seen, axis=0), axis=0)
    return {"cpu": float(cpu), "wall": float(wall)}


def rax(loss: str, data: Dataset, batch: int, hidden: tuple[int, ...]) -> Any:
    here, jax = peer("rax"), peer("jax")
    if isinstance(here, str) or isinstance(jax, str):
        return "not installed"
    np_, rng = jax.numpy, np.random.default_rng(0)
    n = int(data.sizes[0])
    X = np.asarray(data.features).reshape(-1, n, data.n_features)
    y = np.asarray(data.labels, np.float32).reshape(-1, n)
    sizes = [data.n_features, *hidden, 1]
    start = [
        (np_.asarray(rng.standard_normal((a, b)) / np.sqrt(a), np_.float32), np_.zeros(b))
        for a, b in itertools.pairwise(sizes)
    ]

    def value(theta: Any, x: Any, labels: Any) -> Any:
        for w, b in theta[:-1]:
            x = np_.tanh(x @ w + b)
        return getattr(here, LOSSES[loss])((x @ theta[-1][0] + theta[-1][1])[..., 0], labels)

    @jax.jit
    def step(theta: Any, m: Any, v: Any, t: Any, x: Any, labels: Any) -> Any:
        g = jax.grad(value)(theta, x, labels)
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
        down = jax.tree.map(lambda a, b: (a / (1 - 0.9**t)) / (np_.sqrt(b / (1 - 0.999**t)) + 1e-8), m, v)
        return jax.tree.map(lambda a, b: a - 0.003 * b, theta, down), m, v

    def epoch() -> None:
        zeros = jax.tree.map(np_.zeros_like, start)
        theta, m, v = start, zeros, zeros
        order = np.random.default_rng(1).permutation(len(X))
        for t, a in enumerate(range(0, len(order) - batch + 1, batch), 1):
            rows = order[a : a + batch]
            theta, m, v = step(theta, m, v, float(t), X[rows], y[rows])
        theta[0][0].block_until_ready()

    return epoch
