"""Features of the query alone, the same for all its documents: of use to trees only, together with others."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.text.features.base import WHOLE, Context, Feature, FieldFeature
from podium.text.features.matching import icf, idf


@compiled
def _idf(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for t in range(len(times)):
        found += idf(terms, totals, t) * times[t]


@compiled
def _log_idf(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for t in range(len(times)):
        found += np.log(max(idf(terms, totals, t), 1.0)) * times[t]


@compiled
def _log_icf(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for t in range(len(times)):
        found += np.log1p(icf(terms, totals, t)) * times[t]


@compiled
def _idf_max(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    for t in range(len(times)):
        found[:] = np.maximum(found, idf(terms, totals, t))


@register
class QueryTerms(Feature):
    """The number of words of the query that the index knows, stop words left out."""

    name = "query_terms"
    of_query = True

    def values(self, context: Context) -> Array:
        return np.full(len(context), context.query.length)


@register
class IDF(FieldFeature):
    """Σ ln(N/df); a word that is in no document's field is left out. The same for all documents."""

    name, kernel = "idf", _idf
    of_query = True
    field: str = WHOLE


@register
class LogIDF(FieldFeature):
    """Σ ln ln(N/df), where N/df > e; 0 for other words. The same for all documents."""

    name, kernel = "log_idf", _log_idf
    of_query = True
    field: str = WHOLE


@register
class LogICF(FieldFeature):
    """Σ ln(1 + |C|/cf). The same for all documents."""

    name, kernel = "log_icf", _log_icf
    of_query = True
    field: str = WHOLE


@register
class IDFMax(FieldFeature):
    """The largest ln(N/df) of the words of the query."""

    name, kernel = "idf_max", _idf_max
    of_query = True
    field: str = WHOLE
