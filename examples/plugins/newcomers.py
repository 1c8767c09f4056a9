"""Newcomers: every third rank goes to the best document that would otherwise stand last."""

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.rerankers import QueryView, Reranker


@register
class Newcomers(Reranker):
    """Ranks in turn: some by relevance, then one from the second half of the list, so that it can earn clicks.

    Formula: rank r takes the most relevant document left, but every `turn`-th rank the most relevant of those left
        that are below the median of the query.
    Ties: the first document.
    Cost: O(n log n) per query.
    Use it for: giving new documents a chance.
    Reference: none.
    """

    turn: int = param(default=3, least=2)
    """Every how many ranks a document of the second half is taken."""
    name = "newcomers"

    def choose(self, relevance: Array, query: QueryView, count: int) -> Ints:
        best = np.argsort(-relevance, kind="stable").tolist()
        second = best[(len(best) + 1) // 2 :]
        chosen: list[int] = []
        while len(chosen) < count:
            if second and (len(chosen) + 1) % self.turn == 0:
                taken = second.pop(0)
            else:
                taken = next(d for d in best if d not in chosen)
                second = [d for d in second if d != taken]
            chosen.append(taken)
        return np.array(chosen, np.int64)
