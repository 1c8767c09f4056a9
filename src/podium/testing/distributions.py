"""Contract suite of distributions over rankings: probabilities sum to 1; marginals, mode and samples agree."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.distributions import RankingDistribution
from podium.testing.examples import draw_query, size
from podium.testing.names import text_gives_it_back
from podium.testing.numbers import near
from podium.testing.refusals import refused

Reference = Callable[[Any, Array, Ints], float]
"""The probability of a ranking by its definition: (distribution, scores, ranks) → probability."""


def check_distribution(
    distribution: RankingDistribution, *, reference: Reference | None = None, examples: int = 3, seed: int = 0
) -> None:
    """Run every check of distributions on random scores; `reference` is the probability by definition, if given."""
    text_gives_it_back(distribution)
    rng = np.random.default_rng(seed)
    for n in range(2, examples + 2):
        scores, _ = draw_query(rng, min(n, 5))
        for check in DISTRIBUTION_CHECKS.values():
            check(distribution, scores)
        if reference is not None:
            equals_definition(distribution, scores, reference)


def all_rankings(n: int, *, ties: bool) -> list[Ints]:
    """Every ranking of n documents: n! strict ones, or the ordered partitions."""
    ways = itertools.product(range(1, n + 1), repeat=n)
    return [np.array(way, np.int64) for way in ways if len(set(way)) == (max(way, default=0) if ties else n)]


def probabilities_sum_to_one(distribution: RankingDistribution, scores: Array) -> None:
    """Over all rankings."""
    near(sum(p for _, p in _listed(distribution, scores)), 1.0, 1e-9, "the sum of all probabilities")


def marginals_are_those_of_all_rankings(distribution: RankingDistribution, scores: Array) -> None:
    """Rank marginals and preferences are sums over all rankings."""
    n = len(scores)
    marginals, prefers = np.zeros((n, n)), np.zeros((n, n))
    for ranks, p in _listed(distribution, scores):
        marginals[np.arange(n), ranks - 1] += p
        prefers += p * (ranks[:, None] < ranks)
    near(distribution.rank_marginals(scores), marginals, 1e-8, "rank marginals against enumeration")
    near(distribution.prefers(scores), prefers, 1e-8, "preferences against enumeration")


def mode_is_most_probable(distribution: RankingDistribution, scores: Array) -> None:
    """No ranking is more probable than the mode."""
    got = np.exp(distribution.log_prob(scores, distribution.mode(scores)))
    near(got, max(p for _, p in _listed(distribution, scores)), 1e-9, "the probability of the mode against the largest")


def samples_follow_the_distribution(distribution: RankingDistribution, scores: Array) -> None:
    """Drawn rankings are as frequent as they are probable, within five standard errors."""
    n = size(4000, 200)
    drawn = distribution.sample(scores, np.random.default_rng(1), n)
    assert drawn.shape == (n, len(scores)), f"{n} samples of {len(scores)} documents have shape {drawn.shape}"
    again = distribution.sample(scores, np.random.default_rng(1), n)
    assert np.array_equal(drawn, again), "the same seed gives other samples"
    for ranks, p in _listed(distribution, scores):
        often = (drawn == ranks).all(axis=1).mean()
        slack = 5 * np.sqrt(p * (1 - p) / n) + 1 / n
        assert abs(often - p) <= slack, f"{ranks} is drawn with frequency {often:.4f}, its probability is {p:.4f}"


def marginals_are_probabilities(distribution: RankingDistribution, scores: Array) -> None:
    """Rows sum to 1, and for strict rankings columns; preferences and their opposites sum to 1 at most."""
    longer = np.concatenate([scores + k for k in range(size(4, 2))])
    for s in (scores, longer, 100.0 * longer):
        marginals, prefers = distribution.rank_marginals(s), distribution.prefers(s)
        near(marginals.sum(axis=1), np.ones(len(s)), 1e-8, "sums over ranks")
        both = prefers + prefers.T
        assert min(marginals.min(), prefers.min(), 1 + 1e-9 - both.max()) >= 0, "a probability is outside 0 … 1"
        if not distribution.has_ties:
            near(marginals.sum(axis=0), np.ones(len(s)), 1e-8, "sums over documents")
            near(both, 1.0 - np.eye(len(s)), 1e-9, "one comes before the other")


def row_order_and_shifts_do_not_matter(distribution: RankingDistribution, scores: Array) -> None:
    """Renumbering documents, or adding a number to all scores, changes no probability; extremes stay finite."""
    turn = np.roll(np.arange(len(scores)), 1)[::-1]
    for ranks in all_rankings(len(scores), ties=distribution.has_ties)[:50]:
        here = distribution.log_prob(scores, ranks)
        near(distribution.log_prob(scores[turn], ranks[turn]), here, 1e-9, "log-probability of renumbered documents")
        near(distribution.log_prob(scores + 2.5, ranks), here, 1e-9, "log-probability of shifted scores")
        assert np.isfinite(distribution.log_prob(1e3 * scores, ranks)), (
            f"log-probability of {ranks} at scores {1e3 * scores}"
        )


def only_the_order_of_ranks_matters(distribution: RankingDistribution, scores: Array) -> None:
    """Ranks 10, 20, 20 have the probability of ranks 1, 2, 2."""
    for ranks in all_rankings(len(scores), ties=distribution.has_ties)[:50]:
        got, expected = distribution.log_prob(scores, 10 * ranks), distribution.log_prob(scores, ranks)
        assert got == expected, f"ranks {10 * ranks} have log-probability {got}, {ranks} have {expected}"


def equals_definition(distribution: RankingDistribution, scores: Array, reference: Reference) -> None:
    """The probability of every ranking is that of the definition."""
    for ranks in all_rankings(len(scores), ties=distribution.has_ties):
        got, expected = float(np.exp(distribution.log_prob(scores, ranks))), reference(distribution, scores, ranks)
        assert abs(got - expected) <= 1e-9 * expected, f"{ranks} has probability {got}, by definition {expected}"


def ties_are_refused(distribution: RankingDistribution, scores: Array) -> None:
    """A distribution over strict rankings says that it has no ties."""
    if distribution.has_ties or len(scores) < 2:
        return
    refused(
        lambda: distribution.log_prob(scores, np.ones(len(scores))),
        says=rf"{distribution.name} gives rankings with ties probability 0.* Use ",
        when="a ranking with ties",
    )


DISTRIBUTION_CHECKS: dict[str, Callable[[RankingDistribution, Array], None]] = {
    check.__name__: check
    for check in (
        probabilities_sum_to_one, marginals_are_those_of_all_rankings, mode_is_most_probable,
        samples_follow_the_distribution, marginals_are_probabilities, row_order_and_shifts_do_not_matter,
        only_the_order_of_ranks_matters, ties_are_refused,
    )
}  # fmt: skip
"""Checks of every distribution, by name: (distribution, scores) → None. Give few scores: rankings are listed."""


def _listed(distribution: RankingDistribution, scores: Array) -> list[tuple[Ints, float]]:
    """Every ranking with its probability."""
    rankings = all_rankings(len(scores), ties=distribution.has_ties)
    return [(ranks, float(np.exp(distribution.log_prob(scores, ranks)))) for ranks in rankings]
