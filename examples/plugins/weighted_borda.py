"""Borda counts in which each voter has the weight of its average precision on judged queries."""

from dataclasses import dataclass, replace

import numpy as np

from podium.aggregation.borda import Borda
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.aggregation.rankings.rankings import Rankings
from podium.aggregation.supervised import SupervisedAggregator, Trained
from podium.base.arrays import Array
from podium.base.registry import register


@register
class WeightedBorda(SupervisedAggregator):
    """Weighted Borda-fuse.

    Formula: s(j) = Σ_v w_v·(n − σ_v(j)), w_v the mean average precision of voter v over the judged queries.
    Ties: documents that a voter ties have the mean of their places; precision takes them in the order of the list.
    Cost: O(entries).
    Use it for: few judged queries, too few for voter-weights.
    Reference: Aslam & Montague, Models for metasearch, SIGIR 2001.
    """

    def fit(self, rankings: Rankings, *, seed: int = 0) -> Trained:
        judged = self.judged(rankings)
        precision = np.array([_average_precisions(rankings.query(q), grades > 0) for q, grades in judged])
        return BordaOfVoters(self, rankings.voters, precision.mean(axis=0), {"queries": len(judged)})


@dataclass(frozen=True, eq=False, repr=False)
class BordaOfVoters(Trained):
    """Borda with learned weights."""

    def one(self, query: QueryRankings) -> Array:
        return Borda().one(replace(query, weights=self.trust))


def _average_precisions(query: QueryRankings, relevant: np.ndarray) -> Array:
    """The average precision of each voter's list; documents that it leaves out are not retrieved."""  # (V,)
    values = np.zeros(query.n_voters)
    for v, (start, end) in enumerate(zip(query.offsets[:-1], query.offsets[1:], strict=True)):
        hits = relevant[query.documents[start:end]]
        precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
        values[v] = (precision * hits).sum() / relevant.sum()
    return values
