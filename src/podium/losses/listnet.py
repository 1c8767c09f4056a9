"""ListNet (Cao et al., 2007): cross entropy between the top-one probabilities of labels and of scores.

>>> from podium.losses import ListNet
>>> round(ListNet()([2.0, 1.0], [1, 0]).value, 4)  # log(1 + e^−1) + 1/(1 + e)
0.5822
"""

from __future__ import annotations

import math
from typing import Any

from podium.losses.base import kernel
from podium.losses.blocks import bounds, clear
from podium.losses.plackett_luce import PlackettLuce
from podium.registry import register


@kernel
def over_grades(scores: Any, labels: Any, gradient: Any, curvature: Any, params: Any) -> float:
    """−Σ P_y(i) log P_s(i), P_y = softmax(y), P_s = softmax(s); 0 where all grades are equal."""
    clear(gradient, curvature)
    n = len(scores)
    (worst, best), (_, top) = bounds(labels), bounds(scores)
    if worst == best:
        return 0.0
    total, target = 0.0, 0.0
    for i in range(n):
        curvature[i] = math.exp(scores[i] - top)
        gradient[i] = math.exp(labels[i] - best)
        total += curvature[i]
        target += gradient[i]
    log_total, value = math.log(total), 0.0
    for i in range(n):
        wanted, p = gradient[i] / target, curvature[i] / total
        value += wanted * (log_total - (scores[i] - top))
        gradient[i] = p - wanted
        curvature[i] = p * (1.0 - p)
    return value


@register
class ListNet(PlackettLuce):
    """Softmax cross entropy: the document that comes first, as labels and as scores would have it.

    Formula: L = −Σ P_y(i) log P_s(i) with P_y(i) = e^{y_i}/Σ e^{y_j} and P_s(i) = e^{s_i}/Σ e^{s_j}.
    Ties: documents of equal grade share their probability; a query whose grades are all equal contributes 0.
    Cost: O(n) per query.
    Use it for: a fast, smooth, convex loss that cares about the top of the list; often the best linear ranker.
    Reference: Cao et al., Learning to rank: from pairwise approach to listwise approach, ICML 2007.
    """

    grades = staticmethod(over_grades)
