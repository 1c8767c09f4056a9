"""Interpolated precision at a recall level: the best precision at or beyond that recall, a point of the curve.

Formula: max over ranks r with (relevant documents at ranks ≤ r) ≥ c of (relevant documents at ranks ≤ r)/r; c is the
recall level times R, the number of relevant judged documents, rounded up. 0 if the list never reaches it.
trec_eval 9 takes c = ⌊level·R + 0.9⌋ (`rounding=truncate`), trec_eval 10 the nearest number (`rounding=nearest`).
Ties: tied documents come all at once, as in scikit-learn's precision_recall_curve: recall and precision are taken only
after whole tie groups. It is not the mean over their orders. Cost: O(n).
Use it for: precision–recall curves averaged over queries. Empty: no relevant judged document.

    >>> from podium.metrics import Metric
    >>> Metric.parse("iprec_at_recall_0.50")([4, 3, 2, 1], [0, 1, 1, 0], [0, 4])
    array([0.66666667])
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import OWN, RELEVANT, count_relevant

UP, TRUNCATE, NEAREST = 0.0, 1.0, 2.0


@compiled
def needed(level: float, relevant: int, rounding: float) -> int:
    """The number of relevant documents that a recall level needs."""
    exact = level * relevant
    if rounding == TRUNCATE:
        return int(exact + 0.9)
    if rounding == NEAREST:
        return math.floor(exact) + (exact - math.floor(exact) >= 0.5)
    return math.ceil(exact - 1e-9)


@compiled
def interpolated(labels: Array, ends: Ints, least: int, config: Array) -> float:
    """The best precision after a tie group that brings the relevant documents to `least` or more."""
    best, hits, start = 0.0, 0, 0
    while start < len(labels):
        end = ends[start]
        for place in range(start, end):
            hits += labels[place] >= config[RELEVANT]
        if hits >= least:
            best = max(best, hits / end)
        start = end
    return best


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Interpolated precision at the recall level."""
    n_relevant = count_relevant(ideal, config)
    if n_relevant == 0:
        return np.nan
    return interpolated(labels, ends, needed(config[OWN], n_relevant, config[OWN + 1]), config)


Rounding = Literal["up", "truncate", "nearest"]
ROUNDING_WORDS = (
    "the relevant documents needed for a recall level are",
    {"up": "rounded up", "truncate": "⌊level·R + 0.9⌋", "nearest": "rounded to the nearest number"}.__getitem__,
)
ROUNDING_PRESETS = {"trec": {"rounding": "truncate"}, "trec10": {"rounding": "nearest"}}


@register
class IPrec(Metric):
    """Interpolated precision at a recall level."""

    recall: float = param(default=0.5, least=0.0, most=1.0)
    """The recall level."""
    rounding: Rounding = "up"
    """How level × R is rounded to a number of documents."""
    names = Names(stating("iprec_at_recall"), number="recall")
    conventions = Conventions(
        uses=("relevant", "ideal"),
        presets=ROUNDING_PRESETS,
        words={"recall": ("the recall level is", str), "rounding": ROUNDING_WORDS},
        cuts=False,
    )
    kernel = Kernel(measure, averages_ties=False)
