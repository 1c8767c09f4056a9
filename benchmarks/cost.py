"""What every method costs as queries grow, beside what its page promises: docs/benchmarks/cost.md, in some minutes.

    python benchmarks/cost.py [-o docs/benchmarks/cost.md] [--only NAME …] [--seconds 1]

A recipe is timed by one sweep of its loss (value, gradient and curvature) over one query of n documents, an algorithm
by one fit to 8 queries of n documents with 10 features. CPU milliseconds of one thread, the least of some repeats,
compilation not counted; a row ends where the next figure would take longer than --seconds. The exponent is the slope of
log time over log n in the last three figures. Scores are normal, grades are spread as in MSLR-WEB.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from podium.base.files import write_aside
from podium.data.dataset import Dataset
from podium.data.synthetic import make_letor_like
from podium.kernels.pair_sums import sum_over_edge_pairs
from podium.losses import Loss, StructRank, sweep
from podium.methods import METHODS, Method, method
from podium.metrics import NDCG
from podium.recipe import Recipe
from podium.training import fit

SIZES = [10, 30, 100, 300, 1_000, 3_000, 10_000]
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
PROMISED: dict[str, tuple[str, float]] = {
    "regression": ("n", 1), "subset-regression": ("n", 1), "mcrank": ("n", 1), "mcrank-ordinal": ("n", 1),
    "prank": ("n", 1), "oc-svm": ("n", 1), "oc-svm-sum": ("n", 1), "ranknet": ("n²", 2),
    "ranknet(ties=true)": ("n²", 2),
    "hinge": ("n log n", 1.1), "ranking-svm": ("n log n", 1.1), "ranking-svm-kernel": ("n log n", 1.1),
    "ir-svm": ("n²", 2), "rank-regress": ("n", 1), "frank": ("n²", 2), "pairties-rk": ("n²", 2),
    "pairties-d": ("n²", 2),
    "mallows": ("n²", 2), "thurstone": ("n", 1),
    "exponential": ("n", 1), "lambdarank": ("k·n, k = 10", 1), "lambdarank(metric=ndcg)": ("n²", 2),
    "lambdarank(metric=map)": ("n²", 2), "lambdamart": ("k·n, k = 30", 1), "lambdamart-map": ("n²", 2),
    "lambdamart-err": ("k·n, k = 10", 1), "lambdamart-mrr": ("n²", 2), "rankboost": ("n", 1), "gbrank": ("n²", 2),
    "sortnet": ("n²", 2), "splitting": ("n log n", 1.1), "listnet": ("n", 1), "listnet(k=2)": ("n", 1),
    "softmax": ("n", 1),
    "listnet(k=3)": ("n²", 2),
    "listnet(k=10)": ("k·n", 1), "listmle": ("n", 1), "listmle(k=10)": ("n", 1), "pmop-fd": ("n", 1),
    "pmop-exact": ("n^1.5", 1.5), "pmop-gibbs": ("n", 1), "pmop-mh": ("n", 1), "boltzrank": ("n", 1),
    "energy-ndcg": ("n²", 2), "energy-ndcg(window=5)": ("n²", 2), "energy-ndcg(metric=map)": ("n³", 3),
    "adarank-map": ("n log n", 1.1), "adarank-ndcg": ("n log n", 1.1), "svm-map": ("n log n", 1.1),
    "svm-ndcg": ("n log n", 1.1), "permurank": ("n log n", 1.1), "c-crf": ("n³", 3),
    "lambdaloss": ("n²", 2), "lambdaloss-trees": ("n²", 2), "yetirank": ("n log n", 1.1), "xe-ndcg-mart": ("n", 1),
    "coordinate-ascent": ("n²", 2), "random-forest": ("n", 1),
    "structrank": ("n·p + p³, p points of a grid", 1),
    "structrank(topology=disconnected)": ("n·p + p³", 1), "structrank(functions=3)": ("n·p + p³", 1),
    "structrank(topology=random)": ("edges: n²", 2),
    "structrank(topology=plackett-luce)": ("edges: n²", 2), "softrank": ("n²·k, k = 10", 2),
    "softrank(k=none)": ("n³", 3), "apprank": ("n²", 2), "apprank-ap": ("n²", 2), "single-feature": ("n log n", 1.1),
    "random": ("n", 1),
}  # fmt: skip
"""What pages say, per query and sweep, or per fit; and the exponent to expect, n log n having about 1.1."""
_LOOKED_UP = "n² pairs, 6 ns each at n = 1,000 and 9 at 24,000: what swaps look up outgrows the cache."
NOTES = {
    "oc-svm": "a step of the interior point method is linear in n, but it takes 15 of them at n = 100, 29 at 3,000.",
    "oc-svm-sum": "as oc-svm; 26 steps at n = 100, 56 at 1,000.",
    "lambdamart-map": _LOOKED_UP,
    "lambdarank(metric=map)": _LOOKED_UP,
    "structrank(topology=random)": "each edge looks up partners at random places of a list that leaves the cache.",
}
"""Why a row grows faster than promised, where that is known."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="where to write the page; it is printed otherwise")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="rows to measure; all of them, unless some are named")
    parser.add_argument("--seconds", type=float, default=1.0, help="the longest figure of a row, about")
    asked = parser.parse_args()
    os.environ["PODIUM_THREADS"] = "1"
    began = time.perf_counter()
    parts = [table(family, rows, asked.seconds) for family, rows in families(asked.only).items()]
    if asked.only is None:
        parts.append(table_of_edges())
    page = HEAD.format(minutes=(time.perf_counter() - began) / 60) + "\n".join(parts)
    if asked.output is None:
        print(page)
        return
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    with write_aside(asked.output) as file:
        file.write(page.encode())
    print(f"{asked.output}: {(time.perf_counter() - began) / 60:.1f} minutes", file=sys.stderr)


