"""Simulated metasearch: six engines of unequal quality, their fusion with and without judged queries.

    python benchmarks/metasearch.py [-o docs/metasearch.svg]

Prints NDCG@10 on 300 queries that nothing was trained on, with 95 % bootstrap intervals, and what voter-weights makes
of 5 to 160 judged queries. With -o it draws both, which needs matplotlib.
"""

from __future__ import annotations

import sys

import numpy as np

from podium.aggregation import Aggregator, SupervisedAggregator, with_labels
from podium.aggregation.rankings.metasearch import make_metasearch
from podium.aggregation.rankings.rankings import Rankings
from podium.evaluation.evaluate import evaluate_run
from podium.evaluation.paired import Interval, bootstrap_interval
from podium.formats.trec.trec import Qrels, Run

UNSUPERVISED = ["rrf", "borda", "rrf(k=10)", "combsum", "copeland", "mc4", "plackett-luce", "kemeny(exact=16)"]
SUPERVISED = ["cranking", "voter-weights"]
SIZES = [5, 10, 20, 40, 80, 160]
JUDGED = 60
COLOURS = {"engine": "#888888", "unsupervised": "#3b6ea5", "supervised": "#d1711f"}

Row = tuple[str, str, float, Interval]


def main(output: str | None = None) -> None:
    train, test = make_metasearch(max(SIZES), seed=1), make_metasearch(300, seed=2)
    rows = systems(train, test)
    for kind, name, mean, (low, high) in rows:
        print(f"{kind:13s} {name:20s} {mean:.4f}  [{low:.4f}, {high:.4f}]")
    curve = [measure(test[1], learned("voter-weights", train, size)(test[0]).run()) for size in SIZES]
    for size, (mean, (low, high)) in zip(SIZES, curve, strict=True):
        print(f"voter-weights, {size:3d} judged queries: {mean:.4f}  [{low:.4f}, {high:.4f}]")
    if output is not None:
        draw(rows, curve, output)
        print(f"wrote {output}")


def systems(train: tuple[Rankings, Qrels], test: tuple[Rankings, Qrels]) -> list[Row]:
    rankings, qrels = test
    runs = [("engine", name, alone(rankings, v)) for v, name in enumerate(rankings.voters)]
    runs += [("unsupervised", name, Aggregator.parse(name)(rankings).run()) for name in UNSUPERVISED]
    runs += [("supervised", name, learned(name, train, JUDGED)(rankings).run()) for name in SUPERVISED]
    found = [(kind, name, *measure(qrels, run)) for kind, name, run in runs]
    kinds = list(COLOURS)
    return sorted(found, key=lambda row: (kinds.index(row[0]), row[2]))


def learned(name: str, train: tuple[Rankings, Qrels], size: int) -> Aggregator:
    """The method, trained on the first judged queries."""
    rankings, qrels = train
    end = qrels.offsets[size]
    cut = Qrels(qrels.query_ids[:size], qrels.offsets[: size + 1], qrels.document_ids[:end], qrels.labels[:end])
    return SupervisedAggregator.parse(name).fit(with_labels(rankings, cut))


def alone(rankings: Rankings, voter: int) -> Run:
    """One voter's lists as a run."""
    documents, scores, offsets = [], [], [0]
    for query in rankings:
        mine = slice(query.offsets[voter], query.offsets[voter + 1])
        documents += query.document_ids[query.documents[mine]].tolist()
        scores += query.scores[mine].tolist()
        offsets.append(len(documents))
    return Run(rankings.query_ids, np.array(offsets), np.array(documents, dtype=object), np.array(scores))


def measure(qrels: Qrels, run: Run) -> tuple[float, Interval]:
    values = evaluate_run(qrels, run, ["ndcg@10"]).values[0]
    values = values[~np.isnan(values)]
    return float(values.mean()), bootstrap_interval(values, rounds=2000)


def draw(rows: list[Row], curve: list[tuple[float, Interval]], output: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "podium"
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), width_ratios=(3, 2), layout="constrained")
    for place, (kind, name, mean, (low, high)) in enumerate(rows):
        left.plot([low, high], [place, place], color=COLOURS[kind], linewidth=2)
        left.plot(mean, place, "o", color=COLOURS[kind], label=kind if name == _first(rows, kind) else None)
        left.annotate(f"{mean:.3f}", (high, place), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8)
    left.set_yticks(range(len(rows)), [name for _, name, _, _ in rows])
    left.set_xlim(0.2, 0.95)
    left.set_xlabel(f"NDCG@10 on 300 queries, 95 % intervals; trained on {JUDGED}")
    left.legend(loc="lower right", frameon=False)
    means = [mean for mean, _ in curve]
    right.fill_between(SIZES, [i.low for _, i in curve], [i.high for _, i in curve], color="#d1711f", alpha=0.2)
    right.plot(SIZES, means, "o-", color=COLOURS["supervised"])
    right.annotate("voter-weights", (SIZES[3], means[3]), xytext=(-4, -22), textcoords="offset points", fontsize=9)
    for kind in ("unsupervised", "engine"):
        best = max((mean, name) for other, name, mean, _ in rows if other == kind)
        right.axhline(best[0], color=COLOURS[kind], linestyle="--")
        text = f"the best {'engine' if kind == 'engine' else 'without judgments'}: {best[1]}"
        right.annotate(text, (SIZES[-1], best[0]), xytext=(0, 5), textcoords="offset points", ha="right", fontsize=9)
    right.set_xscale("log", base=2)
    right.set_xticks(SIZES, map(str, SIZES))
    right.set_xlabel("judged queries to learn from")
    right.set_ylabel("NDCG@10")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(output, metadata={"Date": None})


def _first(rows: list[Row], kind: str) -> str:
    return next(name for other, name, _, _ in rows if other == kind)


if __name__ == "__main__":
    main(*(sys.argv[2:3] if sys.argv[1:2] == ["-o"] else ()))
