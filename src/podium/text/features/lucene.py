"""Lucene's features, which Elasticsearch, OpenSearch and Solr compute to the same float32 numbers.

Lucene keeps the length of a field in one byte: |d| is the largest of 256 lengths that is not above it. N counts the
documents whose field has a term, and avg is their mean length. Everything is float32, but the sum over words, which is
float64 and then rounded. A word twice in the query counts twice.

The numbers are equal if the engine's analysis gives the same terms, and if it has the same documents in one shard (or
searches with dfs_query_then_fetch) and none that were deleted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from podium.base.arrays import Array, Int32s, Ints, Singles
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.text.features.base import WHOLE, Context, Feature
from podium.text.index.index import Index
from podium.text.retrieval.base import MOST

_EXACT = 24
"""Lengths below are kept as they are."""


def _kept_lengths() -> Ints:
    """The 256 lengths of Lucene's byte: 24 exact ones, then numbers of four significant bits on top of 24."""
    codes = np.arange(256 - _EXACT)
    shift = np.maximum((codes >> 3) - 1, 0)
    numbers = np.where(codes < 8, codes, ((codes & 7) | 8) << shift)
    return np.concatenate([np.arange(_EXACT), _EXACT + numbers]).astype(np.int64)


LENGTHS = _kept_lengths()


def kept_length(lengths: Array) -> Ints:
    """Lengths as Lucene's byte keeps them.

    >>> kept_length(np.array([39.0, 41.0, 100.0, 1000.0])).tolist()
    [39, 40, 96, 984]
    """
    return LENGTHS[np.searchsorted(LENGTHS, lengths, side="right") - 1]


class LuceneFeature(Feature):
    """A feature of one field; 0 if the query does not match."""

    field: str
    k1: float
    b: float

    def scores(self, context: Context, counts: Array, weights: Singles) -> Array:
        """Σ w − w/(1 + c/(k1 (1 − b + b |d|/avg))) over the columns of counts, (n, m)."""
        f = context.column(self.field)
        field = _statistics(context.index, f)
        one, k1, b = np.float32(1), np.float32(self.k1), np.float32(self.b)
        lengths = kept_length(context.sizes[f, 0]).astype(np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):  # k1 = 0, and documents without the field
            inverse = one / (k1 * ((one - b) + b * lengths / np.float32(field.average)))
            grown = one + counts.astype(np.float32) * inverse[:, None]
            parts = np.where(counts > 0, weights - weights / grown, np.float32(0))
        return np.asarray(parts.sum(axis=1, dtype=np.float64).astype(np.float32), np.float64)


@register
class LuceneBM25(LuceneFeature):
    """Lucene's BM25: Σ ln(1 + (N − df + ½)/(df + ½)) · c/(c + k1 (1 − b + b |d|/avg)), in float32; no factor k1 + 1."""

    name = "lucene_bm25"
    field: str = WHOLE
    """Field whose words count; `whole` is all fields together."""
    k1: float = param(default=1.2, least=0, most=MOST)
    """Saturation: the larger, the more a further occurrence of a word adds."""
    b: float = param(default=0.75, least=0, most=1)
    """Share by which long fields are discounted: 0 not at all, 1 in full proportion to their length."""

    def values(self, context: Context) -> Array:
        f, places = context.column(self.field), _searched(context)
        counts, times, df = context.words.counts[f][:, places], context.query.times[places], context.words.terms[f, 0]
        weights = times.astype(np.float32) * _idf(df[places], _statistics(context.index, f).documents)
        return self.scores(context, counts, weights)


@register
class LucenePhrase(LuceneFeature):
    """Lucene's score of the query as a phrase: BM25 with its number of occurrences c and the sum of its words' idf.

    A stop word of the query stands for any word.
    """

    name = "lucene_phrase"
    field: str = WHOLE
    """Field whose words count; `whole` is all fields together."""
    k1: float = param(default=1.2, least=0, most=MOST)
    """Saturation: the larger, the more a further occurrence of a word adds."""
    b: float = param(default=0.75, least=0, most=1)
    """Share by which long fields are discounted: 0 not at all, 1 in full proportion to their length."""

    def values(self, context: Context) -> Array:
        f, phrase = context.column(self.field), _phrase(context)
        wanted = phrase[phrase >= 0]
        if not len(wanted) or (phrase == _UNKNOWN).any():
            return np.zeros(len(context))
        at = {int(term): k for k, term in enumerate(context.query.terms)}
        idf = _idf(context.words.terms[f, 0], _statistics(context.index, f).documents)
        weight = np.float32(sum(float(idf[at[int(term)]]) for term in wanted))
        tokens, starts, ends = context.tokens(self.field)
        counts = np.zeros(len(context))
        _count_phrase(tokens, starts, ends, phrase, counts)
        return self.scores(context, counts[:, None], np.array([weight], np.float32))


@register
class LuceneLength(Feature):
    """Length |d| of a field, as Lucene's byte keeps it."""

    name = "lucene_length"
    field: str = WHOLE
    """Field whose words count; `whole` is all fields together."""

    def values(self, context: Context) -> Array:
        return kept_length(context.sizes[context.column(self.field), 0]).astype(np.float64)


class _FieldStatistics(NamedTuple):
    documents: int  # that have a term in the field
    average: float  # their mean length


def _statistics(index: Index, f: int) -> _FieldStatistics:
    def make() -> _FieldStatistics:
        lengths = [segment.lengths[~segment.dead, f] for segment in index.segments]
        documents = sum(int(np.count_nonzero(part)) for part in lengths)
        return _FieldStatistics(documents, sum(int(part.sum(dtype=np.int64)) for part in lengths) / max(documents, 1))

    return index.kept(("lucene statistics", f), make)


def _idf(df: Array, documents: int) -> Singles:
    """ln(1 + (N − df + ½)/(df + ½)), computed in float64 and rounded."""
    return np.log(1.0 + (documents - df + 0.5) / (df + 0.5)).astype(np.float32)


_UNKNOWN, _ANY = -1, -2


def _phrase(context: Context) -> Int32s:
    """The words of the query from the first to the last that is searched; −2 for a stop word, −1 for an unknown one."""
    query, analyser = context.query, context.index.analyser
    flagged = np.array([analyser.term(word)[1] for word in analyser.words(query.text)], bool)
    words = np.where(flagged, _ANY, query.sequence).astype(np.int32)
    kept = np.flatnonzero(words != _ANY)
    return words[kept[0] : kept[-1] + 1] if len(kept) else words[:0]


def _searched(context: Context) -> Ints:
    """Which terms of the query are searched: none if all are stop words."""
    return np.flatnonzero(np.isin(context.query.terms, _phrase(context)))


@compiled
def _count_phrase(tokens: Int32s, starts: Ints, ends: Ints, phrase: Int32s, counts: Array) -> None:
    n = len(phrase)
    for k in range(len(starts)):
        for p in range(starts[k], ends[k] - n + 1):
            same = 0
            while same < n and (phrase[same] == -2 or tokens[p + same] == phrase[same]):
                same += 1
            if same == n:
                counts[k] += 1.0
