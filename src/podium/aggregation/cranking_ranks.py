"""Distribution of each document's rank under Cranking, from Markov chains, and the consensus order.

Half of the chains start at the weighted Borda order, the others at random, so that R-hat shows chains that have not
mixed. Expected ranks have a Monte Carlo error. If Cranking's distribution is nearly flat, neighbours may differ by
less than that, and the order of the estimates would be noise. Therefore they are shrunk towards weighted Borda, by as
much as their error allows (empirical Bayes):

    fit = isotonic regression of the estimates m on the weighted Borda places
    τ² = max(0, mean (m − fit)² − s²),    x = fit + τ²/(τ² + s²) · (m − fit)

with s the error of m. If the deviations from Borda's order are no larger than the error, x is in Borda's order, which
is that of the expected ranks for one voter and, with Kendall's and Cayley's distance, their limit for θ → 0. As s → 0,
x → m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.aggregation.cranking_chain import Chain
from podium.aggregation.cranking_lists import CrankingQuery
from podium.aggregation.diagnostics import r_hat
from podium.base.arrays import Array, Ints


@dataclass(frozen=True, eq=False)
class RankDistribution:
    """The distribution of each document's rank on one query."""

    marginals: Array  # (n, n) P(document i has rank r + 1) at [i, r]
    standard_errors: Array  # (n,) of the expected ranks, from the chains; 0 if all rankings were enumerated
    r_hat: float  # the worst over documents; 1 if all rankings were enumerated

    @property
    def expected(self) -> Array:
        """The expected rank of each document."""  # (n,)
        ranks: Array = self.marginals @ np.arange(1.0, len(self.marginals) + 1)
        return ranks

    def settled(self, borda: Array) -> Array:
        """The expected ranks, shrunk within their errors towards the order of weighted Borda places."""  # (n,)
        from scipy.optimize import isotonic_regression

        noise = float(np.mean(self.standard_errors**2))
        if noise == 0.0:
            return self.expected + _SLIGHT * borda
        _, group, sizes = np.unique(borda.round(9), return_inverse=True, return_counts=True)
        means = np.bincount(group, self.expected) / sizes
        fit = isotonic_regression(means, weights=sizes.astype(np.float64)).x[group]
        apart = self.expected - fit
        beyond = max(0.0, float(np.mean(apart**2)) - noise)
        settled: Array = fit + beyond / (beyond + noise) * apart
        return settled + _SLIGHT * borda


_SLIGHT = 1e-9  # of the Borda place: it, not rounding, decides between documents of the same expected rank


def simulated(
    lists: CrankingQuery, kind: int, theta: Array, *, sweeps: int, rng: np.random.Generator
) -> RankDistribution:
    """Estimate by chains: all on the lists themselves if they are strict, else on several strict versions of them."""
    n = lists.n_documents
    ways = [lists.complete(rng)] if lists.completions == 1 else _in_pairs(lists, rng)
    chains = _CHAINS if len(ways) == 1 else 2
    worst, marginals, means = 1.0, np.zeros((n, n)), []
    for sigma in ways:
        traces = []
        for c in range(chains):
            chain = Chain(lists, kind, rng, start=lists.borda(theta) if c % 2 == 0 else None)
            chain.sigma = sigma
            chain.observe(theta, (sweeps + n // 4) // 4)  # until it has forgotten where it started
            expected, places = chain.observe(theta, sweeps + n // 4)
            traces.append(expected)
            marginals += places
        stack = np.stack(traces)  # (C, S, n)
        worst = max(worst, float(np.max(r_hat(stack))))
        means.append(stack.mean(axis=1))  # (C, n)
    # independent samples: chains on strict lists, or pairs of strict versions
    each = means[0] if len(ways) == 1 else np.array(means).mean(axis=1).reshape(_PAIRS, 2, n).mean(axis=1)
    errors = each.std(axis=0, ddof=1) / np.sqrt(len(each))
    return RankDistribution(marginals / marginals.sum(axis=1, keepdims=True), errors, worst)


_CHAINS = 4
_PAIRS = 4


def _in_pairs(lists: CrankingQuery, rng: np.random.Generator) -> list[Ints]:
    """Random strict versions of the lists, each with the one that reverses every tied group (antithetic pairs).

    Over such a pair every document of a group has the same mean place, so that random differences cancel.
    """
    versions = []
    for _ in range(_PAIRS):
        sigma = lists.complete(rng)
        ends = np.array([np.cumsum(np.bincount(row))[row] for row in lists.groups])  # (L, n)
        sizes = np.array([np.bincount(row)[row] for row in lists.groups])
        versions += [sigma, 2 * ends - sizes - 1 - sigma]
    return versions
