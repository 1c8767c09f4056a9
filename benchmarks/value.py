"""What rankers are worth, from the clicks on others' pages; and what two online learners make of people's clicks.

    python -m benchmarks.value [-o docs/value.svg]

Prints the doubly robust value of four rankers on a simulated log of 5,000 pages beside their true value, and NDCG@10 of
pdgd and dbgd on held-out queries after up to 5,000 pages, as means of five seeds. With -o it draws both, which needs
matplotlib.
"""

from __future__ import annotations

import sys

import numpy as np

import podium
from podium.clicks.propensity_file import Propensities
from podium.clicks.simulate import click_chance, simulate
from podium.counterfactual import LOGGED, Discount, Value, value
from podium.online.learning import OnlineRun, learn_online

DEPTH, PAGES, STEPS, SEEDS = 25, 5_000, 5_000, 5
LEARNERS = ["pdgd", "dbgd"]
COLOURS = {"pdgd": "#3b6ea5", "dbgd": "#d1711f"}

Row = tuple[str, Value, float]


def main(output: str | None = None) -> None:
    rows = rankers()
    for name, found, truth in rows:
        print(f"{name:20s} {found.value:.4f}  [{found.low:.4f}, {found.high:.4f}]  true {truth:.4f}")
    curves = {name: [online(name, seed) for seed in range(SEEDS)] for name in LEARNERS}
    for name, runs in curves.items():
        for at in (0, 1, 5, 10, 50):
            ndcg = [run.ndcg[at] for run in runs]
            print(f"{name}, {runs[0].steps[at]:4d} pages: NDCG@10 {np.mean(ndcg):.4f} ± {np.std(ndcg):.4f}")
        print(f"{name}: regret {np.mean([run.regret[-1] for run in runs]):.0f} of {STEPS} pages")
    if output is not None:
        draw(rows, curves, output)


def rankers() -> list[Row]:
    """Four rankers and what was shown: estimates from clicks, and the truth that the clicks were drawn from."""
    data, _ = podium.make_letor_like(100, (12, 25), seed=3)
    train, seen = podium.split(data, (0.5, 0.5), seed=0)
    logging = [podium.train(train.select([k, k + 1]), "softmax").score(seen) for k in (0, 2)]
    log = simulate(seen, logging, pages=PAGES, depth=DEPTH, seed=1)
    methods = ["lambdamart", "ranknet", "single-feature", "random"]
    runs = {name: podium.Run.from_scores(seen, podium.train(train, name).score(seen)) for name in methods}
    curve = Propensities.of_theta(1.0 / np.arange(1, DEPTH + 1), how="planted")
    chances = podium.Run.from_scores(seen, click_chance(seen))
    found = value(log, runs, propensities=curve)
    truth = value(log, runs, propensities=curve, how="dm", relevance=chances)
    shown = np.array([dict(zip(seen.document_ids, click_chance(seen), strict=True))[d] for d in log.document_ids])
    logged = float(Discount.parse("dcg@10").of(log.ranks()) @ shown[log.pairs]) / log.n_pages
    return [(one.name, one, logged if one.name == LOGGED else truth[one.name].value) for one in found.values]


def online(learner: str, seed: int) -> OnlineRun:
    data, _ = podium.make_letor_like(200, (10, 20), n_features=16, seed=seed)
    train, test = podium.split(data, (0.5, 0.5), seed=0)
    return learn_online(learner, train, test, steps=STEPS, every=100, seed=seed)


def draw(rows: list[Row], curves: dict[str, list[OnlineRun]], output: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "podium"
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    rows = sorted(rows, key=lambda row: row[1].value)
    for y, (_, found, truth) in enumerate(rows):
        left.plot([found.low, found.high], [y, y], color="#3b6ea5", linewidth=3, solid_capstyle="butt")
        left.plot(found.value, y, "o", color="#3b6ea5", label="from clicks, 95 %" if y == 0 else None)
        left.plot(truth, y, "|", color="#d1711f", markersize=16, markeredgewidth=2, label="truth" if y == 0 else None)
    left.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    left.set_xlabel("value: DCG@10 in clicks at rank 1")
    left.set_title("What rankers are worth, from 5,000 pages")
    left.legend(frameon=False, loc="lower right")
    for name, runs in curves.items():
        ndcg = np.array([run.ndcg for run in runs])
        middle, spread = ndcg.mean(axis=0), ndcg.std(axis=0)
        right.plot(runs[0].steps, middle, color=COLOURS[name], label=name)
        right.fill_between(runs[0].steps, middle - spread, middle + spread, color=COLOURS[name], alpha=0.2, linewidth=0)
    right.set_xlabel("pages shown")
    right.set_ylabel("NDCG@10, held-out queries")
    right.set_title("Learning while people search")
    right.legend(frameon=False, loc="lower right")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(output, metadata={"Date": None})


if __name__ == "__main__":
    main(*(sys.argv[2:3] if sys.argv[1:2] == ["-o"] else ()))