HEAD = """# What methods cost

Written by `python benchmarks/cost.py -o docs/benchmarks/cost.md` in {minutes:.0f} minutes: CPU milliseconds of one
thread for queries of n documents. Of a recipe, one sweep of its loss over one query, with all derivatives; of an
algorithm (*fit*), one fit to 8 queries with 10 features. The exponent is the slope of log time over log n in the last
three figures; it may lie below the promise while fixed costs last, and a row that grows faster than promised by more
than 0.3 is marked ▲.

"""


def families(only: list[str] | None) -> dict[str, list[str]]:
    """The names to measure, family by family."""
    found: dict[str, list[str]] = {}
    for name, one in METHODS.items():
        found.setdefault(one.family, []).append(name)
    for family, names in MORE.items():
        found[family] += names
    chosen = {family: [n for n in names if only is None or n in only] for family, names in found.items()}
    return {family: names for family, names in chosen.items() if names}


def table(family: str, names: list[str], seconds: float) -> str:
    """The rows of a family, as Markdown."""
    lines, notes = [f"## {family.capitalize()}", ""], []
    lines += ["| ms at n = | " + " | ".join(f"{n:,}" for n in SIZES) + " | exponent | promised |"]
    lines += ["|---|" + "--:|" * (len(SIZES) + 1) + ":--|"]
    for name in names:
        times = row(method(name), seconds)
        promise, expected = PROMISED[name]
        slope = exponent(times)
        mark = " ▲" if slope > expected + 0.3 else ""
        if mark:
            notes.append(f"▲ `{name}`: {NOTES.get(name, 'not explained yet.')}")
        what = f"`{name}`" + ("" if isinstance(method(name).learner, Recipe) else " *fit*")
        cells = [f"{1e3 * t:.3g}" for t in times] + ["–"] * (len(SIZES) - len(times))
        lines.append(f"| {what} | " + " | ".join(cells) + f" | {slope:.2f}{mark} | {promise} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join([*lines, "", *(line for note in notes for line in (note, ""))])


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


def exponent(times: list[float]) -> float:
    """The slope of log time over log n in the last three figures."""
    last = min(3, len(times))
    if last < 2:
        return math.nan
    sizes = np.log(SIZES[len(times) - last : len(times)])
    return float(np.polyfit(sizes, np.log(times[-last:]), 1)[0])


def table_of_edges() -> str:
    """StructRank over |P| edges: unlisted, listed, on scores a thousand times wider, and pair by pair."""
    lines = ["## StructRank over edges", ""]
    lines += [
        "Half of n documents are relevant: |P| = n²/4. The double sum is numpy's; the error is that of the value."
    ]
    lines += [
        "",
        "| \\|P\\| | ms from grades | ms from a list | ms, scores × 1000 | ms of the double sum | relative error |",
    ]
    lines += ["|--:|--:|--:|--:|--:|--:|"]
    for n_edges in EDGES:
        lines.append(row_of_edges(n_edges))
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join([*lines, ""])


def row_of_edges(n_edges: int) -> str:
    n = 2 * round(n_edges**0.5)
    scores, labels = np.random.default_rng(0).normal(size=n), np.arange(n) % 2
    cells = [f"{n * n // 4:,}", f"{1e3 * least(lambda: StructRank()(scores, labels)):.3g}"]
    if n_edges <= 1_000_000:
        winners, losers = (index.ravel() for index in np.meshgrid(np.flatnonzero(labels), np.flatnonzero(labels == 0)))
        edges = np.column_stack([winners, losers])
        cells.append(f"{1e3 * least(lambda: StructRank()(scores, edges)):.3g}")
        cells.append(f"{1e3 * least(lambda: StructRank()(1000 * scores, labels)):.3g}")
    if n_edges <= 10_000:
        spent, error = double_sum(scores[winners] - scores[losers])
        cells += [f"{1e3 * spent:.3g}", f"{error:.0e}"]
    return "| " + " | ".join([*cells, *["–"] * (6 - len(cells))]) + " |"


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
