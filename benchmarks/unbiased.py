"""Learning from clicks with and without their bias: naive, inverse propensities and the oracle.

    python -m benchmarks.unbiased [--ohsumed FOLDER] [--seeds 5] [-o docs/benchmarks]

What is run is in benchmarks/unbiased_runs.py. With -o it writes unbiased.md and unbiased.svg, which needs matplotlib;
without, it prints the page. All of it takes about ten minutes of one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.measured import measured
from benchmarks.unbiased_runs import (
    SIZES,
    World,
    from_grades,
    made,
    mean_of,
    over_estimators,
    over_folds,
    over_losses,
    over_pages,
    over_peers,
    spread,
)

PAGES = 100_000
FEW_PAGES = 10_000
ESTIMATOR_PAGES = 20_000
FOLD_SIZES = [100_000, 1_000_000]
COLOURS = {
    "oracle": "#555555", "ips, true θ": "#2f7d4f", "ips, θ harvested": "#3b6ea5", "naive": "#c2553a",
    "production rankers": "#aaaaaa",
}  # fmt: skip
TITLE = """# Learning from clicks without their bias

Users click what is shown first, so a model that learns from clicks as they are learns where documents were shown. Do
weights by propensities undo that, and how many pages does it take?
"""
INTRODUCTION = """**The data** is synthetic: 200 queries of 20 to 40 documents to learn from and 200 others to measure
on, with NDCG@10 by true grades. Two weak production rankers are trained on two queries each, and a coin decides whose
whole list is shown; users examine rank k with probability 1/k, and click what they examine with probability
0.1 + 0.9 · grade/4. *Naive* takes clicks as they are, *ips* divides them by the propensity of their rank, *oracle*
learns from the true probabilities of a click. Figures are means of {seeds} seeds, each with its own data, rankers and
clicks, ± half of the 95 % interval; differences are paired by seed.

## More pages

![NDCG@10 by the number of pages](unbiased.svg)

The loss is `softmax`, the scorer linear, the penalty 0.01. Naive learning does not improve with more pages; ips reaches
the oracle.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ohsumed", metavar="FOLDER", help="LETOR's OHSUMED, with Fold1 to Fold5")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path, help="a folder for the page and its picture")
    asked = parser.parse_args()
    worlds = [made(seed) for seed in range(asked.seeds)]
    parts = [INTRODUCTION.format(seeds=asked.seeds)]
    curves = told("pages", over_pages(worlds))
    parts.append(pages_table(curves))
    parts.append(losses_table(worlds, over_losses(worlds, PAGES)))
    parts.append(estimators_table(told("estimators", over_estimators(worlds, ESTIMATOR_PAGES))))
    parts.append(peers_table(told("peers", over_peers(worlds, FEW_PAGES))))
    if asked.ohsumed is not None:
        parts.append(folds_table(told("OHSUMED", over_folds(asked.ohsumed, FOLD_SIZES))))
    folds = " --ohsumed OHSUMED" if asked.ohsumed is not None else ""
    parts = [TITLE, measured(f"python -m benchmarks.unbiased{folds} -o docs/benchmarks") + "\n", *parts]
    text = "\n".join(parts)
    if asked.output is None:
        print(text)
        return
    asked.output.mkdir(parents=True, exist_ok=True)
    (asked.output / "unbiased.md").write_text(text)
    draw(curves, asked.output / "unbiased.svg")
    print(f"wrote {asked.output / 'unbiased.md'}")


def told(what: str, found: dict) -> dict:
    print(f"{what}: {found}", flush=True)
    return found


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] + ["--:"] * (len(heads) - 1), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def pages_table(curves: dict[str, np.ndarray]) -> str:
    rows = [[kind, *(mean_of(values[:, k]) for k in range(len(SIZES)))] for kind, values in curves.items()]
    for name, a, b in (
        ("ips, true θ − naive", "ips, true θ", "naive"),
        ("oracle − ips, true θ", "oracle", "ips, true θ"),
    ):
        rows.append([name, *(mean_of((curves[a] - curves[b])[:, k]) for k in range(len(SIZES)))])
    return table(["weights", *(f"{pages:,} pages" for pages in SIZES)], rows)


