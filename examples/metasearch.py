"""Meta-search (rank fusion): one ranking from the rankings of several systems, by voting and by learning.

    python examples/metasearch.py
    python examples/metasearch.py FOLDER     with documents.jsonl, queries.jsonl and qrels.txt

data      the docstrings of Python's standard library, whose first lines are the queries, or a custom collection;
          the systems search one index by BM25 with two sets of parameters, by query likelihood, and in each field alone
features  of each document and system: 1/(60 + rank), the score in standard deviations, whether it was found
methods   listnet and Ranking SVM on these features, compared with Borda count, reciprocal rank fusion, CombMNZ and the
          Markov chain MC4, which learn nothing, and with the single systems
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from common import held_out_scores, print_table

from podium.aggregation import Rankings, aggregate
from podium.data import Dataset
from podium.evaluation.evaluate import evaluate_run
from podium.formats import Qrels, Run, read_qrels
from podium.formats.feature_rows import grades_of
from podium.text import Index, read_documents, read_queries
from podium.text.collection.collection import Topic
from podium.text.collection.standard_library import standard_library

DEPTH = 50
VOTES = ("borda", "rrf", "combmnz", "mc4")
METHODS = ("listnet", "ranking-svm")
Hits = Mapping[str, Mapping[str, Mapping[str, float]]]
"""By system, query and document: the score."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", help="a collection; by default the docstrings of the standard library")
    parser.add_argument("--size", type=int, default=300, help="number of queries of the standard library")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as work:
        index, topics, grades = collection(Path(work), options.folder, options.size)
        hits = search(index, topics)
        index.close()
    first = next(iter(hits))
    runs = {name: Run.from_dict(values) for name, values in hits.items()}
    votes = rankings(hits)
    runs |= {name: aggregate(votes, name).run() for name in VOTES}
    data = dataset(hits, grades)
    runs |= {name: Run.from_scores(data, held_out_scores(data, name, metric="map")) for name in METHODS}
    qrels = Qrels.from_dict(grades)
    values = {name: evaluate_run(qrels, run, ["map", "ndcg@10"], all_queries=True).values for name, run in runs.items()}
    print(f"{len(grades)} queries, {len(hits)} systems, {data.sizes.mean():.0f} documents a query")
    measures = ("MAP", "NDCG@10")
    for baseline in (first, "combmnz"):
        print_table(
            {m: {name: rows[k] for name, rows in values.items()} for k, m in enumerate(measures)}, baseline=baseline
        )


def collection(work: Path, folder: str | None, size: int) -> tuple[Index, list[Topic], dict[str, dict[str, float]]]:
    """Index, queries that have a relevant document, and all judgments of these."""
    if folder is not None:
        documents = list(read_documents(Path(folder, "documents.jsonl")))
        topics, grades = read_queries(Path(folder, "queries.jsonl")), grades_of(read_qrels(Path(folder, "qrels.txt")))
    else:
        documents, queries, grades = standard_library()
        chosen = np.random.default_rng(0).permutation(len(queries))[:size]
        topics = [Topic(queries[k]["id"], queries[k]["text"]) for k in chosen]
    texts = [{key: document[key] for key in ("id", "title", "text") if document.get(key)} for document in documents]
    index = Index.create(work / "made.index", texts)
    topics = [topic for topic in topics if any(grade > 0 for grade in grades.get(topic.id, {}).values())]
    return index, topics, {topic.id: grades[topic.id] for topic in topics}


def search(index: Index, topics: Sequence[Topic]) -> dict[str, dict[str, dict[str, float]]]:
    """Run of each system for all queries."""
    fields = index.fields if len(index.fields) > 1 else ()
    systems = ["bm25", "bm25(k1=0.6,b=0.3)", "ql(mu=500)", *(f"bm25(fields=[{field}])" for field in fields)]
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for system in systems:
        for topic in topics:
            hits = index.search(topic.text, DEPTH, by=system)
            runs.setdefault(system, {})[topic.id] = dict(zip(hits.ids, hits.scores.tolist(), strict=True))
    return runs


def rankings(hits: Hits) -> Rankings:
    """Rankings with the systems as voters."""
    entries = [
        (query, system, document, score)
        for system, queries in hits.items()
        for query, documents in queries.items()
        for document, score in documents.items()
    ]
    queries, systems, documents, scores = zip(*entries, strict=True)
    return Rankings.from_entries(queries, systems, documents, scores=scores)


def dataset(hits: Hits, grades: Mapping[str, Mapping[str, float]]) -> Dataset:
    """Dataset of the documents that a system found, with three features for each system."""
    X, labels, qid, ids = [], [], [], []
    for query, judged in grades.items():
        lists = [queries[query] for queries in hits.values()]
        documents = sorted({document for listed in lists for document in listed})
        columns = []
        for listed in lists:
            rank = {document: k for k, document in enumerate(sorted(listed, key=lambda d, s=listed: (-s[d], d)), 1)}
            scores = np.array([*listed.values()] or [0.0])
            middle, spread = scores.mean(), scores.std() or 1.0
            lowest = scores.min()
            columns += [
                [1 / (60 + rank[d]) if d in listed else 0.0 for d in documents],
                [(listed.get(d, lowest) - middle) / spread for d in documents],
                [float(d in listed) for d in documents],
            ]
        X.append(np.array(columns).T)
        labels += [judged.get(document, 0.0) for document in documents]
        qid += [query] * len(documents)
        ids += documents
    names = [f"{part} of {system}" for system in hits for part in ("rank", "score", "found")]
    return Dataset.from_arrays(np.concatenate(X), labels, qid=qid, document_ids=ids, feature_names=names)


if __name__ == "__main__":
    main()
