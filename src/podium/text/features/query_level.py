"""Features of the query alone, the same for all its documents: of use to trees only, together with others."""

from __future__ import annotations

import numpy as np

from podium.registry import register
from podium.text.features.base import WHOLE, Array, Context, Feature
from podium.text.features.matching import idf


@register
class QueryTerms(Feature):
    """The number of words of the query that the index knows, stop words left out."""

    name = "query_terms"
    of_query = True

    def values(self, context: Context) -> Array:
        return np.full(len(context), context.query.length)


@register
class IDFMax(Feature):
    """The largest ln(N/df) of the words of the query."""

    name = "idf_max"
    of_query = True
    field: str = WHOLE

    def values(self, context: Context) -> Array:
        return np.full(len(context), idf(context.field(self.field)).max(initial=0.0))