def losses_table(worlds: list[World], found: Iterable[tuple[str, str, dict[str, np.ndarray]]]) -> str:
    rows, kept = [], []
    for loss, scorer, values in found:
        kept.append((loss, scorer, values))
        gain = values["ips"] - values["naive"]
        cells = [mean_of(values[kind]) for kind in ("naive", "ips", "oracle")]
        rows.append([f"{loss} × {scorer}", *cells, mean_of(gain), f"{gain.min():.3f}"])
        print(rows[-1], flush=True)
    short = [(loss, scorer) for loss, scorer, values in kept if _gain(values) < 0.02]
    far = max(float((values["oracle"] - values["ips"]).mean()) for _, _, values in kept)
    verdict = (
        f"The gain is at least 0.02 in every row, and ips at most {far:.3f} behind the oracle. Networks have 16 hidden "
        "units, 100 epochs of Adam and a penalty of 0.03 (lambdarank 0.1), trees 60 rounds at a learning rate of 0.1: "
        "chosen for all weights alike, on data of other seeds."
    )
    if short:
        names = (f"{loss} × {scorer} ({mean_of(from_grades(worlds, loss, scorer))})" for loss, scorer in short)
        verdict = f"The gain is below 0.02, with NDCG@10 of the same learner on true grades, for {', '.join(names)}."
    heads = ["loss × scorer", "naive", "ips, true θ", "oracle", "ips − naive", "least of the seeds"]
    return f"## Losses and scorers, {PAGES:,} pages\n\n{table(heads, rows)}\n{verdict}\n"


def _gain(values: dict[str, np.ndarray]) -> float:
    return float((values["ips"] - values["naive"]).mean())


def estimators_table(found: dict[str, tuple[np.ndarray, np.ndarray]]) -> str:
    rows = [
        [f"`{how}`" if how != "true θ" else how, f"{ratio.mean():.2f} ± {spread(ratio):.2f}", mean_of(values)]
        for how, (ratio, values) in found.items()
    ]
    words = (
        "`softmax` × linear. θ@10 is the estimate of rank 10 over the truth: 1 is right. Ranks below 20 are left out, "
        "as some queries have no more. `randomised` is shown on pages that were not shuffled, against its warning, and "
        "`dbn` assumes that users stop at what satisfies them, which these do not. `regression-em`, `dual` and "
        "`pairwise` are estimated without interventions; the rankers here are weak, which helps them. "
        "Where `dual` has not settled, it says so.\n"
    )
    heads = ["θ by", "θ@10 over the truth", "NDCG@10 with ips"]
    return f"## Estimators of propensities, {ESTIMATOR_PAGES:,} pages\n\n{words}\n{table(heads, rows)}"


def peers_table(found: dict[str, np.ndarray | str]) -> str:
    rows = [[name, values if isinstance(values, str) else mean_of(values)] for name, values in found.items()]
    words = (
        "60 trees of 7 leaves each. LightGBM and XGBoost learn from every page as a query of its own, with clicks as "
        "labels; podium from document weights, divided by propensities (ips) or as they are, with the logarithms of "
        "propensities as offsets of scores.\n"
    )
    return f"## Boosted trees beside other tools, {FEW_PAGES:,} pages\n\n{words}\n{table(['learner', 'NDCG@10'], rows)}"


def folds_table(found: dict[str, np.ndarray]) -> str:
    rows = [[kind, *(mean_of(values[:, k]) for k in range(len(FOLD_SIZES)))] for kind, values in found.items()]
    gain = found["ips, true θ"] - found["naive"]
    rows.append(["ips, true θ − naive", *(mean_of(gain[:, k]) for k in range(len(FOLD_SIZES)))])
    words = (
        "Its five folds in place of seeds: 63 queries to learn from, of up to 320 documents, and 22 to measure on.\n"
    )
    return f"## OHSUMED\n\n{words}\n{table(['weights', *(f'{n:,} pages' for n in FOLD_SIZES)], rows)}"


def draw(curves: dict[str, np.ndarray], path: Path) -> None:
    """NDCG@10 by the number of pages, with 95 % intervals."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "podium"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    for kind, colour in COLOURS.items():
        values = curves[kind]
        mean, half = values.mean(axis=0), np.array([spread(values[:, k]) for k in range(len(SIZES))])
        style = {"oracle": "--", "production rankers": ":"}.get(kind, "o-")
        axes.fill_between(SIZES, mean - half, mean + half, color=colour, alpha=0.12, linewidth=0)
        axes.plot(SIZES, mean, style, color=colour, label=kind, linewidth=1.8)
    axes.set_xscale("log")
    axes.set_xlabel("pages with clicks")
    axes.set_ylabel("NDCG@10 on new queries")
    axes.legend(frameon=False, ncols=2, loc="upper left", bbox_to_anchor=(0, 0.62))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
