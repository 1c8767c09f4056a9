"""Matching: how often and how well the words of a query occur in a field.

Σ runs over the words of the query, repeats counted; c is the number of occurrences of a word in the field, |d| the
field's length, N the number of documents, df those with the word in this field, avg the mean length.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from podium.compiled import compiled
from podium.registry import param, register
from podium.text.features.base import WHOLE, Array, Field, FieldFeature


@register
class TF(FieldFeature):
    """Σ c."""

    name = "tf"
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        return field.counts @ field.times


@register
class LogTF(FieldFeature):
    """Σ ln(1 + c)."""

    name = "log_tf"
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        return np.log1p(field.counts) @ field.times


@register
class NormTF(FieldFeature):
    """Σ c/|d|."""

    name = "norm_tf"
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        return np.asarray(field.counts @ field.times / _length(field))


@register
class LogNormTF(FieldFeature):
    """Σ ln(1 + c/|d|)."""

    name = "log_norm_tf"
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        return np.log1p(_shares(field)) @ field.times


@register
class IDF(FieldFeature):
    """Σ ln(N/df); a word that is in no document's field is left out. The same for all documents."""

    name = "idf"
    of_query = True
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        return np.full(len(field.lengths), idf(field) @ field.times)


@register
class LogIDF(FieldFeature):
    """Σ ln ln(N/df), where N/df > e; 0 for other words. The same for all documents."""

    name = "log_idf"
    of_query = True
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        return np.full(len(field.lengths), np.log(np.maximum(idf(field), 1.0)) @ field.times)


@register
class LogICF(FieldFeature):
    """Σ ln(1 + |C|/cf). The same for all documents."""

    name = "log_icf"
    of_query = True
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        return np.full(len(field.lengths), np.log1p(_icf(field)) @ field.times)


@register
class TFIDF(FieldFeature):
    """Σ c ln(N/df)."""

    name = "tfidf"
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        return field.counts @ (field.times * idf(field))


@register
class LogNormTFIDF(FieldFeature):
    """Σ ln(1 + c/|d| · ln(N/df))."""

    name = "log_norm_tfidf"
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        return np.log1p(_shares(field) * idf(field)) @ field.times


@register
class LogNormTFICF(FieldFeature):
    """Σ ln(1 + c/|d| · |C|/cf)."""

    name = "log_norm_tficf"
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        return np.log1p(_shares(field) * _icf(field)) @ field.times


@register
class Length(FieldFeature):
    """|d|, stop words not counted."""

    name = "length"
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        return field.lengths.copy()


@register
class BM25(FieldFeature):
    """Σ ln(1 + (N − df + ½)/(df + ½)) · c (k1 + 1)/(c + k1 (1 − b + b |d|/avg))."""

    name = "bm25"
    field: str = WHOLE
    k1: float = param(default=1.2, least=0)
    b: float = param(default=0.75, least=0, most=1)

    def compute(self, field: Field) -> Array:
        worth = field.times * np.log1p((field.documents - field.df + 0.5) / (field.df + 0.5))
        return np.asarray(bm25(field.counts, worth, field.lengths, field.average, self.k1, self.b))


@register
class LogBM25(FieldFeature):
    """ln BM25; 0 where BM25 is 0."""

    name = "log_bm25"
    field: str = WHOLE
    k1: float = param(default=1.2, least=0)
    b: float = param(default=0.75, least=0, most=1)

    def compute(self, field: Field) -> Array:
        found = BM25(field=self.field, k1=self.k1, b=self.b).compute(field)
        return np.asarray(np.log(found, out=np.zeros_like(found), where=found > 0))


@register
class Covered(FieldFeature):
    """The number of different query words that occur."""

    name = "covered"
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        return np.asarray(covered(field.counts))


@register
class CoveredRatio(FieldFeature):
    """The share of different query words that occur."""

    name = "covered_ratio"
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        return np.asarray(covered(field.counts) / max(len(field.times), 1))


@register
class Boolean(FieldFeature):
    """1 where all query words occur, else 0."""

    name = "boolean"
    field: str = WHOLE

    def compute(self, field: Field) -> Array:
        if not len(field.times):
            return np.zeros(len(field.lengths))
        return np.asarray((field.counts > 0).all(axis=1), np.float64)


class _OverWords(FieldFeature):
    """Over the different words of the query: of their c, c/|d|, or c ln(N/df)."""

    of: Literal["tf", "norm_tf", "tfidf"]

    def compute(self, field: Field) -> Array:
        values = {"tf": field.counts, "norm_tf": _shares(field), "tfidf": field.counts * idf(field)}[self.of]
        return self.over(values) if values.shape[1] else np.zeros(len(field.lengths))

    def over(self, values: Array) -> Array:
        raise NotImplementedError


@register
class MinTF(_OverWords):
    """The least c over the different words of the query (or c/|d|, or c ln(N/df))."""

    name = "min_tf"
    field: str = WHOLE
    of: Literal["tf", "norm_tf", "tfidf"] = "tf"

    def over(self, values: Array) -> Array:
        return np.asarray(values.min(axis=1))


@register
class MaxTF(_OverWords):
    """The largest c over the different words of the query (or c/|d|, or c ln(N/df))."""

    name = "max_tf"
    field: str = WHOLE
    of: Literal["tf", "norm_tf", "tfidf"] = "tf"

    def over(self, values: Array) -> Array:
        return np.asarray(values.max(axis=1))


@register
class MeanTF(_OverWords):
    """The mean c over the different words of the query (or c/|d|, or c ln(N/df))."""

    name = "mean_tf"
    field: str = WHOLE
    of: Literal["tf", "norm_tf", "tfidf"] = "tf"

    def over(self, values: Array) -> Array:
        return np.asarray(values.mean(axis=1))


@register
class VarTF(_OverWords):
    """The variance of c over the m different words of the query, divided by m (or of c/|d|, or of c ln(N/df))."""

    name = "var_tf"
    field: str = WHOLE
    of: Literal["tf", "norm_tf", "tfidf"] = "tf"

    def over(self, values: Array) -> Array:
        return np.asarray(values.var(axis=1))


def idf(field: Field) -> Array:
    """ln(N/df) of each word; 0 for a word that is in no document's field."""  # (m,)
    return np.where(field.df > 0, np.log(max(field.documents, 1.0) / np.maximum(field.df, 1.0)), 0.0)


def _icf(field: Field) -> Array:
    return np.where(field.cf > 0, field.total / np.maximum(field.cf, 1.0), 0.0)


def _length(field: Field) -> Array:
    return np.maximum(field.lengths, 1.0)


def _shares(field: Field) -> Array:
    return np.asarray(field.counts / _length(field)[:, None])


@compiled
def bm25(counts: Array, worth: Array, lengths: Array, average: float, k1: float, b: float) -> Any:
    """Σ worth · c (k1 + 1)/(c + k1 (1 − b + b |d|/avg)) for each document."""
    found = np.zeros(len(counts))
    if average == 0.0:
        return found
    for i in range(len(counts)):
        norm = k1 * (1.0 - b + b * lengths[i] / average)
        for m in range(len(worth)):
            if counts[i, m] > 0.0:
                found[i] += worth[m] * counts[i, m] * (k1 + 1.0) / (counts[i, m] + norm)
    return found


@compiled
def covered(counts: Array) -> Any:
    """The number of different words that occur in each document."""
    found = np.zeros(len(counts))
    for i in range(len(counts)):
        for m in range(counts.shape[1]):
            found[i] += counts[i, m] > 0.0
    return found
