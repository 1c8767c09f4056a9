"""Distributions over rankings, slow and obvious: every probability from its definition, subsets enumerated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any


def plackett_luce(scores: Any, ranks: Any) -> float:
    """Π_k φ_{π(k)} / Σ_{l ≥ k} φ_{π(l)}; 0 for ties."""
    n = len(scores)
    if sorted(ranks) != list(range(1, n + 1)):
        return 0.0
    phi = [math.exp(scores[list(ranks).index(k)]) for k in range(1, n + 1)]
    return math.prod(phi[k] / sum(phi[k:]) for k in range(n))


def pmop_fd(scores: Any, ranks: Any) -> float:
    """Π_k Φ(X_k) / Σ_{∅≠S⊆R_k} Φ(S), Φ the mean of φ."""
    result = 1.0
    for k in range(1, max(ranks) + 1):
        rest = [math.exp(s) for s, r in zip(scores, ranks, strict=True) if r >= k]
        block = [math.exp(s) for s, r in zip(scores, ranks, strict=True) if r == k]
        subsets = (s for m in range(1, len(rest) + 1) for s in itertools.combinations(rest, m))
        result *= (sum(block) / len(block)) / sum(sum(s) / len(s) for s in subsets)
    return result


PROBABILITIES: dict[str, Callable[[Any, Any], float]] = {
    "listmle": plackett_luce,
    "listnet": plackett_luce,
    "pmop-fd": pmop_fd,
}
