"""Online learning, slow and obvious."""

from __future__ import annotations

import math
from typing import Any


def plackett_luce_prefix(scores: Any, rows: Any) -> float:
    """P(the first documents drawn are these, in this order)."""
    chance, left = 1.0, [math.exp(s) for s in scores]
    for row in rows:
        chance *= left[row] / sum(left)
        left[row] = 0.0
    return chance


def pdgd_gradient(scores: Any, rows: Any, clicked: Any) -> Any:
    """Σ ρ · e^{s_i}e^{s_j}/(e^{s_i} + e^{s_j})² (∇s_i − ∇s_j) over clicked i and unclicked j that were looked at."""
    gradient = [0.0] * len(scores)
    last = max((r for r, c in enumerate(clicked) if c), default=-1)
    for i, j in ((i, j) for i in range(last + 1) for j in range(min(last + 2, len(rows)))):
        if not clicked[i] or clicked[j]:
            continue
        other = list(rows)
        other[i], other[j] = other[j], other[i]
        own, exchanged = plackett_luce_prefix(scores, rows), plackett_luce_prefix(scores, other)
        a, b = math.exp(scores[rows[i]]), math.exp(scores[rows[j]])
        weight = exchanged / (own + exchanged) * a * b / (a + b) ** 2
        gradient[rows[i]] += weight
        gradient[rows[j]] -= weight
    return gradient
