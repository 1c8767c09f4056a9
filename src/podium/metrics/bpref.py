"""bpref: how few judged non-relevant documents are ranked above the relevant ones; unjudged documents are ignored.

Formula: (1/R) Σ over retrieved relevant documents of 1 − min(c, B)/B, with R relevant and N non-relevant judged
documents, B = min(R, N), and c the judged non-relevant documents ranked above. With N = 0 each counts 1.
Ties: c before a relevant document of a tie group with k judged non-relevant ones is evenly spread over c…c + k.
Cost: O(n). Use it for: test collections with incomplete judgments. Empty: R = 0.
Negative labels mean pooled but not judged. Reference: Buckley and Voorhees (2004), in the form of trec_eval.

    >>> from podium.metrics import Metric
    >>> Metric.parse("bpref")([4, 3, 2, 1], [1, 0, 1, 0], [0, 4])  # (1 + (1 − 1/2))/2
    array([0.75])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel
from podium.metrics.kernels import RELEVANT, count_relevant


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """(1/R) Σ E[1 − min(c, B)/B]."""
    n_relevant = count_relevant(ideal, config)
    if n_relevant == 0:
        return np.nan
    bound = min(n_relevant, count_non_relevant(ideal, config))
    total, above, start = 0.0, 0.0, 0
    while start < len(labels):
        end = ends[start]
        relevant, others = 0.0, 0.0
        for place in range(start, end):
            relevant += labels[place] >= config[RELEVANT]
            others += 0.0 <= labels[place] < config[RELEVANT]
        if relevant > 0.0:
            rising = min(max(bound - above, 0.0), others + 1.0)  # the values of c below the bound
            lost = rising * above + rising * (rising - 1.0) / 2.0 + (others + 1.0 - rising) * bound
            total += relevant * (1.0 - lost / (others + 1.0) / max(bound, 1.0))
        above += others
        start = end
    return total / n_relevant


@compiled
def count_non_relevant(ideal: Array, config: Array) -> int:
    """The number of judged documents that are not relevant."""
    count = 0
    for label in ideal:
        count += 0.0 <= label < config[RELEVANT]
    return count


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 if relevant; c at each place; relevant documents up to each place with c ≤ B, and with c < B; B; 1/(B R)."""
    n, n_relevant = len(labels), count_relevant(ideal, config)
    bound = min(n_relevant, count_non_relevant(ideal, config))
    above, near, nearer = 0.0, 0.0, 0.0
    for place in range(n):
        relevant = labels[place] >= config[RELEVANT]
        work[place], work[n + place] = 1.0 if relevant else 0.0, above
        if relevant:
            near += above <= bound
            nearer += above < bound
        else:
            above += 1.0
        work[2 * n + place], work[3 * n + place] = near, nearer
    work[4 * n] = bound
    work[4 * n + 1] = 1.0 / (bound * n_relevant) if bound > 0 else 0.0


@compiled
def swap(labels: Array, config: Array, work: Array, i: int, j: int) -> float:
    """|Δbpref|: another c for the relevant document, and one more or less for each relevant one between."""
    n = len(labels)
    bound, scale = work[4 * n], work[4 * n + 1]
    if work[i] == work[j]:
        return 0.0
    here, there = work[n + i], work[n + j]
    if work[j] == 1.0:
        moved, between = min(there, bound) - min(here, bound), work[2 * n + j - 1] - work[2 * n + i]
    else:
        moved, between = min(there + 1.0, bound) - min(here, bound), work[3 * n + j - 1] - work[3 * n + i]
    return (moved + between) * scale  # type: ignore[no-any-return]


@register
class Bpref(Metric):
    """bpref: binary preference, for incomplete judgments."""

    conventions = Conventions(uses=("relevant", "ideal"), cuts=False)
    kernel = Kernel(measure, swaps=(prepare, swap), sees_unjudged=True)

    def work_size(self, n: int) -> int:
        return 4 * n + 2
