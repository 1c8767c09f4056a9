"""First stages on test collections: variants of BM25, query expansion, term dependence, passages and stages.

    python -m benchmarks.first_stages FOLDER [-o docs/benchmarks/first_stages.md]

FOLDER has a folder for each collection, with documents.jsonl, queries.jsonl and qrels.txt. None is shipped. All
parameters are defaults, so that no query is used to choose them.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.measured import measured
from benchmarks.search import _holm, _index, _p
from podium.base.arrays import Array
from podium.evaluation.evaluate import evaluate_run
from podium.evaluation.report_texts import markdown_table
from podium.formats.trec.trec import Run, read_qrels
from podium.text.collection.collection import read_queries

BASE = "bm25"
STAGES = [
    BASE, "bm25(variant=robertson)", "bm25(variant=atire)", "bm25(variant=l)", "bm25(variant=plus)", "ql", "sdm", "rm3",
    "rm3(of=ql,by=exp)", "bo1", "kl", "passages", "linear(of=[bm25,ql])", "rrf(of=[bm25,ql,rm3])",
    "linear(of=[bm25,rm3,bo1])",
]  # fmt: skip
METRICS = ["ndcg@10", "map", "recall@100"]
DEPTH = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    folders = sorted(path for path in asked.folder.iterdir() if (path / "qrels.txt").exists())
    text = page({folder.name: evaluated(folder) for folder in folders})
    print(text)
    if asked.output is not None:
        asked.output.write_text(text.rstrip() + "\n", encoding="utf-8")


def evaluated(folder: Path) -> dict[str, Array]:
    """The metrics of every query with a relevant document, by each first stage."""  # (M, Q)
    qrels, topics = read_qrels(folder / "qrels.txt"), read_queries(folder / "queries.jsonl")
    values = {}
    with tempfile.TemporaryDirectory() as place:
        index = _index(folder, Path(place) / "x.index")
        for stage in STAGES:
            run = {}
            for topic in topics:
                hits = index.search(topic.text, DEPTH, by=stage)
                run[topic.id] = dict(zip(hits.ids, hits.scores.tolist(), strict=True))
            run = Run.from_dict({query: scores for query, scores in run.items() if scores})
            measures = evaluate_run(qrels, run, METRICS, all_queries=True, preset="trec")
            values[stage] = measures.values
        index.close()
    judged = ~np.isnan(values[BASE]).any(axis=0)
    return {stage: rows[:, judged] for stage, rows in values.items()}


def page(measures: dict[str, dict[str, Array]]) -> str:
    """The tables in Markdown."""
    names = list(measures)
    means = [
        [stage, *(" / ".join(f"{x:.3f}" for x in measures[c][stage].mean(axis=1)) for c in names)] for stage in STAGES
    ]
    keys = [(stage, c) for stage in STAGES[1:] for c in names]
    ps = [_p(measures[c][stage], measures[c][BASE]) for stage, c in keys]
    corrected = dict(zip(keys, zip(ps, _holm(ps), strict=True), strict=True))
    tests = [[stage, *("{:.2g} ({:.2g})".format(*corrected[stage, c]) for c in names)] for stage in STAGES[1:]]
    heads = [f"{c}, {measures[c][BASE].shape[1]} queries" for c in names]
    return f"""# First stages: variants of BM25, expansion, stages

Which search without learning finds most: BM25 and its variants, query likelihood, expansion, fusion?
[Expansion and stages](../search.md#expansion-and-stages) says what to make of it.

{measured("python -m benchmarks.first_stages FOLDER -o docs/benchmarks/first_stages.md")}

Classical test collections, which are not shipped; the best {DEPTH} documents of each first stage with its default
parameters; NDCG@10 with linear gain / MAP / recall at 100.

{markdown_table(["", *heads], means)}
p-values of NDCG@10 against `{BASE}` by a paired randomisation test over queries; in brackets after Holm over all.

{markdown_table(["", *names], tests)}
"""


if __name__ == "__main__":
    main()
