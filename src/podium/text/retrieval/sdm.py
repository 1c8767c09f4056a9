"""Sequential dependence model: query likelihood of words, of phrases of two and of windows, in fixed shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from podium.base.arrays import Array, Flags, Int32s, Ints
from podium.base.registry import param, register
from podium.text.retrieval.base import MOST, Retrieval, Statistics, Where
from podium.text.word_pairs import PHRASE, pair_cf, pair_postings, phrase_pairs, window_pairs

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.index.segment import Segment
    from podium.text.query import Query


class _Pair(NamedTuple):
    """A pair of words in a query."""

    words: Int32s  # (2,)
    weight: float
    cf: float
    window: int


@register
class SequentialDependence(Retrieval):
    """terms · sd_t + phrases · sd_o + windows · sd_u of the whole document, less a constant of the query.

    Scores are relative to a document of length 0 without any query word, so only documents in the postings are scored.
    Reference: Metzler and Croft, A Markov random field model for term dependencies, 2005.
    """

    name = "sdm"
    terms: float = param(default=0.85, least=0, most=1)
    """Weight of single words."""
    phrases: float = param(default=0.10, least=0, most=1)
    """Weight of adjacent words as phrases."""
    windows: float = param(default=0.05, least=0, most=1)
    """Weight of adjacent words near each other, in any order."""
    mu: float = param(default=2500.0, least=1 / MOST, most=1e9)
    """Smoothing of single words."""
    pair_mu: float = param(default=4000.0, least=1 / MOST, most=1e9)
    """Smoothing of pairs of words."""
    window: int = param(default=8, least=2, most=1000)
    """Words within which both must occur."""

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        statistics, parts = index.statistics(query), [(np.empty(0), np.empty(0, np.int64))]
        if not len(query.terms) or statistics.totals[-1] == 0.0:
            return parts[0]
        pairs = self._pairs(index, query)
        for segment in index.segments:
            scores, seen = self._scores(segment, query, statistics, pairs)
            rows = np.flatnonzero(seen & ~segment.dead)
            if where is not None:
                rows = rows[where(segment.numbers)[rows]]
            parts.append(_top(scores[rows], segment.numbers[rows], k))
        return np.concatenate([scores for scores, _ in parts]), np.concatenate([numbers for _, numbers in parts])

    def _pairs(self, index: Index, query: Query) -> list[_Pair]:
        """The phrases and windows of the query that some document has."""
        pairs = list[_Pair]()
        for share, (words, times), window in (
            (self.phrases, phrase_pairs(query), PHRASE),
            (self.windows, window_pairs(query, all_pairs=False), self.window),
        ):
            cf = pair_cf(index, words, window)[-1]
            pairs += [_Pair(words[g], share * times[g], cf[g], window) for g in range(len(words)) if cf[g] > 0]
        return pairs

    def _scores(
        self, segment: Segment, query: Query, statistics: Statistics, pairs: list[_Pair]
    ) -> tuple[Array, Flags]:
        """The score of each document of a segment, and whether it has a word of the query."""
        scores, seen, total = np.zeros(len(segment)), np.zeros(len(segment), np.bool_), statistics.totals[-1]
        weights = self.terms * query.times
        for place, weight, cf in zip(segment.places(query.terms), weights, statistics.cf[:, -1], strict=True):
            rows, counts = _postings(segment, int(place))
            seen[rows] = True
            scores[rows] += weight * np.log1p(counts * total / (self.mu * cf))
        for pair in pairs:
            rows, by_field = pair_postings(segment, pair.words, pair.window)
            scores[rows] += pair.weight * np.log1p(by_field[:, -1] * total / (self.pair_mu * pair.cf))
        lengths = segment.lengths[:, -1]
        scores -= weights.sum() * np.log1p(lengths / self.mu)
        scores -= sum(pair.weight for pair in pairs) * np.log1p(lengths / self.pair_mu)
        return scores, seen


def _postings(segment: Segment, place: int) -> tuple[Ints, Ints]:
    """The rows with a term and its occurrences in each."""
    part = slice(segment.pointers[place], segment.pointers[place + 1]) if place >= 0 else slice(0, 0)
    return segment.rows[part].astype(np.int64), segment.frequencies[part].sum(axis=1, dtype=np.int64)


def _top(scores: Array, numbers: Ints, k: int) -> tuple[Array, Ints]:
    """The k best; of equal scores those with the lower number."""
    order = np.lexsort((numbers, -scores))[:k]
    return scores[order], numbers[order]
