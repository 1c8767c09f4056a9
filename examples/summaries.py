"""Query-dependent summaries (Metzler and Kanungo, 2008): rank the sentences of a document for a query.

    python examples/summaries.py
    python examples/summaries.py train.csv valid.csv test.csv

data      queries with sentences that are relevant or not: synthetic documents, or files of question,label,sentence
features  the query as a phrase, share of its words, length, |length − 20|, position in the document, BM25, query
          likelihood, narrowness of the window that holds the matches
methods   GBRank, regression and Ranking SVM compared with BM25; the last lines show snippets chosen by the model

Sentences in files are in no document, and relevant ones may come first there: their position is then not a feature.
"""

from __future__ import annotations

import argparse
import csv
import math
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from common import print_table
from numpy.typing import NDArray

from podium.data import Dataset
from podium.evaluation.evaluate import evaluate
from podium.model import Model
from podium.text import Analyser, Index, snippet
from podium.training import train

NAMES = ("exact", "covered_ratio", "length", "far_from_20", "bm25", "query_likelihood", "span", "place")
METHODS = ("gbrank", "regression", "ranking-svm")


@dataclass
class Question:
    """A query and the sentences of a document, in their order."""

    text: str
    sentences: list[str] = field(default_factory=list)
    labels: list[float] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", help="training, validation and test data; by default synthetic")
    parser.add_argument("--size", type=int, default=300, help="number of synthetic questions")
    options = parser.parse_args(arguments)
    if len(options.files) not in (0, 3):
        parser.error("three files are needed: training, validation and test data")
    synthetic = make_questions(options.size) if not options.files else []
    third = options.size // 3
    parts = [read_questions(path) for path in options.files] or [
        synthetic[k * third : (k + 1) * third] for k in range(3)
    ]
    unlabelled = [item for part in parts for question in part for item in question.sentences]  # without their labels
    sentences = Sentences(unlabelled, places=not options.files)
    training, valid, test = (sentences.dataset(part) for part in parts)
    models = {name: train(training, name, valid=valid, metric="map") for name in METHODS}
    scores = {"bm25": test.features[:, NAMES.index("bm25")]} | {name: item.score(test) for name, item in models.items()}
    evaluated = {name: evaluate(test, item, ["map", "mrr"]).values for name, item in scores.items()}
    counts = f"{training.n_queries}, {valid.n_queries} and {test.n_queries}"
    print(f"{counts} questions; {test.sizes.mean():.1f} sentences each")
    by_metric = {m: {name: values[k] for name, values in evaluated.items()} for k, m in enumerate(("MAP", "MRR"))}
    print_table(by_metric, baseline="bm25")
    if synthetic:
        show_snippets(synthetic[2 * third :], sentences, models["gbrank"])


class Sentences:
    """Features of sentences for a query; document frequencies of words are those of given sentences."""

    def __init__(self, sentences: Sequence[str], *, places: bool) -> None:
        self.analyser = Analyser()
        terms = [self.terms(words) for words in sentences]
        self.n = len(terms)
        self.df = Counter(term for words in terms for term in set(words))
        self.cf = Counter(term for words in terms for term in words)
        self.average = sum(self.cf.values()) / max(self.n, 1)
        self.names = NAMES if places else NAMES[:-1]

    def terms(self, text: str) -> list[str]:
        """Stemmed words without stop words."""
        analysed = (self.analyser.term(word) for word in self.analyser.words(text))
        return [term for term, flagged in analysed if not flagged]

    def features(self, query: str, sentences: Sequence[str]) -> NDArray[np.float32]:
        """One row per sentence."""  # (n, 7 or 8)
        wanted, phrase = self.terms(query), " ".join(self.analyser.words(query))
        rows = []
        for k, sentence in enumerate(sentences):
            words, terms = self.analyser.words(sentence), self.terms(sentence)
            count, distinct = Counter(terms), set(wanted)
            matched = sum(term in count for term in distinct)
            rows.append([
                float(f" {phrase} " in f" {' '.join(words)} "), matched / max(len(distinct), 1),
                len(words), abs(len(words) - 20), self.bm25(wanted, count, len(terms)),
                self.likelihood(wanted, count, len(terms)), span(distinct, terms), k / max(len(sentences) - 1, 1),
            ])  # fmt: skip
        return np.array(rows, np.float32)[:, : len(self.names)]

    def bm25(self, wanted: Sequence[str], count: Counter[str], length: int) -> float:
        norm = 1.2 * (0.25 + 0.75 * length / self.average)
        return sum(
            math.log1p((self.n - self.df[t] + 0.5) / (self.df[t] + 0.5)) * count[t] * 2.2 / (count[t] + norm)
            for t in wanted
        )

    def likelihood(self, wanted: Sequence[str], count: Counter[str], length: int, *, mu: float = 20.0) -> float:
        """Mean log-probability of the query's words, with Dirichlet's prior; mu is about a sentence."""
        total = self.cf.total()
        words = [t for t in wanted if self.cf[t]]
        logs = [math.log((count[t] + mu * self.cf[t] / total) / (length + mu)) for t in words]
        return sum(logs) / max(len(logs), 1)

    def dataset(self, questions: Sequence[Question]) -> Dataset:
        """Sentences of all questions that have relevant and other ones."""
        both = [
            (k, question) for k, question in enumerate(questions) if 0 < sum(question.labels) < len(question.labels)
        ]
        return Dataset.from_arrays(
            np.concatenate([self.features(question.text, question.sentences) for _, question in both]),
            [label for _, question in both for label in question.labels],
            qid=[f"q{k}" for k, question in both for _ in question.labels],
            feature_names=self.names,
        )


