"""Features of the query alone, equal for all its documents: useful to tree ensembles, together with others."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.text.features.base import WHOLE, Context, Feature, FieldFeature
from podium.text.features.matching import icf, idf


@compiled
def _idf(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    for t in range(len(times)):
        out += idf(terms, totals, t) * times[t]


@compiled
def _log_idf(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    for t in range(len(times)):
        out += np.log(max(idf(terms, totals, t), 1.0)) * times[t]


@compiled
def _log_icf(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    for t in range(len(times)):
        out += np.log1p(icf(terms, totals, t)) * times[t]


@compiled
def _idf_max(counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array) -> None:
    for t in range(len(times)):
        out[:] = np.maximum(out, idf(terms, totals, t))


@register
class QueryTerms(Feature):
    """The number of words of the query that the index knows, stop words left out."""

    name = "query_terms"
    of_query = True

    def values(self, context: Context) -> Array:
        return np.full(len(context), context.query.length)


@register
class IDF(FieldFeature):
    """Inverse document frequency: Σ ln(N/df) without words that no document has in this field."""

    name, kernel = "idf", _idf
    of_query = True
    field: str = WHOLE


@register
class LogIDF(FieldFeature):
    """Σ ln ln(N/df) over words with N/df > e."""

    name, kernel = "log_idf", _log_idf
    of_query = True
    field: str = WHOLE


@register
class LogICF(FieldFeature):
    """Inverse collection frequency: Σ ln(1 + |C|/cf)."""

    name, kernel = "log_icf", _log_icf
    of_query = True
    field: str = WHOLE


@register
class IDFMax(FieldFeature):
    """The largest ln(N/df) of the words of the query."""

    name, kernel = "idf_max", _idf_max
    of_query = True
    field: str = WHOLE
