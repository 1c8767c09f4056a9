"""Voter weights: supervised rank fusion with any learning-to-rank method, on features from the voters' lists.

    >>> from podium.aggregation import SupervisedAggregator
    >>> SupervisedAggregator.parse("voter-weights(method=lambdamart)")
    voter-weights(method=lambdamart)

Each voter gives a document four features: whether it ranks it, 1/place, its share of the Borda points, and its score,
scaled to [0, 1] within the list, if all its lists have scores. A document missing from a voter's list has 0 in all
four. On these any method trains as on other features; a linear one learns weights of voters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.aggregation.borda import mean_places
from podium.aggregation.combsum import normalised
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.aggregation.rankings.rankings import Rankings
from podium.aggregation.supervised import SupervisedAggregator, Trained
from podium.base.arrays import Array, Flags, Singles
from podium.base.errors import IncompatibleError
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.methods import method as named
from podium.model import Model
from podium.training import train


@register
class VoterWeights(SupervisedAggregator):
    """A ranking method trained on rank-derived features of the voters.

    Formula: s(j) = f(x_j), x_j the four features above from each voter; f and its loss are those of `method`.
    Ties: tied documents take the mean of their places.
    Cost: that of `method` on 4·V features.
    Use it for: metasearch and hybrid retrieval with some judged queries; the first thing to try.
    Reference: Aslam & Montague, Models for metasearch, SIGIR 2001 (weighted fusion); Liu, Liu, Qin, Ma & Li,
        Supervised rank aggregation, WWW 2007.
    """

    method: str = "listnet"
    """Ranking method that is trained."""

    def __post_init__(self) -> None:
        super().__post_init__()
        named(self.method)  # raises an error if there is no such method

    def fit(self, rankings: Rankings, *, seed: int = 0) -> WeightedVoters:
        """Train the method; `trust` is the change of the scores without a voter, as shares of 1."""
        queries, scored = self.judged(rankings), _scored(rankings)
        parts = [features(rankings.query(q), scored) for q, _ in queries]
        labels = np.concatenate([grades for _, grades in queries])
        data = Dataset.from_arrays(np.concatenate(parts), labels, group=[len(part) for part in parts]).grouped()
        model = train(data, self.method, seed=seed)
        trust, record = _trust(model, data, rankings.n_voters), {"queries": len(queries)}
        return WeightedVoters(self, rankings.voters, trust, record, model, scored)


@dataclass(frozen=True, eq=False, repr=False)
class WeightedVoters(Trained):
    """Ranking model on features from the voters' lists."""

    model: Model
    scored: Flags  # (V,) voters whose scores are features

    def check(self, rankings: Rankings) -> None:
        super().check(rankings)
        lacking = np.flatnonzero(self.scored & ~_scored(rankings))
        if len(lacking):
            raise IncompatibleError(
                f"{rankings.source(int(lacking[0]))}: voter-weights was trained with the scores of voter "
                f"{self.voters[lacking[0]]}, which gives none for some query here. Train on ranks alone, or add scores."
            )

    def one(self, query: QueryRankings) -> Array:
        return self.model.score(Dataset.from_arrays(features(query, self.scored)))


def features(query: QueryRankings, scored: Flags) -> Singles:
    """Features of each document from each voter: presence, 1/place, Borda share, normalised score."""  # (n, 4·V)
    x = np.zeros((query.n_documents, query.n_voters, 4), np.float32)
    places = mean_places(query.ranks, query.offsets)
    length = np.repeat(np.diff(query.offsets), np.diff(query.offsets))
    voter, document = query.voter_of, query.documents
    x[document, voter, 0] = 1.0
    x[document, voter, 1] = 1.0 / places
    x[document, voter, 2] = (length + 1 - places) / length
    if scored.any():
        x[document, voter, 3] = np.where(scored[voter], normalised(query, "minmax"), 0.0)
    return x.reshape(query.n_documents, -1)


def _scored(rankings: Rankings) -> Flags:
    """The voters that give a score wherever they give a rank."""  # (V,)
    sizes = np.diff(rankings.entry_offsets)
    voter = np.repeat(np.tile(np.arange(rankings.n_voters), rankings.n_queries), sizes)
    missing = np.bincount(voter, np.isnan(rankings.scores), minlength=rankings.n_voters)
    return np.asarray(missing == 0)


def _trust(model: Model, data: Dataset, n_voters: int) -> Array:
    """The root mean square change of scores within their queries if a voter ranks nothing."""  # (V,)
    base, moved = model.score(data), np.zeros(n_voters)
    sizes = np.diff(data.offsets)
    for v in range(n_voters):
        silent = np.array(data.features)
        silent[:, 4 * v : 4 * v + 4] = 0.0
        change = base - model.score(Dataset.from_arrays(silent, group=sizes))
        means = np.add.reduceat(change, data.offsets[:-1]) / sizes
        moved[v] = np.sqrt(np.mean((change - np.repeat(means, sizes)) ** 2))
    return moved / max(float(moved.sum()), np.finfo(float).tiny)
