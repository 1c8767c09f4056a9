"""What StructRank, SoftRank and AppRank cost as queries grow: CPU milliseconds of one query, one thread.

    python benchmarks/listwise_cost.py [--most 1000000]

StructRank over |P| preferences, beside the double sum over all pairs of them where that is bearable, and for scores
spread a thousand times wider; SoftRank and AppRank over n documents. Medians of repeats, without compilation.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from podium.losses import AppRank, Loss, SoftRank, StructRank
from podium.losses.pair_sums import sum_over_pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=1_000_000, help="preferences of the largest query")
    most = parser.parse_args().most
    print(f"{'|P|':>9} {'structrank':>11} {'1000 × wider':>13} {'all pairs':>10} {'relative error':>15}")
    for n_edges in (10**k for k in range(3, 8)):
        if n_edges <= most:
            print(row_of_edges(n_edges))
    print(f"\n{'n':>9} {'softrank':>11} {'apprank':>13} {'apprank-ap':>10}")
    for n in (50, 100, 200, 400, 800):
        scores, labels = documents(n)
        times = [milliseconds(loss, scores, labels) for loss in (SoftRank(), AppRank(), AppRank(measure="ap"))]
        print(f"{n:9} {times[0]:11.2f} {times[1]:13.2f} {times[2]:10.2f}")


def row_of_edges(n_edges: int) -> str:
    """Half of the documents are relevant, so n² / 4 preferences."""
    n = 2 * round(n_edges**0.5)
    scores, labels = np.random.default_rng(0).normal(size=n), np.arange(n) % 2
    fast = milliseconds(StructRank(), scores, labels)
    wide = milliseconds(StructRank(), 1000 * scores, labels)
    row = f"{n * n // 4:9} {fast:11.2f} {wide:13.2f}"
    if n_edges > 10_000:
        return row
    r = (scores[labels == 1][:, None] - scores[labels == 0]).ravel()
    return row + " {:10.0f} {:15.1e}".format(*double_sum(r))


def double_sum(r: np.ndarray) -> tuple[float, float]:
    """CPU milliseconds of the sum over all pairs in numpy, and how far the fast sum is from it."""
    start, total = time.process_time(), 0.0
    for part in np.array_split(-r, 100):
        total += float(np.logaddexp(np.logaddexp(0.0, part[:, None]), -r).sum())
    spent = 1e3 * (time.process_time() - start)
    fast = sum_over_pairs(r, np.ones_like(r), 1.0, 1.0, np.empty_like(r), np.empty_like(r))
    return spent, abs(fast / total - 1)


def documents(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Grades spread as in MSLR-WEB."""
    rng = np.random.default_rng(0)
    return rng.normal(size=n), rng.choice(5, p=[0.52, 0.32, 0.13, 0.02, 0.01], size=n)


def milliseconds(loss: Loss, scores: np.ndarray, labels: np.ndarray, repeats: int = 5) -> float:
    run: Callable[[], object] = lambda: loss(scores, labels)  # noqa: E731
    run()
    seen = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        seen.append(1e3 * (time.process_time() - start))
    return statistics.median(seen)


if __name__ == "__main__":
    main()
