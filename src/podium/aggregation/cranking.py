"""Cranking (Lebanon & Lafferty 2002): a law of the final ranking given the voters', with a weight per voter.

    >>> from podium.aggregation import with_labels
    >>> from podium.data.rankings import Rankings
    >>> votes = [[["A", "B", "C"], ["C", "B", "A"]], [["D", "E", "F"], ["F", "D", "E"]]]
    >>> rankings = Rankings.from_orders(votes, voters=["good", "bad"])
    >>> grades = {("0", "A"): 2, ("0", "B"): 1, ("1", "D"): 1, ("1", "E"): 2}
    >>> learned = Cranking().fit(with_labels(rankings, grades))
    >>> learned.theta[1] == 0.0  # the other voter says nothing of use
    np.True_

P(π | θ, Σ) = e^{Σ_j θ_j d(π, σ_j)} / Z(θ, Σ), θ ≤ 0. The final ranking of a judged query is known up to its grades, so
its likelihood is the sum over the strict rankings that agree with them. A list that ties documents or leaves some out
stands for all strict rankings that agree with it, each as likely, and the likelihood is the mean over them. Where
every query has at most 8 documents, and not too many ways to make its lists strict, all is enumerated; else Markov
chains are run.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.aggregation import cranking_exact as exact
from podium.aggregation.base import Array
from podium.aggregation.cranking_chain import Chain
from podium.aggregation.cranking_lists import CrankingQuery, Ints
from podium.aggregation.diagnostics import effective_size, r_hat
from podium.aggregation.permutations import KINDS, Distance
from podium.aggregation.supervised import SupervisedAggregator, Trained
from podium.data.query_rankings import QueryRankings
from podium.data.rankings import Rankings
from podium.registry import param, register
from podium.threads import default_threads, pool


@dataclass(frozen=True, eq=False)
class RankLaw:
    """The law of each document's rank on one query."""

    marginals: Array  # (n, n) P(document i has rank r + 1) at [i, r]
    r_hat: float  # the worst over documents; 1 where all rankings were enumerated
    effective_size: float  # draws that tell the mean rank as well, the fewest over documents; infinite if enumerated

    @property
    def expected(self) -> Array:
        """The expected rank of each document."""  # (n,)
        ranks: Array = self.marginals @ np.arange(1.0, len(self.marginals) + 1)
        return ranks


@register
class Cranking(SupervisedAggregator):
    """The maximum likelihood of a generalised Mallows law; documents in the order of their expected ranks.

    Formula: P(π | θ, Σ) ∝ exp(Σ_j θ_j d(π, σ_j)), θ_j ≤ 0, d Kendall's distance, Spearman's footrule or Cayley's;
        max_θ Σ_q log (1/Π_j |G(σ_qj)|) Σ_{σ'∈G(σ_q)} Σ_{π∈G(π_q)} P(π | θ, σ'), G all strict rankings that agree.
    Ties: in lists and grades alike, an order that is not known. A voter silent on a query does not count there.
    Cost: enumerated, n!·V per query and step. By chains, O(V) per exchange of neighbours (Cayley's O(V·n)), 4·n of
        them per `sweep`; training runs `rounds` of 25 sweeps per query.
    Use it for: short lists, and where the odds of each rank are wanted. For long ones voter-weights is faster and
        aims at the top of the list, which this law does not.
    Reference: Lebanon & Lafferty, Cranking: combining rankings using conditional probability models on permutations,
        ICML 2002; Li, Learning to Rank for Information Retrieval and NLP, 4.14.
    """

    sweeps: int = param(250, least=10)
    rounds: int = param(60, least=10)
    distance: Distance = "kendall"

    def fit(self, rankings: Rankings, *, seed: int = 0) -> Cranked:
        """Learn θ; `trust` is −θ. `record` has the log-likelihood where all was enumerated, else R-hat and more."""
        queries = [CrankingQuery.of(rankings.query(q), grades) for q, grades in self.judged(rankings)]
        how = _enumerate if all(map(exact.fits, queries)) else _simulate
        theta, record = how(self, queries, rankings.n_voters, seed)
        return Cranked(self, rankings.voters, -theta, {"queries": len(queries), **record}, seed)

    @property
    def kind_of_distance(self) -> int:
        return KINDS.index(self.distance)


