"""Bounds: what a small loss guarantees for a metric. Each is a fact that a test over all losses would refute.

    >>> from podium.losses import RankNet
    >>> bound = RankNet().bounds()[0]
    >>> str(bound)
    '1 − ndcg ≤ K·L/ln 2'
    >>> import numpy as np
    >>> round(bound.least(0.1, np.array([2.0, 1.0, 0.0])), 3)  # at a loss of 0.1, NDCG is at least this
    0.941

The lemma behind most of them: bring a ranking into the ideal order by taking, stage by stage, the best document left to
the front. A move gains at most (G_max − G_min)(D(1) − D(n)), and is needed only if another document is first among
those left. So 1 − NDCG ≤ K × the number of stages that are wrong ≤ K × the number of pairs in the wrong order, with

    K = (G_max − G_min)(D(1) − D(n))/IDCG,   G = 2^y − 1,   D(r) = 1/log2(1 + r).

For two grades and R relevant documents, 1 − AP and 1 − RR are at most the number of wrong pairs/(2R).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from podium.base.arrays import Array


@dataclass(frozen=True)
class Bound:
    """A lower bound of a metric of one query, given the value of a loss."""

    metric: str
    formula: str
    """The bound in the notation of papers, L being the loss, e.g. `1 − ndcg ≤ K·L/ln 2`."""
    least: Callable[[float, Array], float]
    """(value of the loss, labels of the query) → the least value that the metric can have."""
    two_grades: bool = False
    """Whether it holds for labels 0 and 1 only."""

    def __str__(self) -> str:
        return self.formula


def pair_bounds(cost: float, symbol: str, *, normalise: bool) -> tuple[Bound, ...]:
    """Bounds of a pairwise loss whose pairs cost at least `cost` if they are in the wrong order or tied.

    `symbol` is how the cost divides in formulas, e.g. "/ln 2"; `normalise` is whether the loss is a mean over pairs.
    """
    pairs = "|P|·" if normalise else ""

    def wrong(value: float, labels: Array) -> float:
        """The largest number of wrong pairs."""
        return value * (count_pairs(labels) if normalise else 1.0) / cost

    def relevant(labels: Array) -> float:
        return 2.0 * float((labels > 0).sum())

    shared = "L" if normalise else "L/|P|"
    return (
        Bound("ndcg", f"1 − ndcg ≤ K·{pairs}L{symbol}", lambda v, y: 1.0 - insertion_factor(y) * wrong(v, y)),
        Bound(
            "pair-accuracy", f"1 − pair-accuracy ≤ {shared}{symbol}", lambda v, y: 1.0 - wrong(v, y) / count_pairs(y)
        ),
        Bound("map", f"1 − map ≤ {pairs}L/(2R){symbol}", lambda v, y: 1.0 - wrong(v, y) / relevant(y), two_grades=True),
        Bound("mrr", f"1 − mrr ≤ {pairs}L/(2R){symbol}", lambda v, y: 1.0 - wrong(v, y) / relevant(y), two_grades=True),
    )


def insertion_factor(labels: Array) -> float:
    """K: the most that moving a document to the front of those left can add to NDCG."""
    gains, discounts = _gains_and_discounts(labels)
    return float((gains[0] - gains[-1]) * (discounts[0] - discounts[-1]) / (gains @ discounts))


def squared_error_bound() -> Bound:
    """Bound of the squared error from gains: 1 − NDCG ≤ √(2 Σ D²·L)/IDCG."""

    def least(value: float, labels: Array) -> float:
        gains, discounts = _gains_and_discounts(labels)
        return 1.0 - math.sqrt(2.0 * float(discounts @ discounts) * value) / float(gains @ discounts)

    return Bound("ndcg", "1 − ndcg ≤ √(2 Σ_r D(r)²·L)/IDCG", least)


def count_pairs(labels: Array) -> int:
    """|P|: the number of pairs of documents of different grades."""
    _, sizes = np.unique(labels, return_counts=True)
    return int((len(labels) ** 2 - (sizes**2).sum()) // 2)


def _gains_and_discounts(labels: Array) -> tuple[Array, Array]:
    """Gains 2^y − 1 from the largest, and the discounts of their ranks in the ideal order."""
    gains = np.sort(2.0 ** np.asarray(labels, np.float64) - 1.0)[::-1]
    return gains, 1.0 / np.log2(np.arange(len(gains)) + 2.0)
