"""Term dependence features: words, adjacent words as phrases, and adjacent words near each other.

Each is Σ ln((c + μ cf/|C|)/(|d| + μ)) over its words or pairs, c and cf their matches in the document and in all
documents. What no document has in this field is left out; with nothing left, and for pairs of one word, the value is 0.
Reference: Metzler and Croft, A Markov random field model for term dependencies, 2005.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Literal

import numpy as np

from podium.base.arrays import Array, Int32s, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.text.features.base import WHOLE, Context, FieldFeature, View
from podium.text.retrieval.base import MOST
from podium.text.word_pairs import PHRASE, WordPairs, pair_cf, pair_counts, phrase_pairs, window_pairs


@compiled
def _dirichlet_sum(
    counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array
) -> None:
    mu = params[0]
    for t in range(len(times)):
        if terms[1, t] > 0.0 and totals[1] > 0.0:
            share = mu * terms[1, t] / totals[1]
            for i in range(len(counts)):
                out[i] += times[t] * np.log((counts[i, t] + share) / (sizes[0, i] + mu))


@register
class DependenceTerms(FieldFeature):
    """Sequential dependence model, words: Σ ln((c + μ cf/|C|)/(|d| + μ))."""

    name, kernel = "sd_t", _dirichlet_sum
    field: str = WHOLE
    mu: float = param(default=2500.0, least=1 / MOST, most=1e9)
    """Pseudo-count of words that the collection adds to each document; the larger, the smoother."""


@register
class DependencePhrases(FieldFeature):
    """Sequential dependence model, phrases: the sum over adjacent words of the query, stop words included."""

    name, kernel = "sd_o", _dirichlet_sum
    field: str = WHOLE
    mu: float = param(default=4000.0, least=1 / MOST, most=1e9)
    """Pseudo-count of words that the collection adds to each document; the larger, the smoother."""

    def sees(self) -> Hashable:
        return "phrases of two"

    def view(self, context: Context) -> View | None:
        return _view(context, self.sees(), lambda: phrase_pairs(context.query), PHRASE)


@register
class DependenceWindows(FieldFeature):
    """Sequential dependence model, windows: the sum over adjacent words of the query near each other.

    A match is both words within `window` words, in any order. Stop words and unknown words of the query are skipped.
    With pairs=all, all pairs of words are counted.
    """

    name, kernel = "sd_u", _dirichlet_sum
    field: str = WHOLE
    mu: float = param(default=4000.0, least=1 / MOST, most=1e9)
    """Pseudo-count of words that the collection adds to each document; the larger, the smoother."""
    window: int = param(default=8, least=2, most=1000)
    """Words within which both must occur."""
    pairs: Literal["adjacent", "all"] = "adjacent"
    """Pairs of query words that count: adjacent ones, or all."""

    def sees(self) -> Hashable:
        return "windows", self.window, self.pairs

    def view(self, context: Context) -> View | None:
        pairs = self.pairs == "all"
        return _view(context, self.sees(), lambda: window_pairs(context.query, all_pairs=pairs), self.window)


def _view(context: Context, key: Hashable, read: Callable[[], WordPairs], window: int) -> View | None:
    """The counts of pairs of words within a window."""

    def make(tokens: Int32s, bounds: Ints) -> View | None:
        pairs, times = read()
        if not len(pairs):
            return None
        terms = np.zeros((bounds.shape[1], 2, len(pairs)))
        terms[:, 1] = pair_cf(context.index, pairs, window)
        return View(pair_counts(tokens, bounds, pairs, window), times, terms)

    return context.once(key, make)
