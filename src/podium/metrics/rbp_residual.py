"""RBP residual: how much rank-biased precision could rise if all that is unjudged or not listed were relevant.

Formula: p^n + (1 − p) Σ_{r ≤ n} p^(r − 1) [no judgment at rank r], with n documents in the list, or k if less. RBP is
a lower bound, and RBP plus the residual an upper one.
Ties: each place of a tie group has the group's share of unjudged documents. Cost: O(n). Use it for: saying how far
incomplete judgments leave RBP open; the smaller, the better. Empty: never. Negative labels mean pooled but not judged.
Reference: Moffat and Zobel (2008).

    >>> from podium.metrics import Metric
    >>> judgments = {"judged": [1], "judged_offsets": [0, 1], "unjudged": [False, True]}
    >>> Metric.parse("rbp-residual(p=0.5)")([2, 1], [1, 0], [0, 2], **judgments)  # 1/4 + 1/2·1/2
    array([0.5])
"""

from __future__ import annotations

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names
from podium.metrics.kernels import OWN, cut


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """The weight of unjudged documents and of all ranks behind the list."""
    last, total, weight, start = cut(len(labels), config), 0.0, 1.0 - config[OWN], 0
    while start < last:
        end, weights, unjudged = ends[start], 0.0, 0.0
        for place in range(start, end):
            unjudged += not labels[place] >= 0.0  # NaN or negative
            if place < last:
                weights += weight
                weight *= config[OWN]
        total += weights * unjudged / (end - start)
        start = end
    return total + config[OWN] ** last  # type: ignore[no-any-return]


@register
class RBPResidual(Metric):
    """RBP residual: the rank-biased precision that missing judgments leave open; less is better."""

    p: float = param(default=0.8, above=0.0, below=1.0)
    """The probability that the user looks at the next document."""
    names = Names(number="p")
    conventions = Conventions(can_be_empty=False, words={"p": ("the next document is looked at with probability", str)})
    kernel = Kernel(measure, sees_unjudged=True)
    normalised = False
    higher_is_better = False
