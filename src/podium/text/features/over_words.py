"""Minimum, maximum, mean and variance of term counts over the different words of a query."""

from __future__ import annotations

from typing import Literal

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.text.features.base import WHOLE, FieldFeature
from podium.text.features.matching import idf

Of = Literal["tf", "norm_tf", "tfidf"]
"""Of c, of c/|d|, or of c ln(N/df)."""


@compiled
def _value(counts: Array, sizes: Array, terms: Array, totals: Array, of: float, i: int, t: int) -> float:
    c: float = counts[i, t]
    if of == 1.0:
        share: float = c / max(sizes[0, i], 1.0)
        return share
    return c * idf(terms, totals, t) if of == 2.0 else c


@compiled
def _min(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            value = _value(counts, sizes, terms, totals, params[0], i, t)
            out[i] = value if t == 0 else min(out[i], value)


@compiled
def _max(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            out[i] = max(out[i], _value(counts, sizes, terms, totals, params[0], i, t))


@compiled
def _mean(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            out[i] += _value(counts, sizes, terms, totals, params[0], i, t)
        out[i] /= max(len(times), 1)


@compiled
def _var(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    _mean(counts, times, sizes, terms, totals, params, out)
    for i in range(len(counts)):
        mean, out[i] = out[i], 0.0
        for t in range(len(times)):
            out[i] += (_value(counts, sizes, terms, totals, params[0], i, t) - mean) ** 2
        out[i] /= max(len(times), 1)


@register
class MinTF(FieldFeature):
    """The minimum of c over the different words of the query (or c/|d|, or c ln(N/df))."""

    name, kernel = "min_tf", _min
    field: str = WHOLE
    of: Of = "tf"
    """What is counted of each word: c, c/|d| (`norm_tf`) or c ln(N/df) (`tfidf`)."""


@register
class MaxTF(FieldFeature):
    """The maximum of c over the different words of the query (or c/|d|, or c ln(N/df))."""

    name, kernel = "max_tf", _max
    field: str = WHOLE
    of: Of = "tf"
    """What is counted of each word: c, c/|d| (`norm_tf`) or c ln(N/df) (`tfidf`)."""


@register
class MeanTF(FieldFeature):
    """The mean of c over the different words of the query (or c/|d|, or c ln(N/df))."""

    name, kernel = "mean_tf", _mean
    field: str = WHOLE
    of: Of = "tf"
    """What is counted of each word: c, c/|d| (`norm_tf`) or c ln(N/df) (`tfidf`)."""


@register
class VarTF(FieldFeature):
    """The variance of c over the m different words of the query, divided by m (or of c/|d|, or of c ln(N/df))."""

    name, kernel = "var_tf", _var
    field: str = WHOLE
    of: Of = "tf"
    """What is counted of each word: c, c/|d| (`norm_tf`) or c ln(N/df) (`tfidf`)."""
