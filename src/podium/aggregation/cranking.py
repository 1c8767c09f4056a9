"""Cranking (Lebanon & Lafferty 2002): supervised rank aggregation by a generalised Mallows distribution.

    >>> from podium.aggregation import with_labels
    >>> from podium.aggregation.rankings.rankings import Rankings
    >>> votes = [[["A", "B", "C"], ["C", "B", "A"]], [["D", "E", "F"], ["F", "D", "E"]]]
    >>> rankings = Rankings.from_orders(votes, voters=["good", "bad"])
    >>> grades = {("0", "A"): 2, ("0", "B"): 1, ("1", "D"): 1, ("1", "E"): 2}
    >>> learned = Cranking().fit(with_labels(rankings, grades))
    >>> learned.theta[1] == 0.0  # the other voter is of no use
    np.True_

P(π | θ, Σ) = e^{Σ_j θ_j d(π, σ_j)} / Z(θ, Σ), θ ≤ 0, with one weight θ_j per voter. The final ranking of a judged query
is known up to its grades, so its likelihood is the sum over the strict rankings that agree with them. A list that ties
documents or leaves some out represents all strict rankings that agree with it, each as likely, and the likelihood is
the mean over them. If every query has at most 8 documents, and not too many ways to make its lists strict, all rankings
are enumerated; else Markov chains are run.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from podium.aggregation import cranking_exact as exact
from podium.aggregation.base import Consensus, Solved
from podium.aggregation.cranking_chain import Chain
from podium.aggregation.cranking_lists import CrankingQuery
from podium.aggregation.cranking_ranks import RankDistribution, simulated
from podium.aggregation.diagnostics import effective_size, r_hat, warn_if_unmixed
from podium.aggregation.permutations import KINDS, Distance
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.aggregation.rankings.rankings import Rankings
from podium.aggregation.supervised import SupervisedAggregator, Trained
from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.base.threads import default_threads, pool


@register
class Cranking(SupervisedAggregator):
    """The maximum likelihood of a generalised Mallows distribution; documents in the order of their expected ranks.

    Formula: P(π | θ, Σ) ∝ exp(Σ_j θ_j d(π, σ_j)), θ_j ≤ 0, d Kendall's distance, Spearman's footrule or Cayley's;
        max_θ Σ_q log (1/Π_j |G(σ_qj)|) Σ_{σ'∈G(σ_q)} Σ_{π∈G(π_q)} P(π | θ, σ'), G all strict rankings that agree.
    Ties: an unknown order, in lists and in grades. A voter silent on a query does not count there.
    Cost: enumerated, n!·V per query and step. By chains O(n²) per sweep (Cayley's O(V·n²)); `sweeps` + n/4 of them per
        chain to predict, `rounds` of 25 per query to train.
    Use it for: short lists, and the probability of each rank. For long lists voter-weights is faster and optimises the
        top of the list, which this distribution does not.
    Reference: Lebanon & Lafferty, Cranking: combining rankings using conditional probability models on permutations,
        ICML 2002; Li, Learning to Rank for Information Retrieval and NLP, 4.14.
    """

    sweeps: int = param(100, least=10)
    """Sweeps of each Markov chain to predict."""
    rounds: int = param(60, least=10)
    """Most rounds of training."""
    distance: Distance = "kendall"
    """Distance of two rankings: Kendall's, Spearman's footrule or Cayley's."""

    def fit(self, rankings: Rankings, *, seed: int = 0) -> Cranked:
        """Learn θ; `trust` is −θ. `record` has the log-likelihood if all was enumerated, else R-hat and more."""
        queries = [CrankingQuery.of(rankings.query(q), grades) for q, grades in self.judged(rankings)]
        how = _enumerate if all(map(exact.fits, queries)) else _simulate
        theta, record = how(self, queries, rankings.n_voters, seed)
        return Cranked(self, rankings.voters, -theta, {"queries": len(queries), **record}, seed)

    @property
    def kind_of_distance(self) -> int:
        return KINDS.index(self.distance)


@dataclass(frozen=True, eq=False, repr=False)
class Cranked(Trained):
    """Cranking's distribution with learned θ."""

    slow_above: ClassVar[int | None] = 500

    learner: Cranking
    seed: int

    @property
    def theta(self) -> Array:
        """The weight of each voter's distance, at most 0."""  # (V,)
        return 0.0 - self.trust

    def __call__(self, rankings: Rankings) -> Consensus:
        consensus = super().__call__(rankings)
        warn_if_unmixed(consensus.r_hats, f"{self}: the chains", more="sweeps")
        return consensus

    def solve(self, query: QueryRankings) -> Solved:
        lists, ranks = CrankingQuery.of(query), self.rank_distribution(query)
        return Solved(-ranks.settled(lists.borda(self.theta[lists.voters])), r_hat=ranks.r_hat)

    def rank_distribution(self, query: QueryRankings) -> RankDistribution:
        """The distribution of each document's rank, enumerated or from chains."""
        lists, kind = CrankingQuery.of(query), self.learner.kind_of_distance
        theta = self.theta[lists.voters]
        if exact.fits(lists):
            return RankDistribution(exact.Enumerated(lists, kind).marginals(theta), np.zeros(lists.n_documents), 1.0)
        rng = np.random.default_rng([self.seed, zlib.crc32(query.query_id.encode())])
        return simulated(lists, kind, theta, sweeps=self.learner.sweeps, rng=rng)


def _enumerate(how: Cranking, queries: list[CrankingQuery], n_voters: int, seed: int) -> tuple[Array, dict[str, Any]]:
    """θ by L-BFGS with bounds on the exact likelihood."""
    from scipy.optimize import minimize

    tables = [exact.Enumerated(query, how.kind_of_distance) for query in queries]

    def loss(theta: Array) -> tuple[float, Array]:
        value, gradient = 0.0, np.zeros(n_voters)
        for table in tables:
            likelihood, slope = table.likelihood(theta[table.query.voters])
            value -= likelihood
            gradient[table.query.voters] -= slope
        return value, gradient

    fitted = minimize(
        loss, np.full(n_voters, -0.1), jac=True, method="L-BFGS-B", bounds=[(_LEAST, 0.0)] * n_voters,
        options={"ftol": 1e-13, "gtol": 1e-9, "maxiter": 1000},
    )  # fmt: skip
    return np.asarray(fitted.x), {"how": "enumerated", "log_likelihood": -float(fitted.fun)}


_LEAST = -10.0  # the bound of θ for a voter who is always right: its neighbours change places with odds of e^−10


def _simulate(how: Cranking, queries: list[CrankingQuery], n_voters: int, seed: int) -> tuple[Array, dict[str, Any]]:
    """θ by stochastic Newton steps along persistent chains: full steps first, then ever shorter ones."""
    seeds = np.random.default_rng(seed).spawn(len(queries))
    chains = [_at_borda(query, how.kind_of_distance, rng) for query, rng in zip(queries, seeds, strict=True)]
    theta, bend = np.zeros(n_voters), np.zeros((n_voters, n_voters))
    for step in range(how.rounds):
        slope, new = np.zeros(n_voters), np.zeros((n_voters, n_voters))
        for chain, (of_final, of_free) in zip(chains, _train_all(chains, theta, _SWEEPS), strict=True):
            voters = chain.query.voters
            slope[voters] += of_final.mean(axis=0) - of_free.mean(axis=0)
            new[np.ix_(voters, voters)] += np.cov(of_free, rowvar=False).reshape(len(voters), len(voters))
        bend = new if step == 0 else 0.7 * bend + 0.3 * new
        size = 1.0 / (1.0 + max(0, step - how.rounds // 2))
        theta = theta + size * _newton(theta, slope, bend)
    record = _diagnose(chains, theta)
    warn_if_unmixed([record["r_hat"]], "cranking: the chains of training", more="rounds")
    return theta, {"how": "simulated", "rounds": how.rounds, **record}


_SWEEPS = 25  # per round and query


def _at_borda(query: CrankingQuery, kind: int, rng: np.random.Generator) -> Chain:
    return Chain(query, kind, rng, start=query.borda(np.zeros(len(query.voters))))


def _diagnose(chains: list[Chain], theta: Array) -> dict[str, float]:
    """R-hat and the effective size of Σ θ·d of the free ranking, the worst over the longest queries.

    The chain of training is compared with one that starts afresh, at random.
    """
    longest = sorted(chains, key=lambda chain: -chain.query.n_documents)[:_LOOKED_AT]
    fresh = [Chain(chain.query, chain.kind, chain.rng.spawn(1)[0]) for chain in longest]
    _train_all(fresh, theta, 10 * _SWEEPS)
    runs = [_train_all(group, theta, 40 * _SWEEPS) for group in (longest, fresh)]
    energies = [np.stack([run[q][1] @ theta[chain.query.voters] for run in runs]) for q, chain in enumerate(longest)]
    return {"r_hat": max(float(r_hat(e)) for e in energies), "effective_size": min(map(effective_size, energies))}


_LOOKED_AT = 8  # queries whose chains are diagnosed


def _train_all(chains: list[Chain], theta: Array, sweeps: int) -> list[tuple[Array, Array]]:
    """Run every chain, each with its own generator, so that results do not depend on threads."""
    first = chains[0].train(theta[chains[0].query.voters], sweeps)  # compiles
    rest = pool(default_threads()).map(lambda chain: chain.train(theta[chain.query.voters], sweeps), chains[1:])
    return [first, *rest]


def _newton(theta: Array, slope: Array, bend: Array) -> Array:
    """The step δ of least ½ δᵀ·bend·δ − slope·δ with θ + δ within its bounds."""
    from scipy.optimize import lsq_linear

    ridge = 1e-6 * np.trace(bend) / len(theta) + 1e-12  # a voter without lists has no curvature
    root = np.linalg.cholesky(bend + ridge * np.eye(len(theta)))
    bounds = (_LEAST - 1e-9 - theta, 1e-9 - theta)
    step: Array = lsq_linear(root.T, np.linalg.solve(root, slope), bounds=bounds).x
    return np.clip(theta + step, _LEAST, 0.0) - theta
