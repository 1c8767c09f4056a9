"""The least, largest and mean count over the different words of a query, and its variance."""

from __future__ import annotations

from typing import Any, Literal

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.text.features.base import WHOLE, FieldFeature
from podium.text.features.matching import idf

Of = Literal["tf", "norm_tf", "tfidf"]
"""Of c, of c/|d|, or of c ln(N/df)."""


@compiled
def _value(counts: Array, sizes: Array, terms: Array, totals: Array, of: float, i: int, t: int) -> Any:
    c = counts[i, t]
    if of == 1.0:
        return c / max(sizes[0, i], 1.0)
    return c * idf(terms, totals, t) if of == 2.0 else c


@compiled
def _min(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            value = _value(counts, sizes, terms, totals, params[0], i, t)
            found[i] = value if t == 0 else min(found[i], value)


@compiled
def _max(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            found[i] = max(found[i], _value(counts, sizes, terms, totals, params[0], i, t))


@compiled
def _mean(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for i in range(len(counts)):
        for t in range(len(times)):
            found[i] += _value(counts, sizes, terms, totals, params[0], i, t)
        found[i] /= max(len(times), 1)


@compiled
def _var(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    _mean(counts, times, sizes, terms, totals, params, found)
    for i in range(len(counts)):
        mean, found[i] = found[i], 0.0
        for t in range(len(times)):
            found[i] += (_value(counts, sizes, terms, totals, params[0], i, t) - mean) ** 2
        found[i] /= max(len(times), 1)


@register
class MinTF(FieldFeature):
    """The least c over the different words of the query (or c/|d|, or c ln(N/df))."""

    name, kernel = "min_tf", _min
    field: str = WHOLE
    of: Of = "tf"


@register
class MaxTF(FieldFeature):
    """The largest c over the different words of the query (or c/|d|, or c ln(N/df))."""

    name, kernel = "max_tf", _max
    field: str = WHOLE
    of: Of = "tf"


@register
class MeanTF(FieldFeature):
    """The mean c over the different words of the query (or c/|d|, or c ln(N/df))."""

    name, kernel = "mean_tf", _mean
    field: str = WHOLE
    of: Of = "tf"


@register
class VarTF(FieldFeature):
    """The variance of c over the m different words of the query, divided by m (or of c/|d|, or of c ln(N/df))."""

    name, kernel = "var_tf", _var
    field: str = WHOLE
    of: Of = "tf"
