"""Quality compared with other boosters: NDCG@10 on queries that none has seen, on synthetic data of many shapes.

Everyone tunes on the same validation queries, stops early there, and has the same budget: each booster the best of four
settings; lambdamart four forests, eight if features have levels by query; auto up to five, and six linear models.
Each seed has another truth. A lead is the mean over seeds, with its 95 % interval (Student's t over seeds: the truth,
the queries and the fits of a seed are all drawn anew); the last row pools the seeds of all shapes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

import podium
from benchmarks.boosters import BOOSTERS, Fit
from benchmarks.contest import OURS, Contest, Contestant
from benchmarks.peers import peer
from benchmarks.shapes import Shape, parts
from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.model import Model

SEEDS = 5
SHAPES = {
    "few queries, much noise": Shape(50, (10, 30), noise=2.5, linear=1.0, bends=0.7),
    "sums": Shape(80, (10, 30), linear=1.0),
    "curves and steps": Shape(100, (10, 30), linear=0.5, curves=1.0, steps=1.0),
    "products of features": Shape(120, (10, 30), 20, linear=0.7, bends=0.5, products=1.0),
    "levels and scales by query": Shape(100, (10, 30), linear=1.0, bends=0.5, levels=2.0, scales=1.0, tails=1.5),
    "heavy tails, many zeros": Shape(100, (10, 30), linear=1.0, steps=0.5, zeros=0.7, tails=3.0),
    "mostly useless features": Shape(100, (10, 30), 100, useful=0.06, linear=1.0, curves=1.0),
    "missing values and copies": Shape(100, (10, 30), linear=1.0, steps=1.0, missing=0.2, copies=0.4),
    "long lists, few relevant": Shape(40, (50, 100), grades=(0.9, 0.97), linear=1.0, curves=0.7),
}
METHODS = {"auto": OURS, "lambdamart": f"{OURS}, lambdamart"}


@dataclass
class Outcome:
    """What came of one tool, by seed."""

    ndcg: list[float] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)
    cpu: float = 0.0


Outcomes = dict[str, Outcome]
Run = Callable[[Dataset, Dataset, Dataset], tuple[Array, int]]
"""Scores of test data by the tuned model, and the model's leaves."""


def contests(*, quick: bool) -> Iterator[Contest]:
    podium.train(*warm())
    each, absent = tools()
    whole: list[Outcomes] = []
    for name, shape in list(SHAPES.items())[: 2 if quick else None]:
        outcomes = {tool: Outcome() for tool in each}
        whole.append(outcomes)
        sets = [parts(shape, seed, tested=60 if quick else 200) for seed in range(2 if quick else SEEDS)]
        runs = {tool: _over(sets, run, outcomes[tool]) for tool, run in each.items()}
        yield _contest(f"quality, {name}", runs, absent, [outcomes])
    yield _contest("quality, all shapes", {tool: _sum(whole, tool) for tool in each}, absent, whole)


def warm() -> tuple[Dataset, str]:
    return parts(Shape(20, (5, 10), 5), 0, tested=1)[0], "auto(share=0.5)"


def tools() -> tuple[dict[str, Run], dict[str, str]]:
    """What gives test scores and leaves from training, validation and test data; and why others are absent."""
    found = {label: _ours(method) for method, label in METHODS.items()}
    absent = {}
    for name, (module, fit, grid) in BOOSTERS.items():
        here = peer(module)
        if isinstance(here, str):
            absent[name] = here
        else:
            found[name] = _best_of(fit, grid)
    return found, absent


def _ours(method: str) -> Run:
    def run(train: Dataset, valid: Dataset, test: Dataset) -> tuple[Array, int]:
        model = podium.train(train, method, valid=valid)
        return model.score(test), _leaves(model)

    return run


def _leaves(model: Model) -> int:
    texts = [params.tobytes().decode() for name, params in model.params.items() if name.endswith("trees")]
    lines = [line for text in texts for line in text.splitlines() if line.startswith("num_leaves=")]
    return sum(int(line.partition("=")[2]) for line in lines)


def _best_of(fit: Fit, grid: list[dict[str, float]]) -> Run:
    def run(train: Dataset, valid: Dataset, test: Dataset) -> tuple[Array, int]:
        fits = [fit(train, valid, test, **settings) for settings in grid]
        best = max(fits, key=lambda fitted: _ndcg(valid, fitted.valid))
        return best.test, best.leaves

    return run


def _ndcg(data: Dataset, scores: Array) -> float:
    return podium.evaluate(data, scores, "ndcg@10").means()["ndcg@10"].value


def _over(sets: list[tuple[Dataset, Dataset, Dataset]], run: Run, outcome: Outcome) -> Contestant:
    """All seeds of a shape."""

    def all_seeds() -> None:
        start = time.process_time()
        for train, valid, test in sets:
            scores, leaves = run(train, valid, test)
            outcome.ndcg.append(_ndcg(test, scores))
            outcome.leaves.append(leaves)
        outcome.cpu = time.process_time() - start

    return all_seeds


def _sum(whole: list[Outcomes], tool: str) -> Contestant:
    """The time of all shapes, which were run before."""
    return lambda: {"cpu": sum(outcomes[tool].cpu for outcomes in whole)}


def _contest(what: str, runs: dict[str, Contestant], absent: dict[str, str], whole: list[Outcomes]) -> Contest:
    pooled = len(whole) != 1
    wanted = "significantly ahead of each booster" if pooled else "significantly behind no booster"
    return Contest(
        what,
        runs[OURS],
        {name: run for name, run in runs.items() if name != OURS} | absent,
        goal=f"auto and lambdamart {wanted}",
        repeats=1,
        warm_up=False,
        note=lambda: words(whole),
        judged=lambda: all(low > 0 if pooled else high >= 0 for *_, low, high in leads(whole)),
    )


def leads(whole: list[Outcomes]) -> Iterator[tuple[str, str, float, float, float]]:
    """Of each of podium's methods over each booster: the mean lead and its 95 % interval."""
    for method, label in METHODS.items():
        for booster in (name for name in BOOSTERS if name in whole[0]):
            lead = np.concatenate([np.subtract(seen[label].ndcg, seen[booster].ndcg) for seen in whole])
            error = float(lead.std(ddof=1) / np.sqrt(len(lead)) * stats.t.ppf(0.975, len(lead) - 1))
            yield method, booster, float(lead.mean()), float(lead.mean()) - error, float(lead.mean()) + error


def words(whole: list[Outcomes]) -> str:
    """Mean NDCG@10 and leaves of each tool, and podium's leads."""
    tools = [
        f"{name} {np.mean([x for seen in whole for x in seen[name].ndcg]):.4f} "
        f"({np.mean([x for seen in whole for x in seen[name].leaves]):.0f} leaves)"
        for name in whole[0]
    ]
    ahead = [
        f"{method} leads {booster} by {mean:+.4f} ({low:+.4f} to {high:+.4f}"
        + (", ahead)" if low > 0 else ", BEHIND)" if high < 0 else ")")
        for method, booster, mean, low, high in leads(whole)
    ]
    return "NDCG@10: " + ", ".join(tools) + "; " + ", ".join(ahead)
