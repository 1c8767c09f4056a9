"""The binary independence model: which query terms a document has, not how often."""

from typing import Any

import numpy as np

from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.text.query import Query
from podium.text.retrieval.base import Statistics, Sums, Totals, WordRetrieval


@register
class BIM(WordRetrieval):
    """Σ_t ln(1 + (N − df + ½)/(df + ½)) over the different query terms that a document has.

    Use it for: titles, tags and other short fields, in which repetition says nothing.
    Reference: Robertson & Spärck Jones, Relevance weighting of search terms, 1976, without relevance judgments.
    """

    name = "bim"
    fields: tuple[str, ...] = ()

    def scores(self, sums: Sums, query: Query, statistics: Statistics, totals: Totals) -> int:
        df = statistics.df[:, -1]
        weights = np.log1p((statistics.documents - df + 0.5) / (df + 0.5))
        return int(_add(sums.places, weights, *sums.postings, sums.dead, *sums.scratch))


@compiled
def _add(
    places: Any, weights: Any, pointers: Any, rows: Any, counts: Any, dead: Any, scores: Any, seen: Any, touched: Any
) -> int:
    """Add the weights of terms to the documents of their postings, and list the documents."""
    n = 0
    for m in range(len(places)):
        if places[m] < 0:
            continue
        for p in range(pointers[places[m]], pointers[places[m] + 1]):
            d = rows[p]
            if counts[p] == 0 or dead[d]:
                continue
            if not seen[d]:
                seen[d] = True
                touched[n] = d
                n += 1
            scores[d] += weights[m]
    return n
