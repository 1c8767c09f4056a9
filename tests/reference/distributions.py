"""Distributions over rankings, slow and obvious: every probability from its definition, subsets enumerated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import cumulative_simpson
from scipy.stats import norm


def plackett_luce(distribution: Any, scores: Any, ranks: Any) -> float:
    """Π_k φ_{π(k)} / Σ_{l ≥ k} φ_{π(l)}; 0 for ties."""
    n = len(scores)
    if sorted(ranks) != list(range(1, n + 1)):
        return 0.0
    phi = [math.exp(scores[list(ranks).index(k)]) for k in range(1, n + 1)]
    return math.prod(phi[k] / sum(phi[k:]) for k in range(n))


def reverse_plackett_luce(distribution: Any, scores: Any, ranks: Any) -> float:
    """Π_k ψ_{π(k)} / Σ_{l ≤ k} ψ_{π(l)}, ψ = e^−s: the last rank is filled first; 0 for ties."""
    n = len(scores)
    if sorted(ranks) != list(range(1, n + 1)):
        return 0.0
    psi = [math.exp(-scores[list(ranks).index(k)]) for k in range(1, n + 1)]
    return math.prod(psi[k] / sum(psi[: k + 1]) for k in range(n))


def boltzmann(distribution: Any, scores: Any, ranks: Any) -> float:
    """∝ exp(−(2α/n(n−1)) Σ (r_u − r_v)(s_u − s_v)) over the pairs with u below v; all rankings listed."""
    n = len(scores)

    def weight(places: Any) -> float:
        below = [(u, v) for u, v in itertools.permutations(range(n), 2) if places[u] > places[v]]
        energy = sum((places[u] - places[v]) * (scores[u] - scores[v]) for u, v in below)
        return math.exp(-2 * distribution.alpha / max(n * (n - 1), 1) * energy)

    return weight(ranks) / sum(map(weight, itertools.permutations(range(1, n + 1))))


def mallows(distribution: Any, scores: Any, ranks: Any) -> float:
    """∝ e^{−θ·pairs ordered against the scores}; all rankings listed."""

    def weight(places: Any) -> float:
        pairs = itertools.permutations(range(len(scores)), 2)
        return math.exp(-distribution.theta * sum(scores[i] > scores[j] and places[i] > places[j] for i, j in pairs))

    return weight(ranks) / sum(map(weight, itertools.permutations(range(1, len(scores) + 1))))


def ordered_partitions_fd(distribution: Any, scores: Any, ranks: Any) -> float:
    """Φ is the mean of φ = e^s."""
    return chosen_blocks(lambda block: sum(map(math.exp, block)) / len(block), distribution, scores, ranks)


def ordered_partitions(distribution: Any, scores: Any, ranks: Any) -> float:
    """Φ is e to the mean of s."""
    return chosen_blocks(lambda block: math.exp(sum(block) / len(block)), distribution, scores, ranks)


def chosen_blocks(phi: Callable[[Any], float], distribution: Any, scores: Any, ranks: Any) -> float:
    """Π_k Φ(X_k) / Σ_{∅≠S⊆R_k} Φ(S); backward, the same of turned scores and turned ranks."""
    if distribution.backward:
        scores, ranks = [-s for s in scores], [max(ranks) + 1 - r for r in ranks]
    result = 1.0
    for k in range(1, max(ranks) + 1):
        rest = [s for s, r in zip(scores, ranks, strict=True) if r >= k]
        block = [s for s, r in zip(scores, ranks, strict=True) if r == k]
        subsets = (s for m in range(1, len(rest) + 1) for s in itertools.combinations(rest, m))
        result *= phi(block) / sum(map(phi, subsets))
    return result


def thurstone(distribution: Any, scores: Any, ranks: Any) -> float:
    """P(S_{π(1)} > S_{π(2)} > …), S_i ~ N(s_i, σ²), by nested integrals on a fine grid."""
    t = np.linspace(min(scores) - 9 * distribution.sigma, max(scores) + 9 * distribution.sigma, 12_001)
    below = np.ones_like(t)
    for place in range(len(scores), 0, -1):
        density = norm.pdf(t, scores[list(ranks).index(place)], distribution.sigma)
        below = cumulative_simpson(density * below, x=t, initial=0.0)
    return float(below[-1])


def pairs_with_ties(distribution: Any, scores: Any, ranks: Any) -> float:
    """∝ Π over pairs of P(i before j), P(tied) or P(j before i), of each pair alone; all rankings listed."""
    n = len(scores)
    before, tied, _ = distribution.pair_probabilities(scores)

    def weight(places: Any) -> float:
        pairs = itertools.combinations(range(n), 2)
        relations = [(before[i, j], tied[i, j], before[j, i]) for i, j in pairs]
        signs = [1 + int(np.sign(places[i] - places[j])) for i, j in itertools.combinations(range(n), 2)]
        return math.prod(relation[sign] for relation, sign in zip(relations, signs, strict=True))

    ways = (way for way in itertools.product(range(1, n + 1), repeat=n) if len(set(way)) == max(way))
    return weight(ranks) / sum(map(weight, ways))


davidson = rao_kupper = pairs_with_ties

PROBABILITIES: dict[str, Callable[[Any, Any, Any], float]] = {
    name.replace("_", "-"): function for name, function in list(globals().items()) if callable(function)
}
"""By the distribution's name: the function of that name."""
