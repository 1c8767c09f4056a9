"""SDCG@k: scaled DCG, over that of a list whose every document has the largest grade.

Formula: DCG@k/Σ_{r ≤ k} G(y_max) D(r), with the gain G and the discount D of the convention; without k, over the
length of the list. y_max is `max_grade`: the scale's largest grade; without it, the largest label in the judgments.
Ties: the mean over all orders of tied documents, exactly. Cost: O(n + k). Use it for: DCG within 0 and 1 without an
ideal order, so that a query with few relevant documents counts little. Empty: no judged document with a gain above 0.
Reference: Järvelin and Kekäläinen (2002), as in cwl_eval.

    >>> from podium.metrics import Metric
    >>> Metric.parse("SDCG@2[gain=linear]")([4, 3, 2, 1], [1, 2, 0, 0], [0, 4]).round(6)  # (1 + 2·0.63)/(2 + 2·0.63)
    array([0.693426])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import ParameterError
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics import dcg
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import CUTOFF, NO_CUTOFF, OWN, additive_swap, discount, has_gain
from podium.metrics.largest_grade import GRADE_WORDS, largest_grade

expected_dcg, prepare_dcg = dcg.expected_dcg, dcg.prepare
_MOST = 1_000_000  # ranks that are added up


@compiled
def largest_dcg(n: int, config: Array) -> float:
    """DCG@k of documents of the largest grade."""
    total = 0.0
    for place in range(int(config[CUTOFF]) if config[CUTOFF] < NO_CUTOFF else max(n, 1)):
        total += discount(place, config)
    return total * config[OWN]  # type: ignore[no-any-return]


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """DCG@k over that of documents of the largest grade."""
    if not has_gain(ideal, config):
        return np.nan
    return expected_dcg(labels, ends, config) / largest_dcg(len(labels), config)


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """Gains over the largest DCG, then discounts."""
    prepare_dcg(labels, ideal, config, work)
    share = 1.0 / largest_dcg(len(labels), config) if has_gain(ideal, config) else 0.0
    for place in range(len(labels)):
        work[place] *= share


@register
class SDCG(Metric):
    """SDCG@k: DCG@k over that of documents of the largest grade."""

    max_grade: int | None = param(default=None, least=1)
    """The largest grade of the scale; None: the largest label in the judgments."""
    names = Names(stating("scaled_dcg"))
    conventions = Conventions(uses=("gain", "discount", "short", "ideal", "floor"), words=GRADE_WORDS)
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    normalised = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cutoff is not None and self.cutoff > _MOST:
            raise ParameterError(f"{self.name}: the cut-off must be at most {_MOST:,}; got {self.cutoff}.")

    def own_numbers(self, largest_label: float) -> tuple[float, ...]:
        """The gain of the largest grade."""
        largest, how = largest_grade(self, self.max_grade, largest_label), self.convention.gain
        if isinstance(how, tuple):
            return (how[min(int(largest), len(how) - 1)],)
        return (largest if how == "linear" else 2.0**largest - 1.0,)