@dataclass(frozen=True, eq=False, repr=False)
class Cranked(Trained):
    """Cranking's law with its θ."""

    learner: Cranking
    seed: int

    @property
    def theta(self) -> Array:
        """The weight of each voter's distance, at most 0."""  # (V,)
        return 0.0 - self.trust

    def one(self, query: QueryRankings) -> Array:
        return -self.rank_law(query, diagnose=False).expected

    def rank_marginals(self, query: QueryRankings) -> Array:
        """P(document i has rank r + 1) at [i, r]."""  # (n, n)
        return self.rank_law(query, diagnose=False).marginals

    def rank_law(self, query: QueryRankings, *, diagnose: bool = True) -> RankLaw:
        """The law of each document's rank, enumerated or from chains; these may go without diagnostics."""
        lists, kind = CrankingQuery.of(query), self.learner.kind_of_distance
        theta = self.theta[lists.voters]
        if exact.fits(lists):
            return RankLaw(exact.Enumerated(lists, kind).marginals(theta), 1.0, float("inf"))
        rng = np.random.default_rng([self.seed, zlib.crc32(query.query_id.encode())])
        n, sweeps = lists.n_documents, self.learner.sweeps
        worst, least, law = 1.0, 0.0, np.zeros((n, n))
        ways, chains = ([lists.complete(rng)], 4) if lists.completions == 1 else (_in_pairs(lists, rng), 2)
        for sigma in ways:
            traces = _traces(lists, kind, theta, sigma=sigma, chains=chains, sweeps=sweeps, rng=rng)  # (C, S, n)
            for i in range(n):
                law[i] += np.bincount(traces[:, :, i].ravel(), minlength=n)
            if diagnose:
                worst = max(worst, max(r_hat(traces[:, :, i]) for i in range(n)))
                least += min(effective_size(traces[:, :, i]) for i in range(n))
        return RankLaw(law / law.sum(axis=1, keepdims=True), worst, least)


def _in_pairs(lists: CrankingQuery, rng: np.random.Generator) -> list[Ints]:
    """Ways to make the lists strict, each with the one that turns every tied group round.

    Over such a pair every document of a group has the same mean place, so that their chance differences cancel.
    """
    found = []
    for _ in range(_PAIRS):
        sigma = lists.complete(rng)
        ends = np.array([np.cumsum(np.bincount(row))[row] for row in lists.groups])  # (L, n)
        sizes = np.array([np.bincount(row)[row] for row in lists.groups])
        found += [sigma, 2 * ends - sizes - 1 - sigma]
    return found


_PAIRS = 4


