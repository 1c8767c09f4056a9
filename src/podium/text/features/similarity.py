"""Similarity features in the vector space model: weights ln(1 + c) · ln(N/df), without stop words."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Int32s, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.text.context import slots_of
from podium.text.features.base import WHOLE, Context, Feature
from podium.text.retrieval.dense import exact_dots
from podium.text.retrieval.lsi import latent
from podium.text.retrieval.word_vectors import term_weights


@register
class Cosine(Feature):
    """The cosine of the word vectors of query and document; 0 if one of them is 0."""

    name = "cosine"
    field: str = WHOLE
    """Field whose words count; `whole` is all fields together."""

    def values(self, context: Context) -> Array:
        column, (counts, times, _), cosines = context.column(self.field), context.words, np.zeros(len(context))
        weights = term_weights(context.index, column)
        _cosine(counts[column], times, context.query.terms, weights, context.norms(column), cosines)
        return cosines


@register
class PRF(Feature):
    """Pseudo-relevance feedback: the cosine with the mean vector of the k best documents of the first stage.

    The mean is weighted by their scores; if some are negative, such as log-probabilities, by their scores less the
    lowest of all candidates. 0 without a first stage.
    """

    name = "prf"
    of_candidates = True
    field: str = WHOLE
    """Field whose words count; `whole` is all fields together."""
    k: int = param(default=5, least=1)
    """First documents whose mean is taken."""

    def values(self, context: Context) -> Array:
        cosines, best = np.zeros(len(context)), context.candidates
        if best.first_scores is None or not len(best):
            return cosines
        column = context.column(self.field)
        weights, slots = term_weights(context.index, column), slots_of(max(len(context.slots), len(best.slots)))
        shares = _shares(np.asarray(best.first_scores, np.float64))
        terms, centre = _centre(*best.tokens(self.field), shares, self.k, weights, slots)
        _towards(*context.tokens(self.field), terms, centre, weights, context.norms(column), slots, cosines)
        return cosines


@register
class LSI(Feature):
    """Latent semantic indexing: the cosine in the space of the first `rank` singular vectors of all documents."""

    name = "lsi"
    field: str = WHOLE
    """Field whose words count; `whole` is all fields together."""
    rank: int = param(default=100, least=1, most=1000)
    """Dimensions of the latent space."""

    def values(self, context: Context) -> Array:
        query, column = context.query, context.column(self.field)
        space = latent(context.index, column, self.rank)
        weights = np.log1p(query.times) * term_weights(context.index, column)[query.terms]
        point = weights @ space.axes[query.terms].astype(np.float64)
        size = np.linalg.norm(point)
        if size <= 1e-12:
            return np.zeros(len(context))
        return exact_dots(context.latent(column, self.rank), point / size)


def _shares(scores: Array) -> Array:
    """Weights of the candidates in the mean: ordered as the scores and never below 0."""
    lowest = scores.min()
    if lowest >= 0.0:
        return scores
    above = scores - lowest
    return above if above.any() else np.ones(len(scores))


@compiled
def _cosine(counts: Array, times: Array, query: Int32s, weights: Array, sizes: Array, out: Array) -> None:
    """Cosines of query and documents; `weights` are of all terms, `sizes` are norms of the documents."""
    vector, square = np.empty(len(query)), 0.0
    for t in range(len(query)):
        vector[t] = np.log1p(times[t]) * weights[query[t]]
        square += vector[t] ** 2
        vector[t] *= weights[query[t]]
    for i in range(len(counts)):
        if square > 0.0 and sizes[i] > 0.0:
            for t in range(len(query)):
                if counts[i, t] > 0.0:
                    out[i] += np.log1p(counts[i, t]) * vector[t]
            out[i] /= np.sqrt(square) * sizes[i]


@compiled
def _centre(
    tokens: Int32s, starts: Ints, ends: Ints, scores: Array, k: int, weights: Array, slots: Int32s
) -> tuple[Int32s, Array]:
    """The terms of the k best documents, and Σ score × vector over these documents."""
    best = _best(scores, k)
    room = 0
    for b in best:
        room += ends[b] - starts[b]
    terms, centre, counts, met = np.empty(room, np.int32), np.zeros(room), np.zeros(room), np.empty(room, np.int64)
    size = 0  # the terms of the best, each in its slot
    for b in best:
        for p in range(starts[b], ends[b]):
            if slots[tokens[p]] < 0:
                slots[tokens[p]] = size
                terms[size] = tokens[p]
                size += 1
    for b in best:
        for at in range(_count(tokens, starts[b], ends[b], slots, counts, met)):
            s = met[at]
            centre[s] += scores[b] * np.log1p(counts[s]) * weights[terms[s]]
            counts[s] = 0.0
    for s in range(size):
        slots[terms[s]] = -1
    return terms[:size], centre[:size]


@compiled
def _towards(
    tokens: Int32s, starts: Ints, ends: Ints, terms: Int32s, centre: Array, weights: Array, sizes: Array,
    slots: Int32s, out: Array,
) -> None:  # fmt: skip
    """The cosine of each document's vector with a vector of some terms; `sizes` are norms of the documents."""
    counts, met, square = np.zeros(len(terms)), np.empty(len(terms), np.int64), 0.0
    for s in range(len(terms)):
        slots[terms[s]] = s
        square += centre[s] ** 2
    for i in range(len(starts)):
        for at in range(_count(tokens, starts[i], ends[i], slots, counts, met)):
            s = met[at]
            out[i] += np.log1p(counts[s]) * weights[terms[s]] * centre[s]
            counts[s] = 0.0
        length = np.sqrt(square) * sizes[i]
        out[i] = out[i] / length if length > 0.0 else 0.0
    for s in range(len(terms)):
        slots[terms[s]] = -1


@compiled
def _best(scores: Array, k: int) -> Ints:
    """The indices of the k largest scores, best first; of equal ones, the first."""
    best = np.empty(min(k, len(scores)), np.int64)
    taken = np.zeros(len(scores), np.bool_)
    for b in range(len(best)):
        top = -1
        for i in range(len(scores)):
            if not taken[i] and (top < 0 or scores[i] > scores[top]):
                top = i
        best[b], taken[top] = top, True
    return best


@compiled
def _count(tokens: Int32s, start: int, end: int, slots: Int32s, counts: Array, met: Ints) -> int:
    """Count the terms that have a slot, list them in `met`, and return their number."""
    n = 0
    for p in range(start, end):
        s = slots[tokens[p]]
        if s >= 0:
            if counts[s] == 0.0:
                met[n] = s
                n += 1
            counts[s] += 1.0
    return n
