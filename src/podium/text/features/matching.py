"""Matching: how often and how well the words of a query occur in a field.

Σ runs over the words of the query, repeats counted; c is the number of occurrences of a word in the field, |d| the
field's length, N the number of documents, df those with the word in this field, avg the mean length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.text.features.base import WHOLE, FieldFeature
from podium.text.retrieval.base import MOST


@compiled
def idf(terms: Array, totals: Array, t: int) -> Any:
    """ln(N/df) of a word; 0 for a word that is in no document's field."""
    return np.log(max(totals[0], 1.0) / terms[0, t]) if terms[0, t] > 0.0 else 0.0


@compiled
def icf(terms: Array, totals: Array, t: int) -> Any:
    """|C|/cf of a word; 0 for a word that is in no document's field."""
    return totals[1] / terms[1, t] if terms[1, t] > 0.0 else 0.0


@compiled
def tf(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            found[i] += counts[i, t] * times[t]


@compiled
def _log_tf(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            if counts[i, t] > 0.0:
                found[i] += np.log1p(counts[i, t]) * times[t]


@compiled
def _norm_tf(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            found[i] += counts[i, t] * times[t]
        found[i] /= max(sizes[0, i], 1.0)


@compiled
def _log_norm_tf(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            found[i] += np.log1p(counts[i, t] / max(sizes[0, i], 1.0)) * times[t]


@compiled
def _tfidf(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for t in range(len(times)):
        worth = times[t] * idf(terms, totals, t)
        for i in range(len(counts)):
            found[i] += counts[i, t] * worth


@compiled
def _log_norm_tfidf(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for t in range(len(times)):
        worth = idf(terms, totals, t)
        for i in range(len(counts)):
            found[i] += np.log1p(counts[i, t] / max(sizes[0, i], 1.0) * worth) * times[t]


@compiled
def _log_norm_tficf(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for t in range(len(times)):
        worth = icf(terms, totals, t)
        for i in range(len(counts)):
            found[i] += np.log1p(counts[i, t] / max(sizes[0, i], 1.0) * worth) * times[t]


@compiled
def _length(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for i in range(len(counts)):
        found[i] = sizes[0, i]


@compiled
def bm25(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    k1, b, average = params[0], params[1], totals[1] / max(totals[0], 1.0)
    if average == 0.0:
        return
    for t in range(len(times)):
        worth = times[t] * np.log1p((totals[0] - terms[0, t] + 0.5) / (terms[0, t] + 0.5))
        for i in range(len(counts)):
            c = counts[i, t]
            if c > 0.0:
                found[i] += worth * c * (k1 + 1.0) / (c + k1 * (1.0 - b + b * sizes[0, i] / average))


@compiled
def _log_bm25(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    bm25(counts, times, sizes, terms, totals, params, found)
    for i in range(len(found)):
        found[i] = np.log(found[i]) if found[i] > 0.0 else 0.0


@compiled
def _covered(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            found[i] += counts[i, t] > 0.0


@compiled
def _covered_ratio(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    _covered(counts, times, sizes, terms, totals, params, found)
    for i in range(len(found)):
        found[i] /= max(len(times), 1)


@compiled
def _boolean(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    _covered(counts, times, sizes, terms, totals, params, found)
    for i in range(len(found)):
        found[i] = len(times) > 0 and found[i] == len(times)


@register
class TF(FieldFeature):
    """Σ c."""

    name, kernel = "tf", tf
    field: str = WHOLE


@register
class LogTF(FieldFeature):
    """Σ ln(1 + c)."""

    name, kernel = "log_tf", _log_tf
    field: str = WHOLE


@register
class NormTF(FieldFeature):
    """Σ c/|d|."""

    name, kernel = "norm_tf", _norm_tf
    field: str = WHOLE


@register
class LogNormTF(FieldFeature):
    """Σ ln(1 + c/|d|)."""

    name, kernel = "log_norm_tf", _log_norm_tf
    field: str = WHOLE


@register
class TFIDF(FieldFeature):
    """Σ c ln(N/df)."""

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
    """|d|, stop words not counted."""

    name, kernel = "length", _length
    field: str = WHOLE


@register
class BM25(FieldFeature):
    """Σ ln(1 + (N − df + ½)/(df + ½)) · c (k1 + 1)/(c + k1 (1 − b + b |d|/avg))."""

    name, kernel = "bm25", bm25
    field: str = WHOLE
    k1: float = param(default=1.2, least=0, most=MOST)
    b: float = param(default=0.75, least=0, most=1)


@register
class LogBM25(FieldFeature):
    """ln BM25; 0 where BM25 is 0."""

    name, kernel = "log_bm25", _log_bm25
    field: str = WHOLE
    k1: float = param(default=1.2, least=0, most=MOST)
    b: float = param(default=0.75, least=0, most=1)


@register
class Covered(FieldFeature):
    """The number of different query words that occur."""

    name, kernel = "covered", _covered
    field: str = WHOLE


@register
class CoveredRatio(FieldFeature):
    """The share of different query words that occur."""

    name, kernel = "covered_ratio", _covered_ratio
    field: str = WHOLE


@register
class Boolean(FieldFeature):
    """1 where all query words occur, else 0."""

    name, kernel = "boolean", _boolean
    field: str = WHOLE