def _traces(
    lists: CrankingQuery,
    kind: int,
    theta: Array,
    *,
    sigma: Ints,
    chains: int,
    sweeps: int,
    rng: np.random.Generator,
) -> Ints:
    """The places of every document along chains that start apart, their first part left out."""  # (C, S, n)
    found = []
    for _ in range(chains):
        chain = Chain(lists, kind, rng, judged=False)
        chain.sigma = sigma
        chain.run(theta, sweeps // 2 + lists.n_documents // 2)
        found.append(chain.run(theta, sweeps)[2])
    return np.stack(found)


def _enumerate(how: Cranking, queries: list[CrankingQuery], n_voters: int, seed: int) -> tuple[Array, dict[str, Any]]:
    """θ by L-BFGS with bounds on the exact likelihood."""
    from scipy.optimize import minimize

    tables = [exact.Enumerated(query, how.kind_of_distance) for query in queries]

    def loss(theta: Array) -> tuple[float, Array]:
        value, gradient = 0.0, np.zeros(n_voters)
        for table in tables:
            one, slope = table.likelihood(theta[table.query.voters])
            value -= one
            gradient[table.query.voters] -= slope
        return value, gradient

    found = minimize(
        loss, np.full(n_voters, -0.1), jac=True, method="L-BFGS-B", bounds=[(_LEAST, 0.0)] * n_voters,
        options={"ftol": 1e-13, "gtol": 1e-9, "maxiter": 1000},
    )  # fmt: skip
    return np.asarray(found.x), {"how": "enumerated", "log_likelihood": -float(found.fun)}


_LEAST = -10.0  # θ stops here where a voter is always right: its neighbours change places with odds of e^−10


def _simulate(how: Cranking, queries: list[CrankingQuery], n_voters: int, seed: int) -> tuple[Array, dict[str, Any]]:
    """θ by stochastic Newton steps along chains that are carried on: whole ones first, then ever shorter."""
    kind = how.kind_of_distance
    seeds = np.random.default_rng(seed).spawn(len(queries))
    chains = [Chain(query, kind, rng, judged=True) for query, rng in zip(queries, seeds, strict=True)]
    theta, bend = np.zeros(n_voters), np.zeros((n_voters, n_voters))
    for step in range(how.rounds):
        slope, new = np.zeros(n_voters), np.zeros((n_voters, n_voters))
        for chain, (of_final, of_free, _) in zip(chains, _run_all(chains, theta, _SWEEPS), strict=True):
            mine = chain.query.voters
            slope[mine] += of_final.mean(axis=0) - of_free.mean(axis=0)
            new[np.ix_(mine, mine)] += np.cov(of_free, rowvar=False).reshape(len(mine), len(mine))
        bend = new if step == 0 else 0.7 * bend + 0.3 * new
        size = 1.0 / (1.0 + max(0, step - how.rounds // 2))
        theta = theta + size * _newton(theta, slope, bend)
    return theta, {"how": "simulated", "rounds": how.rounds, **_diagnose(chains, theta)}


_SWEEPS = 25  # per round and query


def _diagnose(chains: list[Chain], theta: Array) -> dict[str, float]:
    """R-hat and the effective size of Σ θ·d of the free ranking, the worst over the longest queries.

    The chain that training has carried on is held against one that starts afresh.
    """
    longest = sorted(chains, key=lambda chain: -chain.query.n_documents)[:_LOOKED_AT]
    fresh = [Chain(chain.query, chain.kind, chain.rng.spawn(1)[0], judged=True) for chain in longest]
    _run_all(fresh, theta, 10 * _SWEEPS)
    runs = [_run_all(some, theta, 40 * _SWEEPS) for some in (longest, fresh)]
    energies = [np.stack([run[q][1] @ theta[chain.query.voters] for run in runs]) for q, chain in enumerate(longest)]
    return {"r_hat": max(map(r_hat, energies)), "effective_size": min(map(effective_size, energies))}


_LOOKED_AT = 8  # queries whose chains are diagnosed


def _run_all(chains: list[Chain], theta: Array, sweeps: int) -> list[tuple[Any, Any, Any]]:
    """Every chain moved on, each with its own generator, so that threads change nothing."""
    first = chains[0].run(theta[chains[0].query.voters], sweeps)  # compiles
    rest = pool(default_threads()).map(lambda chain: chain.run(theta[chain.query.voters], sweeps), chains[1:])
    return [first, *rest]


def _newton(theta: Array, slope: Array, bend: Array) -> Array:
    """The step δ of least ½ δᵀ·bend·δ − slope·δ with θ + δ within its bounds."""
    from scipy.optimize import lsq_linear

    ridge = 1e-6 * np.trace(bend) / len(theta) + 1e-12  # a voter that never speaks has no curvature of its own
    root = np.linalg.cholesky(bend + ridge * np.eye(len(theta)))
    bounds = (_LEAST - 1e-9 - theta, 1e-9 - theta)
    step: Array = lsq_linear(root.T, np.linalg.solve(root, slope), bounds=bounds).x
    return np.clip(theta + step, _LEAST, 0.0) - theta
