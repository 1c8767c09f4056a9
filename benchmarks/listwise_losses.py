"""What the listwise losses cost per query as lists grow, beside what their formulas promise.

    python benchmarks/listwise_losses.py [--documents 50 100 200 400 800] [--repeats 5]

CPU milliseconds per query of value and derivatives, by sweeps over 20 queries of three grades, medians of interleaved
repeats; and the exponent of n between the last two columns. The recursion is the O(n³) evaluation of the normaliser of
pmop-exact that the fast one replaces; both are timed on one sum over all documents, and must agree.
"""

from __future__ import annotations

import argparse
import functools
import math
import statistics
import time
from collections.abc import Callable

import numpy as np

from podium.data.dataset import Dataset
from podium.losses import Loss, sweep
from podium.losses.base import kernel
from podium.losses.subset_sums import log_sum

LOSSES = {
    "listnet": "n", "listnet(k=2)": "n", "listnet(k=3)": "n²", "listnet(k=10)": "k·n",
    "listmle": "n", "listmle(k=10)": "n", "pmop-fd": "n", "pmop-exact": "n^1.5", "pmop-gibbs": "n", "pmop-mh": "n",
    "boltzrank": "n", "energy-ndcg": "n²", "energy-ndcg(window=5)": "n²",
}  # fmt: skip
QUERIES = 20
RECURSION, SUM = "normaliser, recursion", "normaliser, as here"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[50, 100, 200, 400, 800])
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    promised = LOSSES | {RECURSION: "n³", SUM: "n^1.5"}
    times: dict[str, list[float]] = {name: [] for name in promised}
    for n in asked.documents:
        for name, seconds in measure(work(n), asked.repeats).items():
            times[name].append(seconds / (QUERIES if name in LOSSES else 1))
    print(f"{'CPU ms per query, n =':26}" + "".join(f"{n:>10}" for n in asked.documents) + "   exponent   promised")
    for name, row in times.items():
        cells = "".join(f"{1e3 * seconds:10.3f}" for seconds in row)
        print(f"{name:26}{cells}{exponent(row, asked.documents):11.2f}   {promised[name]}")


def work(n: int) -> dict[str, Callable[[], object]]:
    """Queries of n documents, spread in grades as OHSUMED's."""
    rng = np.random.default_rng(n)
    scores, labels = rng.normal(size=QUERIES * n), rng.choice(3, p=[0.7, 0.15, 0.15], size=QUERIES * n)
    data = Dataset.from_arrays(np.zeros((QUERIES * n, 1)), labels, group=np.full(QUERIES, n))
    todo: dict[str, Callable[[], object]] = {
        name: functools.partial(sweep, Loss.parse(name), scores, data, threads=1) for name in LOSSES
    }
    one = scores[:n]
    ours, theirs = log_sum(one, np.empty(0), np.empty(0)), recursion(one)
    assert math.isclose(ours, theirs, rel_tol=1e-12), f"n = {n}: {ours} against {theirs} by the recursion"
    todo[RECURSION] = functools.partial(recursion, one)
    todo[SUM] = functools.partial(log_sum, one, np.empty(n), np.empty(n))
    return todo


@kernel
def recursion(f):  # type: ignore[no-untyped-def]
    """log Σ_m e_m(e^{f/m}), document by document, scaled down whenever it grows large."""
    n, high, total, middle = len(f), -np.inf, 0.0, np.mean(f)
    logs = np.empty(n + 1)
    for m in range(1, n + 1):
        e, scale = np.zeros(m + 1), 0.0
        e[0] = 1.0
        for i in range(n):
            z, most = math.exp((f[i] - middle) / m), 0.0
            for k in range(min(m, i + 1), 0, -1):
                e[k] += z * e[k - 1]
            for x in e:
                most = max(most, x)
            if most > 1e200:
                scale += math.log(most)
                e /= most
        logs[m] = scale + math.log(e[m]) + middle if e[m] > 0.0 else -np.inf
        high = max(high, logs[m])
    for m in range(1, n + 1):
        total += math.exp(logs[m] - high)
    return high + math.log(total)


def measure(todo: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The median CPU seconds of each, after one run that compiles; runs repeat until they last 10 ms."""
    seen: dict[str, list[float]] = {name: [] for name in todo}
    for run in todo.values():
        run()
    for _ in range(repeats):
        for name, run in todo.items():
            start, runs = time.process_time(), 0
            while runs == 0 or time.process_time() - start < 0.01:
                run()
                runs += 1
            seen[name].append((time.process_time() - start) / runs)
    return {name: statistics.median(seconds) for name, seconds in seen.items()}


def exponent(row: list[float], documents: list[int]) -> float:
    if len(row) < 2:
        return math.nan
    return math.log(row[-1] / row[-2]) / math.log(documents[-1] / documents[-2])


if __name__ == "__main__":
    main()
