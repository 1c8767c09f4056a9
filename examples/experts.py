"""Expert search (Macdonald and Ounis, 2006): rank persons for a query by the documents that they wrote.

    python examples/experts.py
    python examples/experts.py FOLDER     with documents.jsonl (id, text, persons), queries.jsonl, qrels.txt (persons)

data      documents with their authors; a document that BM25 finds is a vote for each of them; synthetic by default:
          experts write few documents about their subject, others many that mention it
features  of each person and query: CombSUM (the sum of the scores of the person's documents), their best and mean
          score, their number, 1/(60 + rank) of the best, and log of how many documents the person wrote
methods   listnet and Ranking SVM on these features, compared with CombSUM, CombMNZ and the best document
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import held_out_scores, print_table

from podium.data import Dataset
from podium.evaluation.evaluate import evaluate
from podium.formats import read_qrels
from podium.formats.feature_rows import grades_of
from podium.text import Index, read_documents, read_queries

DEPTH = 200
NAMES = ("combsum", "best", "mean", "documents", "best_rank", "log_written")
METHODS = ("listnet", "ranking-svm")
Collection = tuple[list[dict[str, Any]], dict[str, str], dict[str, dict[str, float]]]
"""Documents, texts of queries by id, and grades of persons by query."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", help="a collection; by default synthetic")
    parser.add_argument("--size", type=int, default=60, help="number of synthetic queries")
    options = parser.parse_args(arguments)
    documents, queries, grades = read_collection(Path(options.folder)) if options.folder else make(options.size)
    data = dataset(documents, queries, grades)
    column = {name: data.features[:, k].astype(np.float64) for k, name in enumerate(NAMES)}
    scores = {
        "best document": column["best"],
        "combsum": column["combsum"],
        "combmnz": column["combsum"] * column["documents"],
    }
    scores |= {method: held_out_scores(data, method, metric="map") for method in METHODS}
    print(f"{len(documents)} documents, {data.n_queries} queries, {data.sizes.mean():.0f} persons a query")
    values = {name: evaluate(data, row, ["map", "p@5"]).values for name, row in scores.items()}
    print_table(
        {m: {name: rows[k] for name, rows in values.items()} for k, m in enumerate(("MAP", "P@5"))}, baseline="combsum"
    )


def dataset(
    documents: Sequence[Mapping[str, Any]], queries: Mapping[str, str], grades: Mapping[str, Mapping[str, float]]
) -> Dataset:
    """Dataset of the authors of the documents that BM25 finds for each query."""
    authors = {str(document["id"]): [str(person) for person in document["persons"]] for document in documents}
    written = Counter(person for persons in authors.values() for person in persons)
    X, labels, qid, ids = [], [], [], []
    with tempfile.TemporaryDirectory() as work:
        index = Index.create(Path(work, "texts.index"), [{"id": d["id"], "text": d["text"]} for d in documents])
        for query, text in queries.items():
            hits = index.search(text, DEPTH)
            votes: dict[str, list[tuple[float, int]]] = {}
            for rank, (document, score) in enumerate(zip(hits.ids, hits.scores.tolist(), strict=True), 1):
                for person in authors[document]:
                    votes.setdefault(person, []).append((score, rank))
            for person in sorted(votes):
                of_person = np.array([score for score, _ in votes[person]])
                best_rank = 1 / (60 + votes[person][0][1])
                row = [of_person.sum(), of_person.max(), of_person.mean(), len(of_person), best_rank]
                X.append([*row, np.log(written[person])])
                labels.append(grades.get(query, {}).get(person, 0.0))
                qid.append(query)
                ids.append(person)
        index.close()
    return Dataset.from_arrays(np.array(X), labels, qid=qid, document_ids=ids, feature_names=NAMES).grouped()


def read_collection(folder: Path) -> Collection:
    """Documents with their persons, queries, and judgments of persons."""
    documents = list(read_documents(folder / "documents.jsonl"))
    queries = {topic.id: topic.text for topic in read_queries(folder / "queries.jsonl")}
    return documents, queries, grades_of(read_qrels(folder / "qrels.txt"))


def make(n: int, *, persons: int = 80, seed: int = 0) -> Collection:
    """Synthetic documents: each query is a subject with a few experts, whose texts are full of its words."""
    rng = np.random.default_rng(seed)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words = np.array(sorted({"".join(rng.choice(syllables, 3)) for _ in range(3000)}))
    subjects = [rng.choice(words, 12, replace=False) for _ in range(n)]
    experts = [rng.choice(persons, rng.integers(2, 6), replace=False) for _ in range(n)]
    busy = rng.lognormal(0.0, 1.0, persons)
    busy /= busy.sum()
    documents: list[dict[str, Any]] = []

    def write(person: int, subject: int, share: float) -> None:
        about = rng.random(60) < share
        text = np.where(about, rng.choice(subjects[subject], 60), rng.choice(words, 60))
        documents.append({"id": f"d{len(documents)}", "text": " ".join(text), "persons": [f"p{person}"]})

    for subject in range(n):
        for person in experts[subject]:
            for _ in range(rng.integers(1, 5)):
                write(int(person), subject, 0.35 + 0.25 * rng.random())
        for _ in range(60):  # mentions, mostly by those who write much
            write(int(rng.choice(persons, p=busy)), subject, 0.25 * rng.random())
    queries = {f"q{s}": " ".join(rng.choice(subjects[s], 3, replace=False)) for s in range(n)}
    return documents, queries, {f"q{s}": {f"p{p}": 1.0 for p in experts[s]} for s in range(n)}


if __name__ == "__main__":
    main()
