"""Keyphrase extraction (Jiang, Hu and Li, 2009): rank the phrases of a document, and keep the first ten.

    python examples/keyphrases.py
    python examples/keyphrases.py Inspec.zip

data      documents with their keyphrases: synthetic abstracts, or a zip of docsutf8/NAME.txt and keys/NAME.key
objects   runs of one to four words without punctuation or function words, stemmed
labels    1 if it is a keyphrase of the author, 0 otherwise
features  frequency, idf, their product, first and last position, spread, words, share of the frequency, longer
          candidates that hold it, mean frequency of its words, log of its letters
methods   Ranking SVM compared with tf·idf and with regression, which classifies one phrase at a time; keyphrases that
          are no candidates count as missed
"""

from __future__ import annotations

import argparse
import math
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from common import held_out_scores, print_table
from numpy.typing import NDArray

from podium.data import Dataset
from podium.evaluation.evaluate import evaluate_run
from podium.formats import Run
from podium.text import Analyser

NAMES = (
    "tf", "idf", "tfidf", "first", "last", "spread", "words", "tf_share", "longer", "mean_word_tf", "log_letters",
)  # fmt: skip
OTHER_STOP_WORDS = """
about above after again all also although am among any both can cannot could did do does during each either few first
from further had has have having he her here his how however i its itself many may might more most much must neither
new non nor only other our over own paper per present proposed same several shall she should show shown since so some
such than them themselves therefore those through thus too two under until up upon use used using very via we were what
when where whether which while who whose why within without would you your
"""
FUNCTION_WORDS = frozenset(OTHER_STOP_WORDS.split())
LONGEST = 4
METHODS = ("regression", "ranking-svm")


@dataclass
class Text:
    """A document and the keyphrases of its author."""

    id: str
    text: str
    keys: list[str]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("archive", nargs="?", help="a zip of docsutf8/*.txt and keys/*.key; by default synthetic")
    parser.add_argument("--size", type=int, default=150, help="number of synthetic abstracts")
    options = parser.parse_args(arguments)
    texts = read_archive(options.archive) if options.archive else make_texts(options.size)
    data, keys = dataset(texts)
    assert data.labels is not None
    share = data.labels.sum() / sum(len(values) for values in keys.values())
    print(
        f"{data.n_queries} documents, {data.sizes.mean():.0f} candidates each, which hold {share:.0%} of the keyphrases"
    )
    scores = {"tf·idf": data.features[:, NAMES.index("tfidf")]}
    scores |= {name: held_out_scores(data, name, metric="map") for name in METHODS}
    runs = {name: Run.from_scores(data, values) for name, values in scores.items()}
    first = {name: evaluate_run(keys, run, "f@10").values[0] for name, run in runs.items()}
    whole = {name: evaluate_run(keys, run, "map").values[0] for name, run in runs.items()}
    for baseline in ("tf·idf", "regression"):
        print_table({"F1@10": first, "MAP": whole}, baseline=baseline)


def dataset(texts: Sequence[Text]) -> tuple[Dataset, dict[str, dict[str, float]]]:
    """Candidates of all documents with their features, and the stemmed keyphrases of each document."""
    analyser = Analyser()
    candidates = {text.id: Candidates(text.text, analyser) for text in texts}
    candidates = {id: phrases for id, phrases in candidates.items() if phrases.places}
    df = Counter(phrase for phrases in candidates.values() for phrase in phrases.places)
    keys = {
        text.id: {stemmed: 1.0 for key in text.keys if (stemmed := " ".join(stems(key, analyser)))}
        for text in texts
        if text.id in candidates
    }
    keys = {id: phrases for id, phrases in keys.items() if phrases}
    rows = [(id, phrase) for id in keys for phrase in candidates[id].places]
    data = Dataset.from_arrays(
        np.concatenate([candidates[id].features(df, len(candidates)) for id in keys]),
        [float(phrase in keys[id]) for id, phrase in rows],
        qid=[id for id, _ in rows],
        document_ids=[phrase for _, phrase in rows],
        feature_names=NAMES,
    )
    return data, keys


def stems(text: str, analyser: Analyser) -> list[str]:
    return [analyser.term(word)[0] for word in analyser.words(text)]


