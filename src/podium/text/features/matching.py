"""Matching features of a field: TF, TF-IDF, BM25, length, coverage.

Σ runs over the words of the query, repeats counted; c is the number of occurrences of a word in the field, |d| the
field's length, N the number of documents, df those with the word in this field, avg the mean length.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.text.features.base import WHOLE, FieldFeature
from podium.text.retrieval.base import MOST


@compiled
def idf(terms: Array, totals: Array, t: int) -> float:
    """ln(N/df) of a word; 0 if no document has it in this field."""
    return np.log(max(totals[0], 1.0) / terms[0, t]) if terms[0, t] > 0.0 else 0.0


@compiled
def icf(terms: Array, totals: Array, t: int) -> float:
    """|C|/cf of a word; 0 if no document has it in this field."""
    return totals[1] / terms[1, t] if terms[1, t] > 0.0 else 0.0


@compiled
def tf(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            out[i] += counts[i, t] * times[t]


@compiled
def _log_tf(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            if counts[i, t] > 0.0:
                out[i] += np.log1p(counts[i, t]) * times[t]


@compiled
def _norm_tf(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            out[i] += counts[i, t] * times[t]
        out[i] /= max(sizes[0, i], 1.0)


@compiled
def _log_norm_tf(
    counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array
) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            out[i] += np.log1p(counts[i, t] / max(sizes[0, i], 1.0)) * times[t]


@compiled
def _tfidf(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    for t in range(len(times)):
        worth = times[t] * idf(terms, totals, t)
        for i in range(len(counts)):
            out[i] += counts[i, t] * worth


@compiled
def _log_norm_tfidf(
    counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array
) -> None:
    for t in range(len(times)):
        worth = idf(terms, totals, t)
        for i in range(len(counts)):
            out[i] += np.log1p(counts[i, t] / max(sizes[0, i], 1.0) * worth) * times[t]


@compiled
def _log_norm_tficf(
    counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array
) -> None:
    for t in range(len(times)):
        worth = icf(terms, totals, t)
        for i in range(len(counts)):
            out[i] += np.log1p(counts[i, t] / max(sizes[0, i], 1.0) * worth) * times[t]


@compiled
def _length(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    for i in range(len(counts)):
        out[i] = sizes[0, i]


@compiled
def bm25(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    k1, b, average = params[0], params[1], totals[1] / max(totals[0], 1.0)
    if average == 0.0:
        return
    for t in range(len(times)):
        worth = times[t] * np.log1p((totals[0] - terms[0, t] + 0.5) / (terms[0, t] + 0.5))
        for i in range(len(counts)):
            c = counts[i, t]
            if c > 0.0:
                out[i] += worth * c * (k1 + 1.0) / (c + k1 * (1.0 - b + b * sizes[0, i] / average))


@compiled
def _log_bm25(
    counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array
) -> None:
    bm25(counts, times, sizes, terms, totals, params, out)
    for i in range(len(out)):
        out[i] = np.log(out[i]) if out[i] > 0.0 else 0.0


@compiled
def _covered(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            out[i] += counts[i, t] > 0.0


@compiled
def _covered_ratio(
    counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array
) -> None:
    _covered(counts, times, sizes, terms, totals, params, out)
    for i in range(len(out)):
        out[i] /= max(len(times), 1)


@compiled
def _boolean(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    _covered(counts, times, sizes, terms, totals, params, out)
    for i in range(len(out)):
        out[i] = len(times) > 0 and out[i] == len(times)


@register
class TF(FieldFeature):
    """Term frequency: Σ c."""

    name, kernel = "tf", tf
    field: str = WHOLE


@register
class LogTF(FieldFeature):
    """Σ ln(1 + c)."""

    name, kernel = "log_tf", _log_tf
    field: str = WHOLE


@register
class NormTF(FieldFeature):
    """Normalised term frequency: Σ c/|d|."""

    name, kernel = "norm_tf", _norm_tf
    field: str = WHOLE


@register
class LogNormTF(FieldFeature):
    """Σ ln(1 + c/|d|)."""

    name, kernel = "log_norm_tf", _log_norm_tf
    field: str = WHOLE


@register
class TFIDF(FieldFeature):
    """TF-IDF: Σ c ln(N/df)."""

    name, kernel = "tfidf", _tfidf
    field: str = WHOLE


@register
class LogNormTFIDF(FieldFeature):
    """Σ ln(1 + c/|d| · ln(N/df))."""

    name, kernel = "log_norm_tfidf", _log_norm_tfidf
    field: str = WHOLE


@register
class LogNormTFICF(FieldFeature):
    """Σ ln(1 + c/|d| · |C|/cf)."""

    name, kernel = "log_norm_tficf", _log_norm_tficf
    field: str = WHOLE


@register
class Length(FieldFeature):
    """Length |d| in words, stop words not counted."""

    name, kernel = "length", _length
    field: str = WHOLE


@register
class BM25(FieldFeature):
    """BM25: Σ ln(1 + (N − df + ½)/(df + ½)) · c (k1 + 1)/(c + k1 (1 − b + b |d|/avg))."""

    name, kernel = "bm25", bm25
    field: str = WHOLE
    k1: float = param(default=1.2, least=0, most=MOST)
    """Saturation: the larger, the more a further occurrence of a word adds."""
    b: float = param(default=0.75, least=0, most=1)
    """Share by which long fields are discounted: 0 not at all, 1 in full proportion to their length."""


@register
class LogBM25(FieldFeature):
    """ln BM25; 0 if BM25 is 0."""

    name, kernel = "log_bm25", _log_bm25
    field: str = WHOLE
    k1: float = param(default=1.2, least=0, most=MOST)
    """Saturation: the larger, the more a further occurrence of a word adds."""
    b: float = param(default=0.75, least=0, most=1)
    """Share by which long fields are discounted: 0 not at all, 1 in full proportion to their length."""


@register
class Covered(FieldFeature):
    """The number of different query words that occur in the field."""

    name, kernel = "covered", _covered
    field: str = WHOLE


@register
class CoveredRatio(FieldFeature):
    """The share of different query words that occur in the field."""

    name, kernel = "covered_ratio", _covered_ratio
    field: str = WHOLE


@register
class Boolean(FieldFeature):
    """1 if all query words occur in the field, else 0."""

    name, kernel = "boolean", _boolean
    field: str = WHOLE
