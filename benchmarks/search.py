"""What learning adds to BM25 on test collections: NDCG@10 over folds and splits, ablations, tests.

    python -m benchmarks.search FOLDER [--all] [-o docs/benchmarks/search.md]

FOLDER has a folder for each collection, with documents.jsonl, queries.jsonl, qrels.txt, and links.txt where there are
links. None is shipped. --all also measures other methods, and features left out: ten times the work.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measured import measured
from podium.evaluation.report_texts import markdown_table
from podium.evaluation.search.compare_search import FIRST, TUNED, compare_search
from podium.evaluation.significance import compare_systems
from podium.formats.trec.trec import read_qrels
from podium.graph import read_links
from podium.metrics import Metric
from podium.text.collection.collection import read_documents, read_queries
from podium.text.features import read_features
from podium.text.index.index import Index

SHRUNK = "shrunk"
METHODS = [SHRUNK, "listnet(transform=query-zscore)"]
MORE = ["listnet", "lambdamart"]
WITHOUT = ["cosine", "prf", "lsi", "cosine,prf,lsi"]
SEEDS = (0, 1, 2)
FIELDS = ("title", "text", "keywords")
METRICS = ("ndcg@10", "map", "recall@100")
ABLATED = "listnet(transform=query-zscore)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    found = {}
    for folder in sorted(path for path in asked.folder.iterdir() if (path / "qrels.txt").exists()):
        found[folder.name] = evaluated(folder, METHODS + (MORE if asked.all else []), WITHOUT if asked.all else [])
        print(folder.name, json.dumps({**found[folder.name], "ndcg": None}), flush=True)
    text = page(found)
    print(text)
    if asked.output is not None:
        asked.output.write_text(text, encoding="utf-8")


def evaluated(folder: Path, methods: list[str], without: list[str]) -> dict[str, Any]:
    """Means of each row, and p-values against the first stage and the tuned one."""
    qrels, topics = read_qrels(folder / "qrels.txt"), read_queries(folder / "queries.jsonl")
    with tempfile.TemporaryDirectory() as place:
        index = _index(folder, Path(place) / "x.index")
        whole = [repr(feature) for feature in read_features("podium", index)]
        rows: dict[str, Any] = {}
        made = compare_search(index, topics, qrels, methods, metrics=METRICS, preset="trec", seeds=SEEDS)
        rows |= {name: _values(made, name) for name in made.by_method}
        shares = [outcome.info["trials"][outcome.info["chosen"]]["learned"] for outcome in made.runs(SHRUNK)]
        for left_out in without:
            kept = [name for name in whole if name not in left_out.split(",")]
            part = compare_search(
                index, topics, qrels, [ABLATED], metrics=METRICS, preset="trec", features=",".join(kept), seeds=SEEDS
            )
            rows[f"without {left_out}"] = _values(part, ABLATED)
        index.close()
    queries = rows[FIRST].shape[1]
    return {
        "queries": queries,
        "means": {name: np.nanmean(values, axis=1).tolist() for name, values in rows.items()},
        "share": float(np.mean(shares)),
        "ndcg": {name: values[0].tolist() for name, values in rows.items()},
        "p": {name: {base: _p(rows[name], rows[base]) for base in (FIRST, TUNED)} for name in methods},
    }


def _index(folder: Path, path: Path) -> Index:
    documents = list(read_documents(folder / "documents.jsonl"))
    there = [name for name in FIELDS if any(one.get(name) for one in documents)]
    index = Index.create(path, documents, fields=there)
    if (folder / "links.txt").exists():
        index.add_links((source, target) for source, target, *_ in read_links(folder / "links.txt"))
    return index


def _values(made: Any, name: str) -> Any:
    """The metrics of every query, averaged over splits."""  # (M, Q)
    per_query: dict[str, list[Any]] = {}
    for outcome in made.runs(name):
        for query, values in zip(outcome.query_ids, outcome.values.T, strict=True):
            per_query.setdefault(query, []).append(values)
    return np.array([np.mean(per_query[query], axis=0) for query in sorted(per_query)]).T


def _p(values: Any, base: Any) -> float:
    """The p-value of NDCG@10, by a paired randomisation test."""
    found = compare_systems(np.array([values[0], base[0]]), ["it", "base"], metric=Metric.parse("ndcg@10"), seed=0)
    [pair] = found.to_dict()["pairs"]
    return float(pair["p"])


def _together(found: dict[str, Any], method: str, base: str) -> tuple[float, float]:
    """The mean difference of NDCG@10 over the queries of all collections, and its p-value."""
    values, of_base = ([[value for c in found.values() for value in c["ndcg"][name]]] for name in (method, base))
    return float(np.nanmean(np.array(values) - np.array(of_base))), _p(np.array(values), np.array(of_base))


def _holm(ps: list[float]) -> list[float]:
    order, adjusted, largest = np.argsort(ps), [0.0] * len(ps), 0.0
    for k, at in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - k) * ps[at]))
        adjusted[at] = largest
    return adjusted


def page(found: dict[str, Any]) -> str:
    """The tables in Markdown."""
    names = list(found)
    rows, methods = list(found[names[0]]["means"]), list(found[names[0]]["p"])
    keys = [(c, m, base) for c in names for m in methods for base in (FIRST, TUNED)]
    together = {(m, base): _together(found, m, base) for m in methods for base in (FIRST, TUNED)}
    ps = [found[c]["p"][m][base] for c, m, base in keys] + [p for _, p in together.values()]
    holm = _holm(ps)
    corrected = dict(zip(keys, holm, strict=False))
    of_all = dict(zip(together, holm[len(keys) :], strict=True))
    means = [
        [row, *(f"{found[c]['means'][row][0]:.3f} / {found[c]['means'][row][1]:.3f}" for c in names)] for row in rows
    ]
    tests = [
        [
            m,
            base,
            *(f"{found[c]['p'][m][base]:.2g} ({corrected[c, m, base]:.2g})" for c in names),
            f"{together[m, base][0]:+.3f}, {together[m, base][1]:.2g} ({of_all[m, base]:.2g})",
        ]
        for m in methods
        for base in (FIRST, TUNED)
    ]
    recall = ", ".join(f"{c} {found[c]['means'][FIRST][2]:.3f}" for c in names)
    words = f'Rows "without" some features are of {ABLATED}, and have no BM25 at other settings.'
    left_out = f"{words}\n\n" if any(row.startswith("without") for row in rows) else ""
    shares = ", ".join(f"{c} {found[c]['share']:.2f}" for c in names)
    heads = [f"{c}, {found[c]['queries']} queries" for c in names]
    return f"""# What learning adds to BM25

How much better than BM25 is a ranking that has learned from judgments of some queries, and on which collections is that
proved?

{measured("python -m benchmarks.search FOLDER -o docs/benchmarks/search.md")}

Classical test collections, which are not shipped: the folder has one of each, with `documents.jsonl`, `queries.jsonl`
and `qrels.txt`. Five folds by query, three splits of the queries, averaged; the 100 best of BM25 as tuned on the
training folds are re-ranked, and its score is a feature. Figures are NDCG@10 with linear gain / MAP, against all
judgments. `shrunk` is what `podium train` learns by default. Recall of the candidates: {recall}. Mean learned share of
shrunk: {shares}.

{markdown_table(["", *heads], means)}
{left_out}p-values of NDCG@10 by a paired randomisation test over queries; in brackets after Holm over all of them. The
last column has the mean difference over all queries of all collections together.

{markdown_table(["", "against", *names, "together"], tests)}
"""


if __name__ == "__main__":
    main()
