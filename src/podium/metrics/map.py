"""MAP: mean average precision, the mean over queries of AP; per query, its AP.

Formula: AP@k = (1/D) Σ_{r ≤ k, y_r relevant} (relevant documents at ranks ≤ r)/r, D = min(R, k) with R the number of
relevant judged documents; D = R with divisor=relevant (trec_eval's `map_cut_k`).
Ties: with m relevant among the N documents of a tie group and h before it, its t-th place, rank r, expects
(m/N)·(h + 1 + (t − 1)(m − 1)/(N − 1))/r. Cost: O(n). Use it for: binary labels. Empty: R = 0.
Reference: Voorhees and Harman (2005); ties: McSherry and Najork (2008).

    >>> from podium.metrics import Metric
    >>> Metric.parse("map")([7, 6, 5, 4, 3, 2, 1], [1, 0, 1, 1, 0, 0, 0], [0, 7]).round(2)
    array([0.81])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import DIVIDE_ALL, RELEVANT, count_relevant, cut, relevance


@compiled
def divisor(ideal: Array, config: Array) -> float:
    """min(R, k), or R."""
    n_relevant = count_relevant(ideal, config)
    return n_relevant if config[DIVIDE_ALL] else cut(n_relevant, config)


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Σ_r E[relevant at r × precision at r] / D."""
    over = divisor(ideal, config)
    if over == 0:
        return np.nan
    last, total, hits = cut(len(labels), config), 0.0, 0.0
    relevant, size, inverses, weighted = 0.0, 0.0, 0.0, 0.0  # of the present tie group: Σ 1/r and Σ (t − 1)/r
    for place in range(len(labels)):
        inverse = 1.0 / (place + 1.0) if place < last else 0.0
        if size == 0.0 and ends[place] == place + 1 and place + 1 < last:  # not tied: the same, in fewer steps
            hit = 1.0 if labels[place] >= config[RELEVANT] else 0.0
            total += hit * ((hits + 1.0) * inverse)
            hits += hit
            continue
        relevant += labels[place] >= config[RELEVANT]
        inverses += inverse
        weighted += size * inverse
        size += 1.0
        if ends[place] == place + 1:
            total += (relevant / size) * ((hits + 1.0) * inverses + weighted * (relevant - 1.0) / max(size - 1.0, 1.0))
            hits += relevant
            relevant, size, inverses, weighted = 0.0, 0.0, 0.0, 0.0
            if place + 1 >= last:
                break
    return total / over


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 if relevant; relevant documents up to each place; Σ 1/r over relevant ranks up to each place; 1/D."""
    n, last = len(labels), cut(len(labels), config)
    relevance(labels, config, work)
    hits, inverse = 0.0, 0.0
    for place in range(n):
        if work[place] == 1.0:
            hits += 1.0
            inverse += 1.0 / (place + 1.0) if place < last else 0.0
        work[n + place], work[2 * n + place] = hits, inverse
    over = divisor(ideal, config)
    work[3 * n] = 1.0 / over if over > 0 else 0.0


@compiled
def swap(labels: Array, config: Array, work: Array, i: int, j: int) -> float:
    """|ΔAP|: the moved document's own precision, and 1/r for each relevant one between."""
    n, last = len(labels), cut(len(labels), config)
    if work[i] == work[j] or i >= last:
        return 0.0
    above = (work[n + i] + work[j]) / (i + 1.0)  # its precision at place i
    below = work[n + j] / (j + 1.0) if j < last else 0.0  # at place j
    between = work[2 * n + j - 1] - work[2 * n + i]
    return abs(above - below + between) * work[3 * n]  # type: ignore[no-any-return]


@register
class MAP(Metric):
    """MAP: average precision."""

    names = Names(
        {
            **stating("ap", "average_precision", "mean_average_precision"),
            **stating("average_precision_score", "label_ranking_average_precision_score"),
            "map_cut": {"divisor": "relevant"},
        }
    )
    conventions = Conventions(
        uses=("relevant", "divisor", "short", "ideal"),
        divisors=("cutoff", "relevant"),
        presets={
            **stating("trec", "trec10", "ranx", divisor="relevant"),
            "xgboost": {"cutoff": 32},
            "ranklib": {"cutoff": None},
        },
        words={
            "divisor": (
                "precisions are divided by",
                {"cutoff": "min(k, relevant documents)", "relevant": "all relevant documents"}.__getitem__,
            )
        },
    )
    kernel = Kernel(measure, swaps=(prepare, swap))
