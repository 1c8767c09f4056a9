"""Re-ranking of translations (Shen, Sarkar and Och, 2004): choose better than the decoder among its n best.

    python examples/translation_reranking.py
    python examples/translation_reranking.py lists.nbest reference.txt [reference2.txt …]

data      an n-best list for each sentence, as Moses writes it, and references; by default synthetic
features  the decoder's scores; length relative to the list's mean; words and pairs of words shared with the list
labels    the tenth of the list that a translation is in by its BLEU (sentence level, smoothed)
methods   Splitting, PRank and Ranking SVM, compared with the decoder's first and the best of each list (oracle)
"""

from __future__ import annotations

import argparse
import itertools
import math
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import held_out_scores, print_table
from numpy.typing import NDArray

from podium.data import Dataset
from podium.formats import read_nbest
from podium.formats.bleu import corpus_bleu, count
from podium.formats.nbest import read_references

METHODS = ("splitting", "prank", "ranking-svm")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", help="an n-best list, then files of references; by default synthetic")
    parser.add_argument("--size", type=int, default=200, help="number of synthetic sentences")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        files = options.files or make_lists(Path(folder), options.size)
        if len(files) < 2:
            parser.error("an n-best list needs at least one file of references")
        data, references = read_nbest(files[0], references=files[1:]), read_references(files[1:])
    data = with_list_features(data)
    assert data.labels is not None
    assert data.query_ids is not None
    assert data.comments is not None
    bleu = data.labels
    graded = replace(data, labels=tenths(bleu, data.offsets))
    scores = {"decoder's first": data.features[:, list(data.feature_names or ()).index("score")], "oracle": bleu}
    scores |= {name: held_out_scores(graded, name, metric="ndcg@1") for name in METHODS}
    print(f"{data.n_queries} sentences, {data.n_documents} translations, {data.n_features} features")
    chosen = {name: first_of_each(values, data.offsets) for name, values in scores.items()}
    for baseline in ("decoder's first", "ranking-svm"):
        print_table({"BLEU+1": {name: bleu[rows] for name, rows in chosen.items()}}, baseline=baseline)
    for name, rows in chosen.items():
        texts = zip(data.query_ids, data.comments[rows], strict=True)
        whole = corpus_bleu(count(text, references[int(sentence)]) for sentence, text in texts)
        print(f"BLEU of the whole text, {name}: {whole:.4f}")


def first_of_each(scores: NDArray[np.floating], offsets: NDArray[np.int64]) -> list[int]:
    """Row with the highest score of each list; ties go to the first."""
    return [int(a + np.argmax(scores[a:b])) for a, b in itertools.pairwise(offsets)]


def tenths(bleu: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """9 for the best tenth of each list, 0 for the worst; equal BLEU is equal."""
    grades = np.zeros(len(bleu))
    for a, b in itertools.pairwise(offsets):
        below = np.searchsorted(np.sort(bleu[a:b]), bleu[a:b], side="left")
        grades[a:b] = np.minimum(10 * below // (b - a), 9)
    return grades


def with_list_features(data: Dataset) -> Dataset:
    """Add features of words that a translation shares with the rest of its list."""
    assert data.comments is not None
    added = np.empty((data.n_documents, 3), np.float32)
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        words = [text.split() for text in data.comments[a:b]]
        pairs = [list(itertools.pairwise(grams)) for grams in words]
        length = np.array([len(grams) for grams in words])
        added[a:b, 0] = length / max(length.mean(), 1.0)
        for column, kind in ((1, words), (2, pairs)):
            lists_with = Counter(gram for grams in kind for gram in set(grams))
            added[a:b, column] = [np.mean([lists_with[gram] for gram in grams] or [0.0]) / (b - a) for grams in kind]
    names = (*(data.feature_names or ()), "length_ratio", "shared_words", "shared_pairs")
    return data.with_features(np.hstack([data.features, added]), names)


def make_lists(folder: Path, sentences: int, *, size: int = 50, seed: int = 0) -> list[str]:
    """Synthetic n-best list and its references.

    Sentences come from a random bigram grammar. A translation is the reference with words replaced, dropped and
    swapped; half of the words have a fluent wrong translation that most of the list shares. LM0 is the grammar's
    log-probability; TM0 and Distortion0 are counts of errors, with much noise; the total weighs them badly.
    """
    rng = np.random.default_rng(seed)
    grammar = rng.dirichlet(np.full(200, 0.1), size=200)
    lines, references = [], []
    for sentence in range(sentences):
        reference = [int(rng.integers(200))]
        for _ in range(rng.integers(8, 25)):
            reference.append(int(rng.choice(200, p=grammar[reference[-1]])))
        before = [reference[0], *reference[:-1]]
        wrong = [
            int(rng.choice(200, p=grammar[b])) if rng.random() < 0.5 else w
            for b, w in zip(before, reference, strict=True)
        ]
        translations = [_translation(reference, wrong, grammar, rng) for _ in range(size)]
        references.append(" ".join(f"w{word}" for word in reference))
        for words, values, total in sorted(translations, key=lambda translation: -translation[-1]):
            text = " ".join(f"w{word}" for word in words)
            features = "LM0= {:.4f} TM0= {:.4f} {:.4f} Distortion0= {:.4f} WordPenalty0= {}".format(
                *values, -len(words)
            )
            lines.append(f"{sentence} ||| {text} ||| {features} ||| {total:.4f}")
    (folder / "lists.nbest").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "reference.txt").write_text("\n".join(references) + "\n", encoding="utf-8")
    return [str(folder / "lists.nbest"), str(folder / "reference.txt")]


def _translation(
    reference: list[int], wrong: list[int], grammar: NDArray[np.float64], rng: np.random.Generator
) -> tuple[list[int], list[float], float]:
    """Words; language model, translation model (two numbers) and distortion; total."""
    rate, words, errors = rng.uniform(0.1, 0.5), list[int](), [0, 0, 0]
    for right, alternative in zip(reference, wrong, strict=True):
        word = alternative if rng.random() < 0.6 else right
        kind = int(rng.integers(3)) if rng.random() < rate else -1
        if kind != 1:  # 0 replaces the word, 1 drops it, 2 swaps it with the one before
            words.append(int(rng.integers(200)) if kind == 0 else word)
        if kind == 2 and len(words) > 1:
            words[-2:] = words[-1], words[-2]
        for error in {kind, 0 if word != right else -1} - {-1}:
            errors[error] += 1
    lm = sum(math.log(0.9 * grammar[a, b] + 0.1 / 200) for a, b in itertools.pairwise(words))
    noisy = [-n + 2 * rng.normal() for n in errors]
    return words, [lm, *noisy], 0.05 * lm + noisy[0] + 0.2 * noisy[1] + 2 * noisy[2]


if __name__ == "__main__":
    main()