def span(wanted: set[str], terms: Sequence[str]) -> float:
    """Matched words over the length of the shortest window that holds them all."""
    present = wanted.intersection(terms)
    if not present:
        return 0.0
    inside: Counter[str] = Counter()
    best, start = len(terms), 0
    for end, term in enumerate(terms, 1):
        if term in present:
            inside[term] += 1
        while len(inside) == len(present):
            best = min(best, end - start)
            if terms[start] in present:
                inside[terms[start]] -= 1
                if not inside[terms[start]]:
                    del inside[terms[start]]
            start += 1
    return len(present) / best


def show_snippets(questions: Sequence[Question], sentences: Sentences, model: Model) -> None:
    """Print search results with snippets chosen by BM25 and by the model."""

    def rank(query: str, candidates: Sequence[str]) -> NDArray[np.float64]:
        return model.score(Dataset.from_arrays(sentences.features(query, candidates), feature_names=sentences.names))

    documents = [{"id": f"d{k}", "text": " ".join(question.sentences)} for k, question in enumerate(questions)]
    with tempfile.TemporaryDirectory() as folder:
        index = Index.create(Path(folder, "made.index"), documents)
        query = index.query(questions[0].text)
        document = index.document(index.search(query, 1).ids[0])
        print(f"\nquery: {query.text}")
        print("by BM25:  ", snippet(index, query, document, most=1).marked("[", "]"))
        print("by gbrank:", snippet(index, query, document, most=1, rank=rank).marked("[", "]"))
        index.close()


def read_questions(path: str) -> list[Question]:
    """Read questions from a CSV file with a header and question, label, sentence in its rows."""
    questions: dict[str, Question] = {}
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        for row in rows:
            if len(row) != 3 or row[1] not in ("0", "1"):
                raise SystemExit(f"{path}:{rows.line_num}: expected question, 0 or 1, sentence; got {row}")
            question = questions.setdefault(row[0], Question(row[0]))
            question.labels.append(float(row[1]))
            question.sentences.append(row[2])
    return list(questions.values())


def make_questions(n: int, *, seed: int = 0) -> list[Question]:
    """Synthetic documents of 12 sentences; relevant ones have more query words, about 20 words, are early."""
    rng = np.random.default_rng(seed)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words = ["".join(rng.choice(syllables, rng.integers(2, 4))) for _ in range(1500)]
    often = 1.0 / np.arange(1, 1501)
    questions = []
    for _ in range(n):
        asked = [str(word) for word in rng.choice(words[100:], 4, replace=False)]
        question = Question(" ".join(asked))
        for place in range(12):
            relevant = rng.random() < 0.45 * 0.85**place
            length = max(int(rng.normal(18, 4)) if relevant else int(rng.integers(4, 45)), 3)
            sentence = [str(word) for word in rng.choice(words, length, p=often / often.sum())]
            for word in asked:
                if rng.random() < (0.5 if relevant else 0.25):
                    sentence.insert(int(rng.integers(len(sentence))), word)
            question.sentences.append(" ".join(sentence).capitalize() + ".")
            question.labels.append(float(relevant))
        questions.append(question)
    return questions


if __name__ == "__main__":
    main()
