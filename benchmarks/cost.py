"""What every method costs as queries grow, compared with what its page promises: docs/benchmarks/cost.md.

    python -m benchmarks.cost [-o docs/benchmarks] [--only NAME …] [--seconds 1]

The figures go to cost.json and cost.md in the folder, in some minutes. A recipe is timed by one sweep of its loss
(value, gradient and curvature) over one query of n documents, an algorithm by one fit to 8 queries of n documents with
10 features. CPU time of one thread, the least of some repeats, compilation not counted; a row ends where the next
figure would take longer than --seconds. Scores are normal, grades are spread as in MSLR-WEB.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cost_page import SIZES, exponent, row_text, table, text
from podium.base.files import write_aside
from podium.data.dataset import Dataset
from podium.data.synthetic import make_letor_like
from podium.kernels.pair_sums import sum_over_edge_pairs
from podium.losses import Loss, StructRank, sweep
from podium.methods import METHODS, Method, method
from podium.metrics import NDCG
from podium.recipe import Recipe
from podium.training import fit

EDGES = [1_000, 10_000, 100_000, 1_000_000, 5_000_000, 20_000_000]
GRADES = [0.52, 0.32, 0.13, 0.02, 0.01]
MORE = {
    "pairwise": ["ranknet(ties=true)", "lambdarank(metric=ndcg)", "lambdarank(metric=map)"],
    "listwise": [
        "listnet(k=2)", "listnet(k=3)", "listnet(k=10)", "listmle(k=10)", "energy-ndcg(window=5)",
        "energy-ndcg(metric=map)", "structrank(topology=disconnected)", "structrank(topology=random)",
        "structrank(topology=plackett-luce)", "structrank(functions=3)",
    ],
    "direct": ["softrank(k=none)"],
}  # fmt: skip
"""Settings that change the cost, by family."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "-o", "--output", type=Path, help="a folder for cost.md and cost.json; the page is printed otherwise"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="print some rows; all of them are measured otherwise")
    parser.add_argument("--seconds", type=float, default=1.0, help="the longest figure of a row, about")
    asked = parser.parse_args()
    if asked.only is not None and asked.output is not None:
        parser.error("--only prints rows, and the page in -o has all of them: leave out one of the two")
    os.environ["PODIUM_THREADS"] = "1"
    if asked.only is not None:
        print("\n".join(table(family, rows) for family, rows in measured(asked.only, asked.seconds).items()))
        return
    began = time.perf_counter()
    figures: dict[str, Any] = {"at": datetime.now(UTC).strftime("%Y-%m-%d"), "seconds": asked.seconds}
    figures["families"] = measured(None, asked.seconds)
    figures["edges"] = [figures_of_edges(n_edges) for n_edges in EDGES]
    figures["minutes"] = round((time.perf_counter() - began) / 60, 1)
    if asked.output is None:
        print(text(figures))
    else:
        write(figures, asked.output)


def write(figures: dict[str, Any], folder: Path) -> None:
    """The figures, and the page made of them."""
    folder.mkdir(parents=True, exist_ok=True)
    saved = json.dumps(figures, indent=1, ensure_ascii=False) + "\n"
    for name, content in (("cost.json", saved), ("cost.md", text(figures))):
        with write_aside(folder / name) as file:
            file.write(content.encode())


def measured(only: list[str] | None, seconds: float) -> dict[str, Any]:
    """Figures of methods, family by family."""
    parts: dict[str, Any] = {}
    for family, names in families(only).items():
        parts[family] = {"rows": []}
        for name in names:
            fits = not isinstance(method(name).learner, Recipe)
            parts[family]["rows"].append({"name": name, "fit": fits, "seconds": row(method(name), seconds)})
            print(row_text(parts[family]["rows"][-1]), file=sys.stderr, flush=True)
    return parts


def families(only: list[str] | None) -> dict[str, list[str]]:
    """The names to measure, family by family."""
    found: dict[str, list[str]] = {}
    for name, one in METHODS.items():
        found.setdefault(one.family, []).append(name)
    for family, names in MORE.items():
        found[family] += names
    chosen = {family: [n for n in names if only is None or n in only] for family, names in found.items()}
    return {family: names for family, names in chosen.items() if names}


def row(one: Method, seconds: float) -> list[float]:
    """CPU seconds at each size, until the next would take too long."""
    times: list[float] = []
    for n in SIZES:
        growth = max(exponent(times), 1.0) if len(times) > 1 else 2.0
        ahead = times[-1] * (n / SIZES[len(times) - 1]) ** growth if times else 1e-6
        if ahead > seconds and len(times) >= 3:  # three make an exponent
            break
        times.append(of_loss(one.learner.loss, n, ahead) if isinstance(one.learner, Recipe) else of_fit(one, n))
    return times


def of_loss(loss: Loss, n: int, ahead: float) -> float:
    """One sweep over one query; short ones come in numbers, so that the call itself costs little."""
    rng, copies = np.random.default_rng(n), int(np.clip(0.02 / ahead, 1, 100_000 // n))
    scores, labels = rng.normal(size=n * copies), rng.choice(5, p=GRADES, size=n * copies)
    data = Dataset.from_arrays(np.zeros((n * copies, 1)), labels, group=np.full(copies, n))
    return least(lambda: sweep(loss, scores, data, threads=1)) / copies


def of_fit(one: Method, n: int) -> float:
    data, _ = make_letor_like(8, (n, n), n_features=10, seed=1)
    return least(lambda: fit(one.learner, data, metric=NDCG(10)))


def least(run: Callable[[], object], *, repeats: int = 5, enough: float = 0.1) -> float:
    """The least CPU seconds of some runs after one that compiles; long ones are not repeated."""
    start = time.process_time()
    run()
    once = time.process_time() - start
    best, spent = math.inf if once < 20 * enough else once, 0.0
    for _ in range(repeats):
        if best < math.inf and spent > enough:
            break
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
        spent += best
    return best


def figures_of_edges(n_edges: int) -> dict[str, float]:
    """CPU seconds of StructRank over so many edges, as far as each way is fast enough."""
    n = 2 * round(n_edges**0.5)
    scores, labels = np.random.default_rng(0).normal(size=n), np.arange(n) % 2
    figures: dict[str, float] = {"edges": n * n // 4, "grades": least(lambda: StructRank()(scores, labels))}
    if n_edges <= 1_000_000:
        winners, losers = (index.ravel() for index in np.meshgrid(np.flatnonzero(labels), np.flatnonzero(labels == 0)))
        edges = np.column_stack([winners, losers])
        figures["list"] = least(lambda: StructRank()(scores, edges))
        figures["wide"] = least(lambda: StructRank()(1000 * scores, labels))
    if n_edges <= 10_000:
        figures["double_sum"], figures["error"] = double_sum(scores[winners] - scores[losers])
    return figures


def double_sum(r: np.ndarray) -> tuple[float, float]:
    """CPU seconds of the sum over all pairs in numpy, and how far the fast sum is from it."""
    start, total = time.process_time(), 0.0
    for part in np.array_split(-r, 100):
        total += float(np.logaddexp(np.logaddexp(0.0, part[:, None]), -r).sum())
    spent = time.process_time() - start
    fast = sum_over_edge_pairs(r, np.ones_like(r), 1.0, 1.0, np.empty_like(r), np.empty_like(r))
    return spent, abs(fast / total - 1)


if __name__ == "__main__":
    main()
