"""EnergyNDCG (Freno et al., 2011): a Markov random field over ranks whose energy counts what swaps change in NDCG.

The rank of a document is told by the others in its Markov blanket:

    P(r_i = r | mb(i)) ∝ exp(β A_i D(r)),   A_i = Σ_{j∈mb(i)} |2^{y_i} − 2^{y_j}| (s_i − s_j),   D(r) = 1/log2(r + 1)

and learning makes the ranks of an optimal ranking probable (a pseudo-likelihood). A pair has the energy |ΔNDCG|; with
the signed one that the paper prints, both orders of a pair have the same energy.

>>> from podium.losses import EnergyNDCG
>>> round(EnergyNDCG()([0.0, 0.0, 0.0], [2, 1, 0]).value, 4)  # 3 log 3: all ranks alike
3.2958
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.losses.base import Loss, kernel
from podium.losses.blocks import by_grade_and_score, clear, take
from podium.losses.draws import share, shuffle_blocks, start
from podium.registry import param, register


@kernel
def over_grades(scores: Any, labels: Any, gradient: Any, curvature: Any, params: Any) -> Any:
    """−Σ_i log P(r_i | mb(i)): with c_i = ∂L/∂A_i and v_i = ∂²L/∂A_i², and |ΔG| of the pairs of a blanket,

    ∂L/∂s_k = Σ_j |ΔG_kj| (c_k − c_j) and ∂²L/∂s_k² = v_k (Σ_j |ΔG_kj|)² + Σ_j v_j ΔG_kj². Equal grades have |ΔG| = 0.
    """
    clear(gradient, curvature)
    order, ends = by_grade_and_score(scores, labels)
    n, value = len(scores), 0.0
    if n < 2 or ends[0] == n:
        return 0.0
    window = n if params[0, 0] < 0.0 else int(params[0, 0])
    ranked = order.copy()
    if window < n:
        shuffle_blocks(ranked, ends, start(params[0, 1], ends))
    s, gains, slopes, bends = take(scores, ranked), _gains(labels, ranked), np.empty(n), np.empty(n)
    discounts = rank_discounts(n)
    for p in range(n):
        wanted = _mean(discounts, ends, p) if window >= n else discounts[p]
        v, slopes[p], bends[p] = rank_law(pull(s, gains, p, window), wanted, discounts)
        value += v
    for p in range(n):
        gradient[ranked[p]], curvature[ranked[p]] = _collect(gains, slopes, bends, p, window)
    share(scores, order, ends, gradient)
    share(scores, order, ends, curvature)
    return value


@kernel
def _gains(labels: Any, ranked: Any) -> Any:
    gains = np.empty(len(ranked))
    for p in range(len(ranked)):
        gains[p] = 2.0 ** labels[ranked[p]]
    return gains


@kernel
def rank_discounts(n: Any) -> Any:
    """D(r) = 1/log2(r + 1) at r − 1."""
    discounts = np.empty(n)
    for p in range(n):
        discounts[p] = 1.0 / math.log2(p + 2.0)
    return discounts


@kernel
def _mean(discounts: Any, ends: Any, p: Any) -> Any:
    """The mean over the places of p's block, which any of its documents may have in an optimal ranking."""
    first, total = p, 0.0
    while first > 0 and ends[first - 1] == ends[p]:
        first -= 1
    for q in range(first, ends[p]):
        total += discounts[q]
    return total / (ends[p] - first)


@kernel
def pull(s: Any, gains: Any, p: Any, window: Any) -> Any:
    """βA, β = 1/n, of the document at place p."""
    total = 0.0
    for q in range(max(p - window, 0), min(p + window + 1, len(s))):
        total += abs(gains[p] - gains[q]) * (s[p] - s[q])
    return total / len(s)


@kernel
def rank_law(x: Any, wanted: Any, discounts: Any) -> Any:
    """log Σ_r e^{xD(r)} − xD for the wanted D, and its two derivatives in x: E[D] − D and Var[D]."""
    n = len(discounts)
    top = x * (discounts[0] if x > 0.0 else discounts[n - 1])
    total, first, second = 0.0, 0.0, 0.0
    for d in discounts:
        e = math.exp(x * d - top)
        total += e
        first += e * (d - wanted)
        second += e * (d - wanted) ** 2
    mean = first / total
    return top + math.log(total) - x * wanted, mean, max(second / total - mean * mean, 0.0)


@kernel
def _collect(gains: Any, slopes: Any, bends: Any, p: Any, window: Any) -> Any:
    """The gradient and curvature of the document at place p; ∂(βA_p)/∂s_p = β Σ |ΔG|."""
    n, slope, bend, reach = len(gains), 0.0, 0.0, 0.0
    for q in range(max(p - window, 0), min(p + window + 1, n)):
        gap = abs(gains[p] - gains[q])
        reach += gap
        slope += gap * (slopes[p] - slopes[q])
        bend += bends[q] * gap * gap
    return slope / n, (bend + bends[p] * reach * reach) / (n * n)


@register
class EnergyNDCG(Loss):
    """The pseudo-likelihood of the ranks that documents have in optimal rankings, by an energy made of |ΔNDCG|.

    Formula: L = −Σ_i log P(r_i | mb(i)), P(r_i = r | mb(i)) ∝ exp(β A_i D(r)), D(r) = 1/log2(r + 1), β = 1/n,
        A_i = Σ_{j∈mb(i)} |2^{y_i} − 2^{y_j}|(s_i − s_j); convex in s. The blanket mb(i) is fixed: all documents, or
        those within `window` places of i in an optimal ranking.
    Ties: without a window D(r_i) is its mean over the places of i's block, exactly. With a window, ties of the optimal
        ranking are broken at random from `seed`, anew for every step of a stochastic solver; file order would be
        ruinous. A query whose grades are all equal contributes 0.
    Cost: O(n²) per query: each document's law of ranks has n terms.
    Use it for: graded labels and NDCG. The paper's window is 5; on OHSUMED quality rises with it up to all documents.
    Reference: Freno, Papini & Diligenti, Learning to rank using Markov random fields, ICMLA 2011.
    """

    window: int | None = param(default=None, least=1)
    seed: int = param(default=0, least=0)
    convex = True
    name = "energy-ndcg"
    grades = staticmethod(over_grades)
