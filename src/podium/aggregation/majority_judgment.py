"""Majority judgment: the median of the voters' grades, ties by the grades around it (Balinski & Laraki 2007).

>>> from podium.aggregation.rankings.rankings import Rankings
>>> votes = Rankings.from_entries(["q"] * 6, list("xxyyzz"), list("ABABAB"), scores=[5.0, 4.0, 1.0, 3.0, 2.0, 0.0])
>>> MajorityJudgment()(votes).order(0)  # medians 2 and 3
['B', 'A']
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.aggregation.ballots import whole
from podium.aggregation.base import Aggregator
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array
from podium.base.registry import register


@register
class MajorityJudgment(Aggregator):
    """Majority judgment: documents by their median grade; the voters' scores are grades on one scale.

    Formula: the grade at the middle of a document's grades, the lower one if there are two. Of documents that agree in
        it, one voter of the median is taken out of each, and the next medians are compared, until they differ.
    Ties: documents with the same grades are tied. A document that a list leaves out is below every grade there.
    Cost: O(V·n log n) per query for each median that is compared.
    Use it for: grades of judges whose scale means the same to all; a few extreme grades do not move a median. It may
        place a document below another that most voters prefer.
    Reference: Balinski & Laraki, A theory of measuring, electing, and ranking, PNAS 2007.
    """

    needs_scores: ClassVar[bool] = True

    def one(self, query: QueryRankings) -> Array:
        speaks = np.diff(query.offsets) > 0
        grades = np.full((query.n_voters, query.n_documents), -np.inf)
        grades[query.voter_of, query.documents] = query.scores
        grades, weights = grades[speaks], query.weights[speaks]
        order = np.argsort(grades, axis=0, kind="stable")
        grades = np.take_along_axis(grades, order, axis=0)
        reached = whole(2.0 * np.cumsum(weights[order], axis=0), query)  # (V, n) twice the weight up to each grade
        middle, level = 0.5 * reached[-1].min(), np.zeros(query.n_documents)
        for away in np.unique(np.append(np.abs(reached - middle), 0.0)):
            if away >= middle:
                break
            below, above = (reached < middle - away).sum(axis=0), (reached <= middle + away).sum(axis=0)
            above, columns = np.minimum(above, len(grades) - 1), np.arange(query.n_documents)
            level = _levels(level, grades[below, columns], grades[above, columns])
        return level


def _levels(*keys: Array) -> Array:
    """The dense rank from 0 of each document, by the first key, then the second, and so on."""
    order = np.lexsort(keys[::-1])
    rises = np.zeros(len(order), bool)
    for key in keys:
        rises[1:] |= key[order][1:] != key[order][:-1]
    levels = np.empty(len(order))
    levels[order] = np.cumsum(rises)
    return levels
