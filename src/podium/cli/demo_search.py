"""`podium demo search`: index the documentation of Python, learn to search it, and say what to try next."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from podium.base.errors import counted
from podium.base.progress import tracked
from podium.cli import console, progress

METHODS = ("listnet", "lambdamart")
_FOLDS = 3
_QUERIES = 450
"""Number of queries for training and testing, so that the demo takes a minute."""


def demo_search(output: str, *, seed: int) -> None:
    """Index, search, learn and compare."""
    import numpy as np

    from podium.base.files import write_texts
    from podium.evaluation.report_texts import leaders, summary
    from podium.evaluation.search.compare_search import compare_search
    from podium.pages.report import write_report
    from podium.pages.report_names import names_of
    from podium.text.collection.collection import Topic
    from podium.text.collection.standard_library import standard_library
    from podium.text.index.index import Index

    console.check_output(output)
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    documents, queries, qrels = standard_library()
    chosen = np.sort(np.random.default_rng(seed).permutation(len(queries))[:_QUERIES]).tolist()
    queries = [queries[k] for k in chosen]
    lines = "".join(json.dumps(query) + "\n" for query in queries)
    judged = "".join(f"{query['id']} 0 {id} 1\n" for query in queries for id in qrels[query["id"]])
    write_texts(folder, {"queries.jsonl": lines, "qrels.txt": judged})
    for old in ("docs.index", "docs.index-wal", "docs.index-shm"):
        (folder / old).unlink(missing_ok=True)
    topics = [Topic(query["id"], query["text"]) for query in queries]
    with progress.progress_bar(3 + _FOLDS * len(METHODS)) as bar, console.printed_warnings():
        report = bar.progress()
        index = Index.create(folder / "docs.index", tracked(documents, report, "index"))
        comparison = compare_search(
            index, topics, qrels, METHODS, metrics=("mrr", "ndcg@10", "recall@100"), folds=_FOLDS, seeds=(seed,),
            tune_by="mrr", progress=report,
        )  # fmt: skip
    best = next(name for name in comparison.ranking() if name in METHODS)
    model = comparison.runs(best)[0].model
    assert model is not None, "it was trained just now"
    model.save(folder / "model.podium")
    write_report(comparison, folder, names=names_of(comparison, topics, index))
    index.close()
    console.out(
        f"{counted(len(documents), 'document')}: the docstrings of Python's standard library. "
        f"{counted(len(queries), 'query', 'queries')}: first lines of docstrings, taken out of the documents."
    )
    console.print_table(*summary(comparison))
    verdict = leaders(comparison)
    if verdict is not None:
        console.out(f"{verdict[0].upper()}{verdict[1:]}.")
    _next(output)


def _next(output: str) -> None:
    at = shlex.quote(output)
    console.out(f"""
Index, queries, judgments and model are in {output}; {output}/report.html shows the comparison. Try next:

  podium search {at}/docs.index 'read a file line by line'
  podium search {at}/docs.index 'read a file line by line' --model {at}/model.podium --explain -k 3
  podium features {at}/docs.index {at}/queries.jsonl {at}/qrels.txt -o {at}/train.txt
  podium train {at}/train.txt --method lambdarank -o {at}/other.podium
  podium search {at}/docs.index --queries {at}/queries.jsonl --model {at}/other.podium --run {at}/run.txt
  podium index README.md docs -o {at}/mine.index""")
