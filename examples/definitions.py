"""Definition search (Xu, Cao, Li and Zhao, 2005): rank paragraphs by how well they define a term.

    python examples/definitions.py
    python examples/definitions.py paragraphs.jsonl       a line: {"term": …, "text": …, "grade": 0, 1 or 2}

data      terms with paragraphs that mention them, graded good (2), indifferent (1) or bad (0) as a definition
features  term at the start, determiner before it, which pattern ("X is a", "X is the", "X, a"), mentions, personal
          pronouns and said, length of sentence and paragraph, BM25 of the term, idf of each of the 30 commonest words
methods   Ranking SVM compared with BM25 and with the first paragraph that matches a pattern
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from common import held_out_scores, print_table

from podium.data import Dataset
from podium.evaluation.evaluate import evaluate
from podium.text import Analyser
from podium.text.snippets import sentences

NAMES = (
    "at_start", "determiner", "is_a", "is_the", "comma_a", "mentions", "pronouns", "sentence_words", "words", "bm25",
)  # fmt: skip
PRONOUNS = frozenset(["she", "he", "said", "i", "we"])


@dataclass(frozen=True)
class Paragraph:
    """A paragraph that mentions a term, and its grade as a definition."""

    term: str
    text: str
    grade: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", nargs="?", help="JSON lines of term, text and grade; by default synthetic")
    parser.add_argument("--size", type=int, default=150, help="number of synthetic terms")
    options = parser.parse_args(arguments)
    paragraphs = read_paragraphs(options.file) if options.file else make_paragraphs(options.size)
    data = dataset(paragraphs)
    column = {name: data.features[:, k].astype(np.float64) for k, name in enumerate(data.feature_names or ())}
    pattern = column["at_start"] * (3 * column["is_a"] + 2 * column["is_the"] + column["comma_a"])
    scores = {
        "bm25": column["bm25"],
        "first pattern": pattern,  # paragraphs of the same pattern are tied
        "ranking-svm": held_out_scores(data, "ranking-svm"),
    }
    print(f"{data.n_queries} terms, {data.sizes.mean():.1f} paragraphs each, {data.n_features} features")
    chosen = {name: evaluate(data, values, ["map(rel=2)", "p(rel=2)@1"]).values for name, values in scores.items()}
    by_metric = {m: {name: values[k] for name, values in chosen.items()} for k, m in enumerate(("MAP", "P@1"))}
    for baseline in ("bm25", "first pattern"):
        print_table(by_metric, baseline=baseline)


def dataset(paragraphs: Sequence[Paragraph], idf: Mapping[str, float] | None = None) -> Dataset:
    """Dataset of the paragraphs of each term; `idf` are the words that count as features, by default the commonest."""
    analyser = Analyser()
    words = [analyser.words(paragraph.text) for paragraph in paragraphs]
    df = Counter(word for paragraph in words for word in set(paragraph))
    common = common_words(paragraphs) if idf is None else idf
    average = sum(map(len, words)) / len(words)
    rows = []
    for paragraph, stems in zip(paragraphs, words, strict=True):
        bag = [value * (word in stems) for word, value in common.items()]
        rows.append([*features(paragraph, stems, df=df, n=len(words), average=average, analyser=analyser), *bag])
    return Dataset.from_arrays(
        np.array(rows),
        [paragraph.grade for paragraph in paragraphs],
        qid=[paragraph.term for paragraph in paragraphs],
        feature_names=[*NAMES, *(f"has_{word}" for word in common)],
    ).grouped()


def common_words(paragraphs: Sequence[Paragraph], count: int = 30) -> dict[str, float]:
    """The idf of the words in most of the paragraphs."""
    df = Counter(word for paragraph in paragraphs for word in set(Analyser().words(paragraph.text)))
    return {word: math.log(len(paragraphs) / many) for word, many in df.most_common(count)}


def features(
    paragraph: Paragraph, words: list[str], *, df: Counter[str], n: int, average: float, analyser: Analyser
) -> list[float]:
    """Features, in the order of NAMES."""
    term, text = re.escape(paragraph.term.lower()), " ".join(paragraph.text.lower().split())
    start = re.match(rf"(the |an? )?{term}\b", text)
    first = (sentences(paragraph.text) or [""])[0].lower()
    norm = 1.2 * (0.25 + 0.75 * len(words) / average)
    bm25 = 0.0
    for word in analyser.words(paragraph.term):
        tf = words.count(word)
        bm25 += math.log1p((n - df[word] + 0.5) / (df[word] + 0.5)) * tf * 2.2 / (tf + norm)
    return [
        float(start is not None), float(start is not None and start[1] is not None),
        float(re.search(rf"\b{term} (is|are) an? ", first) is not None),
        float(re.search(rf"\b{term} (is|are) the ", first) is not None),
        float(re.search(rf"\b{term}, (an?|the) ", first) is not None),
        len(re.findall(rf"\b{term}\b", text)), sum(word in PRONOUNS for word in words),
        len(analyser.words(first)), len(words), bm25,
    ]  # fmt: skip


def read_paragraphs(path: str) -> list[Paragraph]:
    """Read paragraphs from a file of JSON lines."""
    paragraphs = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                fields = json.loads(line)
                paragraphs.append(Paragraph(str(fields["term"]), str(fields["text"]), float(fields["grade"])))
            except (ValueError, KeyError, TypeError) as error:
                raise SystemExit(f"{path}:{number}: expected term, text and grade ({error!r})") from None
    return paragraphs


GOOD = (
    "{X} is a {noun} that {rest}.", "{X} is an {adj} {noun} used to {rest}.", "A {X} is a {noun} of {rest}.",
    "In {field}, {X} is a {noun} that {rest}.", "{X} is the {noun} by which {rest}.", "{X}, a {adj} {noun}, {rest}.",
)  # fmt: skip
FAIR = (
    "{X}, the {adj} one, {rest}.", "{X} is the {noun} we saw when {rest}.", "The {noun} of {X} is {adj}: {rest}.",
    "One kind of {noun} is {X}, which {rest}.",
)  # fmt: skip
BAD = (
    "{X} is a mess, he said, and {rest}.", "I think {X} is the {adj} thing we {rest}.", "{X} is a lot to ask, {rest}.",
    "Is {X} a {noun}? She said {X} and {X} {rest}.", "We wrote about {X} when {rest}.", "{X} or no {X}, {rest}.",
    "{X} is a long way from {rest}.", "The {X} that I know, {rest}.",
)  # fmt: skip


def make_paragraphs(n: int, *, seed: int = 0) -> list[Paragraph]:
    """Synthetic paragraphs of sentence patterns and invented words; bad ones repeat the term more than good ones."""
    rng = np.random.default_rng(seed)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words = ["".join(rng.choice(syllables, rng.integers(2, 5))) for _ in range(800)]
    often = 1.0 / np.arange(1, 801)
    often /= often.sum()

    def some(low: int, high: int) -> str:
        return " ".join(rng.choice(words, rng.integers(low, high), p=often))

    paragraphs = []
    for k in range(n):
        term = f"{rng.choice(syllables)}{rng.choice(syllables)}{k}"
        for grade, patterns, share in ((2, GOOD, 0.15), (1, FAIR, 0.3), (0, BAD, 0.55)):
            for _ in range(max(rng.poisson(20 * share), 1)):
                text = str(rng.choice(patterns)).format(
                    X=term, noun=some(1, 2), adj=some(1, 2), field=some(1, 2), rest=some(5, 18)
                )
                for _ in range(rng.poisson(2 if grade else 1)):
                    mention = term if rng.random() < (0.3 if grade else 0.6) else some(1, 2)
                    personal = str(rng.choice(["we", "he", "i", "she"])) + " " if rng.random() < 0.25 else ""
                    text += f" {personal}{some(3, 9)} {mention} {some(3, 9)}.".capitalize()
                noisy = int(rng.integers(3)) if rng.random() < 0.1 else grade  # judges disagree
                paragraphs.append(Paragraph(term, text, float(noisy)))
    return paragraphs


if __name__ == "__main__":
    main()
