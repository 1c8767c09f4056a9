"""Mallows model: a central order of the voters' rankings, and their dispersion around it (Mallows 1957).

    >>> from podium.aggregation.rankings.rankings import Rankings
    >>> votes = Rankings.from_orders([[["A", "B"], ["A", "B"], ["A", "B"], ["B", "A"]]])
    >>> centre = Mallows().fit(votes.query(0))
    >>> centre.order, round(centre.theta, 6)  # one vote in four contradicts: e^−θ = 1/3
    (['A', 'B'], 1.098612)

P(π | θ, π₀) = e^{−θ d(π, π₀)} / ψ_n(θ), d Kendall's distance, ψ_n(θ) = Π_{i≤n} (1 − e^{−iθ})/(1 − e^{−θ}). A list with
ties represents all strict orders that agree with it; since d splits into the pairs between the groups and those within,
their sum is e^{−θ·contradicted pairs} Π ψ_m(θ) / ψ_n(θ), m the sizes of the groups. So the likelihood is exact with
ties and for lists cut at some depth, and its centre is Kemeny's order for any θ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from podium.aggregation.base import Aggregator, Solved
from podium.aggregation.kemeny import Kemeny
from podium.aggregation.pairwise_counts import Unranked, lists
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.distributions.mallows import log_normaliser, mean_distance
from podium.jit import sorting as ranking


@dataclass(frozen=True, eq=False)
class Centre:
    """The fitted Mallows distribution of one query's lists."""

    order: list[str]  # the documents, best first
    theta: float  # 0: every order is as likely; infinite if no list contradicts the centre
    standard_error: float  # of θ, with the centre fixed; NaN if θ is 0 or infinite
    log_likelihood: float
    cost: float  # contradicted pairs
    bound: float  # that any order contradicts


@register
class Mallows(Aggregator):
    """The central order of maximum likelihood; `fit` also gives θ.

    Formula: max over π₀, θ ≥ 0 of Σ_k w_k log P(σ_k | θ, π₀), P as above.
    Ties: their order counts as unknown and is summed over, exactly. Documents missing from a list come after it in an
        unknown order (`last`), or are left out of its distribution (`skip`). The centre is strict.
    Cost: Kemeny's; θ costs O(V·n) on top.
    Use it for: a consensus with the agreement of the voters as one number with a standard error.
    Reference: Mallows, Non-null ranking models, Biometrika 1957; Fligner & Verducci, Distance based ranking models,
        JRSS B 1986.
    """

    minimises: ClassVar[bool] = True
    elects_condorcet: ClassVar[bool] = True

    exact: int = param(40, least=1)
    """Most documents of a cycle of majorities that is solved exactly."""
    unranked: Unranked = "last"
    """Documents that a list leaves out: after its own in an unknown order (`last`), or not there at all (`skip`)."""

    def solve(self, query: QueryRankings) -> Solved:
        return Kemeny(exact=self.exact, unranked=self.unranked).solve(query)

    def fit(self, query: QueryRankings) -> Centre:
        """The centre and the dispersion of one query's lists."""
        solved = self.solve(query)
        sizes, weights = _group_sizes(lists(query, self.unranked))
        theta = _dispersion(solved.cost, sizes, weights)
        likelihood, error = 0.0, math.nan
        if math.isfinite(theta):
            likelihood = -theta * solved.cost + float(weights @ log_normaliser(sizes, theta))
            information = -float(weights @ _variance(sizes, theta))
            if theta > 0.0:
                error = 1.0 / math.sqrt(information)
        order = [str(query.document_ids[j]) for j in ranking.order(solved.scores)]
        return Centre(order, theta, error, likelihood, solved.cost, solved.bound)


def _variance(n: Ints, theta: float) -> Array:
    """Var d = Σ_{i≤n} v(θ) − i²·v(iθ), v(x) = 1/(4 sinh²(x/2)); (i² − 1)/12 each at θ = 0."""
    i = np.arange(1, int(n.max(initial=0)) + 1)
    with np.errstate(over="ignore"):
        if theta == 0.0:
            each = (i**2 - 1) / 12.0
        else:
            each = 0.25 / math.sinh(0.5 * theta) ** 2 - 0.25 * (i / np.sinh(0.5 * i * theta)) ** 2
    summed: Array = np.concatenate([[0.0], np.cumsum(each)])[n]
    return summed


def _group_sizes(query: QueryRankings) -> tuple[Ints, Array]:
    """The sizes of all tie groups with their voters' weights, then those of the lists with theirs turned round."""
    voter = query.voter_of
    _, sizes = np.unique(np.stack([voter, query.ranks]), axis=1, return_counts=True)
    of = np.unique(np.stack([voter, query.ranks]), axis=1)[0]
    whole = np.diff(query.offsets)
    return np.concatenate([sizes, whole]), np.concatenate([query.weights[of], -query.weights])


def _dispersion(cost: float, sizes: Ints, weights: Array) -> float:
    """θ ≥ 0 under which as many contradicted pairs are expected as there are."""
    from scipy.optimize import brentq

    def excess(theta: float) -> float:
        return -float(weights @ mean_distance(sizes, theta)) - cost

    if cost == 0.0:
        return math.inf if excess(0.0) > 0.0 else 0.0
    if excess(_LEAST) <= 0.0:
        return 0.0
    high = 1.0
    while excess(high) > 0.0:
        high *= 2.0
    return float(brentq(excess, _LEAST, high, xtol=1e-13, rtol=1e-13))


_LEAST = 1e-6  # below, θ counts as 0