class Candidates:
    """Phrases of a text, with their positions."""

    def __init__(self, text: str, analyser: Analyser) -> None:
        self.places: dict[str, list[int]] = {}
        self.words: Counter[str] = Counter()
        at = 0
        for run in runs_of_words(text, analyser):
            terms = [analyser.term(word) for word in run]
            usable = [
                not flagged and word not in FUNCTION_WORDS and not word.isdigit()
                for word, (_, flagged) in zip(run, terms, strict=True)
            ]
            for a in range(len(run)):
                for b in range(a + 1, min(a + LONGEST, len(run)) + 1):
                    if not usable[b - 1]:
                        break
                    self.places.setdefault(" ".join(term for term, _ in terms[a:b]), []).append(at + a)
            self.words.update(term for (term, _), good in zip(terms, usable, strict=True) if good)
            at += len(run)
        self.length = max(at, 1)

    def features(self, df: Counter[str], documents: int) -> NDArray[np.float64]:
        """One row per phrase."""  # (n, 11)
        total = sum(map(len, self.places.values()))
        inside = Counter(part for phrase in self.places for part in parts_of(phrase))
        rows = []
        for phrase, places in self.places.items():
            tf, words = len(places), phrase.split()
            idf = math.log(documents / df[phrase])
            first, last = places[0] / self.length, places[-1] / self.length
            rows.append([
                tf, idf, tf * idf, first, last, last - first, len(words), tf / total, inside[phrase],
                np.mean([self.words[word] for word in words]), math.log(len(phrase)),
            ])  # fmt: skip
        return np.array(rows)


def parts_of(phrase: str) -> Iterator[str]:
    """The shorter phrases within a phrase."""
    words = phrase.split()
    for a in range(len(words)):
        for b in range(a + 1, len(words) + 1):
            if b - a < len(words):
                yield " ".join(words[a:b])


def runs_of_words(text: str, analyser: Analyser) -> list[list[str]]:
    """Words between two marks of punctuation; a line that is not indented begins a new run."""
    parts = re.split(r"[.,;:!?()\[\]{}\"“”]+|\n(?!\s)", text.replace("\r", ""))
    return [words for part in parts if (words := analyser.words(part))]


def read_archive(path: str) -> list[Text]:
    """Read documents and keys from a zip, as github.com/LIAAD/KeywordExtractor-Datasets packs them."""
    with zipfile.ZipFile(path) as archive:
        names = {name.rsplit("/", 1)[-1]: name for name in archive.namelist()}
        texts = []
        for short, name in sorted(names.items()):
            key = names.get(short.removesuffix(".txt") + ".key")
            if "docsutf8/" in name and short.endswith(".txt") and key is not None:
                keys = archive.read(key).decode("utf-8", "replace").splitlines()
                text = archive.read(name).decode("utf-8", "replace")
                texts.append(Text(short.removesuffix(".txt"), text, [key.strip() for key in keys if key.strip()]))
    if not texts:
        raise SystemExit(f"{path}: no docsutf8/*.txt with keys/*.key of the same name")
    return texts


def make_texts(n: int, *, seed: int = 0) -> list[Text]:
    """Synthetic abstracts of invented words. Keyphrases come early and come back; other phrases are common jargon."""
    rng = np.random.default_rng(seed)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words = ["".join(rng.choice(syllables, rng.integers(2, 5))) for _ in range(3000)]
    often = 1.0 / np.arange(1, 3001)
    trade = [" ".join(rng.choice(words[:300], 2)) for _ in range(60)]  # in many documents, keyphrases of none
    texts = []
    for k in range(n):
        keys = [" ".join(rng.choice(words, rng.integers(1, 4))) for _ in range(8)]
        sentences = []
        for s in range(rng.integers(6, 10)):
            parts = list(rng.choice(words, rng.integers(8, 16), p=often / often.sum()))
            for phrase in rng.choice(keys, rng.poisson(2.0 if s < 2 else 0.8)):
                parts.insert(int(rng.integers(len(parts))), f"of {phrase} by")
            for phrase in rng.choice(trade, rng.poisson(1.0)):
                parts.insert(int(rng.integers(len(parts))), f"of {phrase} by")
            sentences.append(" ".join(parts))
        texts.append(Text(f"d{k}", ". ".join(sentences) + ".", keys))
    return texts


if __name__ == "__main__":
    main()
