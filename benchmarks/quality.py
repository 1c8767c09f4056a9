"""Quality compared with other boosters: NDCG@10 on queries that none has seen, on synthetic data of many shapes.

Everyone tunes on the same validation queries, stops early there, and has the same budget: each booster the best of four
settings; lambdamart four forests, six if features have levels by query; auto up to five, and six linear models.
Each seed has another truth. A lead is the mean over seeds, with its 95 % interval (Student's t over seeds: the truth,
the queries and the fits of a seed are all drawn anew); the last row pools the seeds of all shapes. Of so many leads
some are off 0 by chance: the last row also says which stay so after Holm's correction, of those by shape and of the
pooled ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import stats

import podium
from benchmarks.boosters import BOOSTERS, Fit
from benchmarks.contest import OURS, Contest, Contestant
from benchmarks.peers import peer
from benchmarks.shapes import Shape, parts
from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.evaluation.paired import t_test
from podium.evaluation.significance import adjust, p_text
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


class Lead(NamedTuple):
    """Of one of podium's methods over a booster: the mean over seeds, its 95 % interval, and p of the paired t test."""

    method: str
    booster: str
    mean: float
    low: float
    high: float
    p: float

    def __str__(self) -> str:
        verdict = ", ahead" if self.low > 0 else ", BEHIND" if self.high < 0 else ""
        return f"{self.method} leads {self.booster} by {self.mean:+.4f} ({self.low:+.4f} to {self.high:+.4f}{verdict})"


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
        judged=lambda: all(lead.low > 0 if pooled else lead.high >= 0 for lead in leads(whole)),
    )


def leads(whole: list[Outcomes]) -> Iterator[Lead]:
    """Leads of podium's methods over each booster, of the seeds of these shapes together."""
    for method, label in METHODS.items():
        for booster in (name for name in BOOSTERS if name in whole[0]):
            lead = np.concatenate([np.subtract(seen[label].ndcg, seen[booster].ndcg) for seen in whole])
            mean, error = float(lead.mean()), float(lead.std(ddof=1) / np.sqrt(len(lead)))
            error *= float(stats.t.ppf(0.975, len(lead) - 1))
            yield Lead(method, booster, mean, mean - error, mean + error, t_test(lead))


def words(whole: list[Outcomes]) -> str:
    """Mean NDCG@10 and leaves of each tool, and podium's leads; of several shapes, what holds after correction too."""
    tools = [
        f"{name} {np.mean([x for seen in whole for x in seen[name].ndcg]):.4f} "
        f"({np.mean([x for seen in whole for x in seen[name].leaves]):.0f} leaves)"
        for name in whole[0]
    ]
    pooled = list(leads(whole))
    text = f"NDCG@10: {', '.join(tools)}; {', '.join(map(str, pooled))}"
    if len(whole) == 1:
        return text
    by_shape = [(f" on {shape}", lead) for shape, seen in zip(SHAPES, whole, strict=False) for lead in leads([seen])]
    return f"{text}; of leads by shape {corrected(by_shape)}; of pooled leads {corrected([('', x) for x in pooled])}"


def corrected(family: list[tuple[str, Lead]]) -> str:
    """How many leads are ahead and behind by their intervals, and which of them after Holm's correction for all."""
    holm = dict(zip(family, adjust([lead.p for _, lead in family]), strict=True))
    ahead = [(where, lead) for where, lead in family if lead.low > 0]
    behind = [(where, lead) for where, lead in family if lead.high < 0]
    kept = [(where, lead) for where, lead in ahead if holm[where, lead] <= _ALPHA]
    return (
        f"{len(ahead)} of {len(family)} are ahead, {len(kept)} after Holm's correction ({_listed(kept, holm)}); "
        f"{len(behind)} behind, {sum(holm[key] <= _ALPHA for key in behind)} after it ({_listed(behind, holm)})"
    )


_ALPHA = 0.05


def _listed(some: list[tuple[str, Lead]], holm: dict[tuple[str, Lead], float]) -> str:
    names = [f"{lead.method} − {lead.booster}{where}: {p_text(holm[where, lead])}" for where, lead in some]
    return ", ".join(names) or "none"
