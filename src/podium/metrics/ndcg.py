"""NDCG@k: normalised discounted cumulative gain, DCG@k over that of the ideal order of the judged documents.

Formula: NDCG = DCG@k(ranking) / DCG@k(judged labels in descending order).
Ties: the mean over all orders of tied documents, exactly. Cost: O(n). Use it for: graded labels; the usual choice.
Empty: no judged document with a gain above 0. Reference: Järvelin and Kekäläinen (2002); Burges et al. (2005).

    >>> from podium.metrics import Metric
    >>> Metric.parse("ndcg@3")([7, 6, 5, 4, 3, 2, 1], [2, 3, 2, 3, 1, 1, 1], [0, 7]).round(2)
    array([0.69])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics import dcg
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import additive_swap, cut, discount, gain

expected_dcg, prepare_dcg = dcg.expected_dcg, dcg.prepare


@compiled
def ideal_dcg(ideal: Array, config: Array) -> float:
    """DCG@k of labels that descend."""
    total = 0.0
    for place in range(cut(len(ideal), config)):
        total += gain(ideal[place], config) * discount(place, config)
    return total


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """DCG@k over its largest value."""
    largest = ideal_dcg(ideal, config)
    return expected_dcg(labels, ends, config) / largest if largest > 0.0 else np.nan


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """Gains over the largest DCG, then discounts."""
    prepare_dcg(labels, ideal, config, work)
    largest = ideal_dcg(ideal, config)
    for place in range(len(labels)):
        work[place] *= 1.0 / largest if largest > 0.0 else 0.0


@register
class NDCG(Metric):
    """NDCG@k: normalised discounted cumulative gain, DCG@k over its largest value."""

    names = Names(
        {
            **stating("ndcg_cut", "lambdarank", "rank_xendcg", "xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart"),
            "ndcg_burges": {"gain": "exp2"},
            "ndcg_score": {"gain": "linear"},
        }
    )
    conventions = Conventions(
        uses=("gain", "discount", "short", "ideal", "floor"),
        presets={
            **stating("letor3", "letor4", "mslr", short="zero"),
            "catboost": {"empty": "one"},
            "xgboost": {"cutoff": 32},
            "ranklib": {"cutoff": 10},
        },
    )
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
