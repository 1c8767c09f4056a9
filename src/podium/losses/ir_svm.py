"""IR SVM (Cao et al., 2006): hinge loss on pairs, weighted by what they mean for the top of the list.

>>> from podium.losses import IRSVM
>>> IRSVM()([0.0, 0.0, 0.0], [2, 1, 0]).value  # (⅔ + 1 + ⅓)/3: grades 2 and 1 count ⅔, 2 and 0 count 1, 1 and 0 count ⅓
0.6666666666666666
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from podium.compiled import compiled, vectorised
from podium.kernels.blocks import by_grade, count_edges, take
from podium.losses.pairs import PairwiseLoss, scale
from podium.registry import register


@compiled
def over_grades(scores: Any, labels: Any, gradient: Any, curvature: Any, params: Any) -> float:
    """Σ τ·[1 − (s_i − s_j)]_+ over y_i > y_j, in order of grade; τ = (2^{y_i} − 2^{y_j}) / (2^{best} − 2^{worst})."""
    n = len(scores)
    order, ends = by_grade(labels)
    s, gains, lost = take(scores, order), np.empty(n), np.zeros(n)
    for p in range(n):
        gains[p] = 2.0 ** (labels[order[p]] - labels[order[0]])  # relative to the best, so that nothing overflows
    unit = 1.0 / (1.0 - gains[n - 1]) if n > 0 and gains[n - 1] < 1.0 else 0.0
    value = 0.0
    for p in range(n):
        end = ends[p]
        v, won = _row(1.0 - s[p], gains[p], s[end:], gains[end:], lost[end:])
        value += unit * v
        gradient[order[p]], curvature[order[p]] = unit * (lost[p] - won), unit * (lost[p] + won)
    return scale(value, count_edges(ends), gradient, curvature, params)


@vectorised
def _row(a: Any, gain: Any, s: Any, gains: Any, lost: Any) -> Any:
    """m_j = [a + s_j]_+ for all j: Σ (gain − gain_j)·m_j, and Σ of these weights where m_j is positive."""
    value, won = 0.0, 0.0
    for j in range(len(s)):
        m = max(a + s[j], 0.0)
        weight = gain - gains[j] if m > 0.0 else 0.0
        value += weight * m
        won += weight
        lost[j] += weight
    return value, won


@register
class IRSVM(PairwiseLoss):
    """Hinge loss in which pairs of grades that matter more at the top weigh more, and each query weighs the same.

    Formula: L = μ·Σ_{y_i > y_j} τ_ij·[1 − (s_i − s_j)]_+ with τ_ij = (2^{y_i} − 2^{y_j})/(2^{best} − 2^{worst}): where
        the worst grade is 0, the drop of NDCG@1 when j stands at the top in the place of i. μ = 1/|P|
        (`normalise=true`), or 1. The paper averages drops of NDCG@1 over queries and swaps into one number per pair of
        grades; a loss sees one query, so these are its own.
    Ties: documents of equal grade are not compared.
    Cost: O(n²) per query, under a nanosecond per pair.
    Use it for: grades of unequal worth, and queries of very different length.
    Curvature: the weight of the violated pairs that a document is in, so that g/h is a step within the margin.
    Reference: Cao, Xu, Liu, Li, Huang & Hon, Adapting ranking SVM to document retrieval, SIGIR 2006.
    """

    normalise: bool = True
    convex = True
    grades = staticmethod(over_grades)
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"
