"""The share of a query's rare words that a field has."""

from typing import Any

from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.text.features.base import WHOLE, FieldFeature
from podium.text.features.matching import idf


@compiled
def share(counts: Any, times: Any, sizes: Any, terms: Any, totals: Any, params: Any, found: Any) -> None:
    """Σ over terms in the field of times·idf, divided by the same sum over all terms; 0 if that sum is 0."""
    total = 0.0
    for t in range(len(times)):
        total += times[t] * idf(terms, totals, t)
    if total == 0.0:
        return
    for i in range(len(counts)):
        for t in range(len(times)):
            if counts[i, t] > 0.0:
                found[i] += times[t] * idf(terms, totals, t) / total


@register
class IDFShare(FieldFeature):
    """Coverage of the query by a field, each term weighted by ln(N/df)."""

    name, kernel = "idf_share", share
    field: str = WHOLE
