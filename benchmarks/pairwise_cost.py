"""What pointwise and pairwise losses cost as queries grow: nanoseconds per document, and how that grows with n.

    python benchmarks/pairwise_cost.py [--seconds 0.2]

One query of n documents with grades 0 to 4, value, gradient and curvature in one call. O(n) and O(n log n) losses keep
their cost per document; O(n²) ones multiply it by ten from column to column. CPU time of one thread, the least of
several repeats.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from podium.data.dataset import Dataset
from podium.losses import Loss, sweep

LOSSES = [
    "regression", "subset-regression", "rank-regress", "exponential", "hinge", "squared-hinge", "ranknet",
    "ranknet(ties=true)", "frank", "ir-svm", "pairties-rk", "pairties-d", "lambdarank",
]  # fmt: skip
SIZES = [10, 100, 1_000, 10_000]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.2, help="how long to repeat each measurement")
    asked = parser.parse_args()
    print(f"{'ns per document, n =':22}" + "".join(f"{n:>10}" for n in SIZES) + "   growth from 1,000 to 10,000")
    for name in LOSSES:
        costs = [per_document(Loss.parse(name), n, asked.seconds) for n in SIZES]
        print(f"{name:22}" + "".join(f"{1e9 * cost:>10.1f}" for cost in costs) + f"   × {costs[-1] / costs[-2]:.1f}")


def per_document(loss: Loss, n: int, seconds: float) -> float:
    rng = np.random.default_rng(n)
    copies = max(1, 20_000 // n)  # short queries come in numbers, so that the call itself costs little
    scores, labels = rng.normal(size=n * copies), rng.choice(5, p=[0.52, 0.32, 0.13, 0.02, 0.01], size=n * copies)
    data = Dataset.from_arrays(np.zeros((n * copies, 1)), labels, group=np.full(copies, n))
    sweep(loss, scores, data, threads=1)
    best, until = np.inf, time.process_time() + seconds
    while time.process_time() < until:
        start = time.process_time()
        sweep(loss, scores, data, threads=1)
        best = min(best, time.process_time() - start)
    return best / (n * copies)


if __name__ == "__main__":
    main()
