"""Lists of all voters on one query, as `Rankings.query` returns them.

>>> from podium.aggregation.rankings.rankings import Rankings
>>> votes = Rankings.from_orders([[["A", "B", "C"], ["B"]]]).query(0)
>>> votes.completed().matrix()
array([[1., 2., 3.],
       [2., 1., 2.]])
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled
from podium.parsing.ids import Ids


@dataclass(frozen=True, eq=False)
class QueryRankings:
    """The lists of all voters on one query; entries of voter v are offsets[v]:offsets[v+1], best first."""

    query_id: str
    document_ids: Ids  # (n,)
    documents: Ints  # (e,)
    ranks: Ints  # (e,)
    scores: Array  # (e,)
    offsets: Ints  # (V+1,)
    weights: Array  # (V,)

    @property
    def n_documents(self) -> int:
        return len(self.document_ids)

    @property
    def n_voters(self) -> int:
        return len(self.weights)

    def matrix(self) -> Array:
        """Each voter's rank of each document, NaN if it has none."""  # (V, n)
        places = np.full((self.n_voters, self.n_documents), np.nan)
        places[self.voter_of, self.documents] = self.ranks
        return places

    @property
    def voter_of(self) -> Ints:
        """The voter of each entry."""  # (e,)
        return np.repeat(np.arange(self.n_voters), np.diff(self.offsets))

    def completed(self) -> QueryRankings:
        """The lists with missing documents added below, tied; silent voters stay silent."""
        n, sizes = self.n_documents, np.diff(self.offsets)
        if ((sizes == n) | (sizes == 0)).all():
            return self
        offsets = np.concatenate([[0], np.cumsum(np.where(sizes > 0, n, 0))]).astype(np.int64)
        documents, ranks = np.empty(offsets[-1], np.int64), np.empty(offsets[-1], np.int64)
        scores = np.full(offsets[-1], np.nan)
        _complete(n, self.documents, self.ranks, self.scores, self.offsets, documents, ranks, scores)
        return replace(self, documents=documents, ranks=ranks, scores=scores, offsets=offsets)


@compiled
def _complete(
    n: int,
    documents: Ints,
    ranks: Ints,
    scores: Array,
    offsets: Ints,
    all_documents: Ints,
    all_ranks: Ints,
    all_scores: Array,
) -> None:
    """Copy each list and put the documents it lacks after it, one rank below its last."""
    at = 0
    for v in range(len(offsets) - 1):
        if offsets[v] == offsets[v + 1]:
            continue
        lacks = np.ones(n, np.bool_)
        for e in range(offsets[v], offsets[v + 1]):
            all_documents[at], all_ranks[at], all_scores[at] = documents[e], ranks[e], scores[e]
            lacks[documents[e]] = False
            at += 1
        below = ranks[offsets[v + 1] - 1] + 1
        for j in range(n):
            if lacks[j]:
                all_documents[at], all_ranks[at] = j, below
                at += 1
