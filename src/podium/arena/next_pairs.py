"""Which pair to ask next: where a battle tells most about all strengths.

    gain of a and b = log(1 + p(1 − p)·v_ab)

v_ab is the variance of the difference of their log-strengths, p the probability that a wins; with ties, p(1 − p) is the
information of the law's battle. It is what one battle adds to the log-determinant of the information (D-optimality).
After each choice the covariance is that after the battle. Each pair comes once before any comes again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from podium.base.arguments import whole_number

if TYPE_CHECKING:
    from podium.arena.rating import Rating


class NextPair(NamedTuple):
    """A pair to ask, with what its battle would tell."""

    a: str
    b: str
    gain: float
    expected: float
    """P(a wins) + ½ P(tie)."""


def next_pairs(rating: Rating, n: int = 20) -> list[NextPair]:
    """The pairs to ask next, the most informative first."""
    whole_number(n, "n", least=1)
    covariance, m = rating.covariance.copy(), len(rating.players)
    s = rating.strengths
    d = s[:, None] - s[None, :]
    information, expected = rating.law.information(d, rating.tie), rating.law.expected_score(d, rating.tie)
    pairs: list[NextPair] = []
    times = np.where(np.triu(np.ones((m, m), np.bool_), 1), 0, n + 1)  # how often each pair was chosen
    for _ in range(n):
        variances = np.diag(covariance)
        apart = np.maximum(variances[:, None] + variances[None, :] - 2.0 * covariance, 0.0)
        gain = np.where(times == times.min(), np.log1p(information * apart), -1.0)
        best = gain.max()
        a, b = divmod(int(np.flatnonzero(gain.ravel() >= best * (1.0 - 1e-12))[0]), m)  # the first by name of equals
        pairs.append(NextPair(rating.players[a], rating.players[b], float(best), float(expected[a, b])))
        times[a, b] += 1
        change = covariance[:, a] - covariance[:, b]
        covariance -= np.outer(change, change) * (information[a, b] / (1.0 + information[a, b] * apart[a, b]))
    return pairs
