"""BLEU: quality of a translation by the n-grams it shares with reference translations (Papineni et al., 2002).

    >>> round(sentence_bleu("the cat sat on the mat", ["the cat sat on a mat"]), 4)
    0.6389

Texts are split at blanks only: tokenise and fold case before.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

LONGEST = 4
"""Length of the longest n-grams that count, in words."""


class Counts(NamedTuple):
    """Counts of n-grams that BLEU is computed from; those of several sentences may be added."""

    matches: tuple[int, ...]  # n-grams that are in a reference, for n = 1, …, 4
    totals: tuple[int, ...]  # n-grams of the translation
    length: int
    reference: int  # length of the reference that is nearest in length; of two, the shorter


def count(translation: str, references: Sequence[str]) -> Counts:
    """Count the n-grams of a translation; each matches at most as often as it is in a single reference."""
    words, texts = translation.split(), [reference.split() for reference in references]
    matches, totals = [], []
    for n in range(1, LONGEST + 1):
        most: Counter[tuple[str, ...]] = Counter()
        for text in texts:
            most |= _ngrams(text, n)
        ngrams = _ngrams(words, n)
        matches.append((ngrams & most).total())
        totals.append(ngrams.total())
    nearest = min((abs(len(text) - len(words)), len(text)) for text in texts)[1]
    return Counts(tuple(matches), tuple(totals), len(words), nearest)


def sentence_bleu(translation: str, references: Sequence[str]) -> float:
    """BLEU of a sentence, smoothed by one more match and one more n-gram for n > 1 (Lin and Och, 2004).

    BP · (m_1/c_1 · Π_{n=2..4} (m_n + 1)/(c_n + 1))^(1/4) with the brevity penalty BP = min(1, exp(1 − r/c)). It is 0
    if no word is in a reference.
    """
    matches, totals, length, reference = count(translation, references)
    if not matches[0]:
        return 0.0
    logs = [math.log(m + (n > 0)) - math.log(c + (n > 0)) for n, (m, c) in enumerate(zip(matches, totals, strict=True))]
    return math.exp(min(0.0, 1.0 - reference / length) + sum(logs) / LONGEST)


def corpus_bleu(counts: Iterable[Counts]) -> float:
    """BLEU of many sentences, from the sums of their counts, not smoothed; 0 if no 4-gram is in a reference."""
    parts = list(counts)
    matches, totals = ([sum(column) for column in zip(*(part[k] for part in parts), strict=True)] for k in (0, 1))
    length, reference = sum(part.length for part in parts), sum(part.reference for part in parts)
    if not matches or not all(matches):
        return 0.0
    logs = [math.log(m) - math.log(c) for m, c in zip(matches, totals, strict=True)]
    return math.exp(min(0.0, 1.0 - reference / length) + sum(logs) / LONGEST)


def _ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))
