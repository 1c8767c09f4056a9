"""infAP: inferred average precision, an estimate of AP if only a sample of the pool was judged.

Formula: (1/R) Σ over retrieved relevant documents of (1/r)·(1 + p·(h + ε)/(h + m + 2ε)), with r its rank and, above it,
p documents in the pool, h judged relevant and m judged non-relevant ones; R relevant judged documents, ε = 10⁻⁵.
A negative label means in the pool but not judged; a document without any judgment is not in the pool.
Ties: the mean over all orders, exactly; the number of judged ones above is hypergeometric. Cost: O(n), in tie groups
with unjudged documents O(documents × judged ones). Use it for: sampled judgments. Empty: R = 0.
Reference: Yilmaz and Aslam (2006), in the form of trec_eval.

    >>> from podium.metrics import Metric
    >>> Metric.parse("infAP")([4, 3, 2, 1], [1, -1, -1, 1], [0, 4]).round(3)  # (1 + (1 + 3·1/1)/4)/2
    array([1.])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import RELEVANT, count_relevant

_EPSILON = 1e-5


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """(1/R) Σ_r E[relevant at r × inferred precision at r]."""
    n_relevant = count_relevant(ideal, config)
    if n_relevant == 0:
        return np.nan
    total, start = 0.0, 0
    above = np.zeros(3)  # relevant, judged non-relevant, pooled but not judged
    while start < len(labels):
        end = ends[start]
        tied = np.zeros(3)
        for place in range(start, end):
            label = labels[place]
            if label >= config[RELEVANT]:
                tied[0] += 1.0
            elif label >= 0.0:
                tied[1] += 1.0
            elif label < 0.0:  # not NaN
                tied[2] += 1.0
        if tied[0] > 0.0:
            total += _within(above, tied, start, end)
        above += tied
        start = end
    return total / n_relevant


@compiled
def _within(above: Array, tied: Array, start: int, end: int) -> float:
    """The expected sum over the relevant documents of a tie group."""
    size, judged = end - start - 1, int(tied[0] + tied[1]) - 1  # of the others, for any relevant one
    other_relevant = (tied[0] - 1.0) / max(judged, 1)
    pooled = tied[2] / max(size - judged, 1)  # the share of the unjudged that are in the pool
    chance = np.zeros(judged + 2)  # [k]: that k other judged documents are ranked above
    chance[0] = 1.0
    total = 0.0
    for t in range(size + 1):
        least, most = max(0, t - (size - judged)), min(t, judged)
        precision = 0.0
        for s in range(least, most + 1):
            seen = above[0] + above[1] + s
            in_pool = seen + above[2] + (t - s) * pooled
            hits = above[0] + s * other_relevant
            precision += chance[s] * in_pool * (hits + _EPSILON) / (seen + 2.0 * _EPSILON)
        total += (1.0 + precision) / (start + t + 1.0)
        for s in range(most, least - 1, -1):
            next_is = chance[s] * (judged - s) / max(size - t, 1)
            chance[s + 1] += next_is
            chance[s] -= next_is
    return total * tied[0] / (size + 1.0)  # type: ignore[no-any-return]


@register
class InfAP(Metric):
    """infAP: inferred average precision, for sampled judgments."""

    names = Names(stating("infap"))
    conventions = Conventions(uses=("relevant", "ideal"), cuts=False)
    kernel = Kernel(measure, sees_unjudged=True)
    normalised = False
