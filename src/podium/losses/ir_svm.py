"""IR SVM (Cao et al., 2006): pairwise hinge loss, weighted towards the top of the list.

>>> from podium.losses import IRSVM
>>> IRSVM()([0.0, 0.0, 0.0], [2, 1, 0]).value  # (⅔ + 1 + 0)/3: only pairs of the best grade change NDCG@1
0.5555555555555555
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError, ParameterError
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.blocks import by_grade, count_edges, take
from podium.kernels.check_gains import check_gains
from podium.kernels.sums import add_up
from podium.losses.pairs import PairwiseLoss, scale
from podium.metrics.gains import exp2_gain

if TYPE_CHECKING:
    from podium.data.dataset import Dataset

MOST_GRADES = 50


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ τ·[1 − (s_i − s_j)]_+ over y_i > y_j, in order of grade; τ by the grades of i and j."""
    n, value, first = len(scores), 0.0, 0
    order, ends = by_grade(labels)
    s, won, lost, margins, weights = take(scores, order), np.zeros(n), np.zeros(n), np.empty(n), np.empty(n)
    while first < n:
        end = ends[first]
        low = end
        while low < n:
            tau, high = _tau(labels[order[first]], labels[order[low]], params[0]), ends[low]
            for p in range(first, end if tau > 0.0 else first):
                v, violated = _row(1.0 - s[p], tau, s[low:high], lost[low:high], margins[low:high], weights[low:high])
                value, won[p] = value + v, won[p] + violated
            low = high
        first = end
    for p in range(n):
        gradient[order[p]], curvature[order[p]] = lost[p] - won[p], lost[p] + won[p]
    return scale(value, count_edges(ends), gradient, curvature, params)


@compiled
def _tau(better: float, worse: float, constants: Array) -> Any:
    """Weight of a pair of grades, from triples (better, worse, τ) after the first constant; 0 if it has none."""
    for k in range(1, len(constants), 3):
        if constants[k] == better and constants[k + 1] == worse:
            return constants[k + 2]
    return 0.0


@compiled
def _row(a: float, tau: float, s: Array, lost: Array, margins: Array, weights: Array) -> Any:
    """m_j = [a + s_j]_+ for all j: τ Σ m_j, and τ × the number of positive m_j, to whose `lost` τ is added."""
    for j in range(len(s)):
        margins[j] = max(a + s[j], 0.0)
        weights[j] = tau if margins[j] > 0.0 else 0.0
    for j in range(len(s)):
        lost[j] += weights[j]
    return tau * add_up(margins), add_up(weights)


@register
class IRSVM(PairwiseLoss):
    """Pairwise hinge loss: pairs of grades weigh as much as they matter at the top, and each query weighs the same.

    Formula: L = μ·Σ_{y_i > y_j} τ(y_i, y_j)·[1 − (s_i − s_j)]_+. τ(g, h) is the mean drop of NDCG@1 when a random
        document of grade g and one of grade h are swapped in a perfect ranking, over the training queries that have
        both grades: (1 − (2^h − 1)/(2^g − 1))/n_g if g is the best grade of the query, which n_g documents have,
        else 0. All τ are divided by the largest. μ = 1/|P| (`normalise=true`), or 1; the paper's max|P|/|P| is the
        same with another penalty.
    Ties: documents of equal grade are not compared.
    Cost: O(n²) per query, under a nanosecond per pair.
    Use it for: grades of unequal value, and queries of very different length. A pair of grades whose better grade is
        never the best of a query has τ = 0 and is ignored; `tau` sets other weights.
    Curvature: the weight of the violated pairs of a document, so that g/h is a step within the margin.
    Reference: Cao, Xu, Liu, Li, Huang & Hon, Adapting ranking SVM to document retrieval, SIGIR 2006.
    """

    normalise: bool = True
    """Whether a query's sum is divided by its number of pairs, so that long queries count like short ones."""
    tau: tuple[float, ...] = ()
    """Weights of pairs of grades, as triples: better grade, worse grade, τ. If empty, from the training data."""
    convex = True
    grades = staticmethod(over_grades)
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.tau) % 3 or any(x < 0 for x in self.tau[2::3]):
            raise ParameterError(
                f"{self.name}: tau holds triples (better grade, worse grade, weight of at least 0); got {self.tau}."
            )

    def fitted_to(self, data: Dataset) -> IRSVM:
        return self if self.tau else replace(self, tau=drops_of_ndcg_1(data, self.name))

    def constants(self, data: Dataset) -> Array:
        return np.array([float(self.normalise), *self.fitted_to(data).tau])


def drops_of_ndcg_1(data: Dataset, who: str) -> tuple[float, ...]:
    """τ of each pair of grades that a query has, as triples."""
    if data.labels is None:
        return (1.0, 0.0, 1.0)  # document weights: relevant or not
    check_gains(who, data.labels)
    if len(np.unique(data.labels)) > MOST_GRADES:
        raise IncompatibleError(
            f"{who} has a weight for each pair of grades, and the data has {len(np.unique(data.labels))} grades; "
            f"at most {MOST_GRADES} are possible. Use hinge, or fewer grades."
        )
    drops: dict[tuple[float, float], list[float]] = {}
    weights = np.ones(data.n_queries) if data.query_weights is None else data.query_weights
    for weight, (a, b) in zip(weights, pairwise(data.offsets), strict=True):
        grades, sizes = np.unique(data.labels[a:b], return_counts=True)
        for k in range(len(grades)):
            for h in range(k):
                top = k == len(grades) - 1
                drop = (1.0 - exp2_gain(grades[h]) / exp2_gain(grades[k])) / sizes[k] if top else 0.0
                total = drops.setdefault((float(grades[k]), float(grades[h])), [0.0, 0.0])
                total[0], total[1] = total[0] + weight * drop, total[1] + weight
    means = {pair: total / weight if weight > 0 else 0.0 for pair, (total, weight) in sorted(drops.items())}
    largest = max(means.values(), default=0.0) or 1.0
    return tuple(float(x) for (better, worse), mean in means.items() for x in (better, worse, mean / largest))
