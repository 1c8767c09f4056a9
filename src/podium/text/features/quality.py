"""Quality features: query-independent, from the words and links of a document; 0 without words.

Reference: Bendersky, Croft and Diao, Quality-biased ranking of web documents, 2011.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Int32s, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.text.features.base import WHOLE, Context, Feature
from podium.text.stop_words import stop_words

if TYPE_CHECKING:
    from podium.text.index.index import Index


@register
class StopShare(Feature):
    """The share of stop words among the words of the document: spam lists keywords and has few."""

    name = "stop_share"
    field: str = WHOLE
    """Field whose words count; `whole` is all fields together."""

    def values(self, context: Context) -> Array:
        return np.asarray(_of_stop_words(context, self.field)[0])


@register
class StopCover(Feature):
    """The share of the language's stop words that occur in the document; 0 if the analyser has none."""

    name = "stop_cover"
    field: str = WHOLE
    """Field whose words count; `whole` is all fields together."""

    def values(self, context: Context) -> Array:
        return np.asarray(_of_stop_words(context, self.field)[1])


@register
class Entropy(Feature):
    """Entropy of the words of the document, −Σ p ln p, p the share of each different word, stop words included."""

    name = "entropy"
    field: str = WHOLE
    """Field whose words count; `whole` is all fields together."""

    def values(self, context: Context) -> Array:
        out = np.zeros(len(context))
        _entropy(*context.tokens(self.field), out)
        return out


@register
class WordLength(Feature):
    """The mean number of characters of the words of the document, as the index has them: stems are shorter."""

    name = "word_length"
    field: str = WHOLE
    """Field whose words count; `whole` is all fields together."""

    def values(self, context: Context) -> Array:
        out = np.zeros(len(context))
        tokens, starts, ends = context.tokens(self.field)
        terms, place = np.unique(tokens, return_inverse=True)
        _mean(place.astype(np.int32), starts, ends, _term_lengths(context, terms.tolist()), out)
        return out


@register
class LinkShare(Feature):
    """The number of links of the document, also to pages outside the index, for each word; at most 1."""

    name = "link_share"

    def values(self, context: Context) -> Array:
        index = context.index
        if context.records is not None:
            return np.full(len(context), np.nan)
        links = index.kept("links from", lambda: Counter(source for source, _ in index.store.links()))
        _, starts, ends = context.tokens(WHOLE)
        counts = np.array([links[id] for id in index.ids(context.numbers)], np.float64)
        words = (ends - starts).astype(np.float64)
        return np.where(words > 0, np.minimum(counts / np.maximum(words, 1.0), 1.0), 0.0)

    def lacks(self, record: Mapping[str, Any], index: Index) -> str | None:
        return "links in the index"


def _term_lengths(context: Context, terms: list[int]) -> Array:
    """The number of characters of each term; each is read once."""
    index, new = context.index, len(context.index.flags)
    lengths: dict[int, int] = index.kept("term lengths", dict)
    for t in terms:
        if t < new and t not in lengths:
            lengths[t] = len(index.store.term(t))
    return np.array([lengths[t] if t < new else len(context.new_terms[t - new][0]) for t in terms], np.float64)


def _of_stop_words(context: Context, field: str) -> Array:
    """The share of stop words, and the share of the list that occurs."""  # (2, n)

    def make(_: Int32s, __: Ints) -> Array:
        out = np.zeros((2, len(context)))
        number, terms = _list(context.index)
        if number:
            first, listed = len(context.index.flags), stop_words(context.index.analyser.language)
            new = [first + k for k, (word, _) in enumerate(context.new_terms) if word in listed]
            terms = np.append(terms, np.array(new, np.int32))
            _stop_counts(*context.tokens(field), terms, context.slots, out)
            out[1] /= number
        return out

    return context.once(("stop words", field), make)


def _list(index: Index) -> tuple[int, Int32s]:
    """The number of stop words of the index's language, and those that are terms of it."""

    def make() -> tuple[int, Int32s]:
        words = sorted(stop_words(index.analyser.language)) if index.analyser.stop else []
        return len(words), np.unique([t for t in index.store.term_ids(words) if t >= 0]).astype(np.int32)

    return index.kept("stop words", make)


@compiled
def _stop_counts(tokens: Int32s, starts: Ints, ends: Ints, terms: Int32s, slots: Int32s, out: Array) -> None:
    last = np.full(len(terms), -1, np.int64)
    for m in range(len(terms)):
        if terms[m] < len(slots):
            slots[terms[m]] = m
    for k in range(len(starts)):
        for p in range(starts[k], ends[k]):
            m = slots[tokens[p]]
            if m >= 0:
                out[0, k] += 1.0
                if last[m] != k:
                    last[m] = k
                    out[1, k] += 1.0
        out[0, k] /= max(ends[k] - starts[k], 1)
    for m in range(len(terms)):
        if terms[m] < len(slots):
            slots[terms[m]] = -1


@compiled
def _entropy(tokens: Int32s, starts: Ints, ends: Ints, out: Array) -> None:
    for k in range(len(starts)):
        words = np.sort(tokens[starts[k] : ends[k]])
        run = 0
        for p in range(len(words)):
            run += 1
            if p + 1 == len(words) or words[p + 1] != words[p]:
                share = run / len(words)
                out[k] -= share * np.log(share)
                run = 0
        out[k] = max(out[k], 0.0)


@compiled
def _mean(tokens: Int32s, starts: Ints, ends: Ints, lengths: Array, out: Array) -> None:
    for k in range(len(starts)):
        for p in range(starts[k], ends[k]):
            out[k] += lengths[tokens[p]]
        out[k] /= max(ends[k] - starts[k], 1)
