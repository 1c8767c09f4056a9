"""AppRank (Qin, Liu & Li, 2010): ApproxNDCG, ApproxAP and others, metrics of ranks that are smooth functions of scores.

The rank of a document is 1 + the number of documents above it; each "above" becomes a sigmoid of the score difference.

>>> from podium.losses import AppRank
>>> round(AppRank(alpha=1.0)([2.0, 1.0], [1, 0]).value, 4)  # 1 − 1/log2(2 + 1/(1 + e))
0.154
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.jit.sorting import sort_descending
from podium.kernels.blocks import bounds, clear
from podium.kernels.check_gains import check_gains
from podium.kernels.sums import add_up
from podium.losses.base import Loss
from podium.losses.noisy_scores import noisy
from podium.metrics.gains import exp2_gain

FAR = 200.0
"""If α times the range of scores is larger, each pair has its own exponential."""
AP, MRR, P, ERR = 1.0, 2.0, 3.0, 4.0
"""Indices in the options of `measure`."""
MEASURE, ALPHA, K, NOISE, SAMPLES, BETA, SEED, PER_POWER = range(8)
"""Indices in params[0]: fields, then 2^−y_max of the largest label of the data."""


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """1 − the metric at smooth ranks r_i = ½ + Σ_j p_ij, p_ij = σ(α(s_j − s_i)), p_ii = ½; 0 for equal grades."""
    clear(gradient, curvature)
    worst, best = bounds(labels)
    if worst == best:
        return 0.0
    n, measure, alpha = len(scores), params[0, MEASURE], params[0, ALPHA]
    relevant, largest, value = np.empty(n), _largest(labels, measure, params[0, K]), 1.0
    e, above, weight = np.empty(n), np.empty(n), np.empty(n)
    near = _exponentials(scores, alpha, e)
    for i in range(n):
        stops = params[0, PER_POWER] * _gain(labels[i])
        relevant[i] = stops if measure == ERR else 1.0 if labels[i] >= 1.0 else 0.0
    for i in range(n):
        worth = labels[i] if measure == MRR else _gain(labels[i]) if measure == 0.0 else relevant[i]
        if worth != 0.0:
            rank = 0.5 + _above(scores, i, alpha, e, near, above)
            if measure == AP:
                value -= _precision(rank, relevant, above, weight) / largest
            elif measure == P:
                value -= _within(rank, params[0, K], weight) / largest
            elif measure == ERR:
                value -= _stopped(i, rank, relevant, above, weight)
            else:
                value -= _discounted_gain(worth, rank, measure, weight) / largest
            inverse = 0.5 if measure == P else 1.0 / rank
            _add_row(i, above, weight, alpha / largest, inverse, gradient, curvature)
    for i in range(n):
        curvature[i] *= alpha
    return value


@compiled
def _largest(labels: Array, measure: float, k: float) -> float:
    """Divisor: the number of relevant documents, the sum of the labels, k for `p`, 1 for `err`, or the ideal DCG."""
    if measure == ERR:
        return 1.0
    if measure == P:
        return k
    descending, total = np.empty(len(labels)), 0.0
    sort_descending(labels, descending)
    for place in range(len(labels)):
        if measure == AP:
            total += 1.0 if descending[place] >= 1.0 else 0.0
        elif measure == MRR:
            total += descending[place]
        else:
            total += _gain(descending[place]) / math.log2(place + 2.0) if descending[place] != 0.0 else 0.0
    return total


@compiled
def _gain(label: float) -> Any:
    """2^y − 1; most documents have y = 0, which needs no power."""
    return exp2_gain(label) if label != 0.0 else 0.0


@compiled
def _exponentials(scores: Array, alpha: float, e: Array) -> bool:
    """Fill `e` with e^(αs), centred; returns whether no exponent was clipped."""
    low, high = bounds(scores)
    for i in range(len(scores)):
        e[i] = math.exp(min(max(alpha * (scores[i] - 0.5 * (low + high)), -FAR), FAR))
    return bool(alpha * (high - low) < 2.0 * FAR)


@compiled
def _above(scores: Array, i: int, alpha: float, e: Array, near: bool, above: Array) -> Any:
    """Fill `above` with p_ij = e_j/(e_i + e_j), the degree to which j is above i; returns the sum."""
    if near:
        return _share(e[i], e, above)
    total = 0.0
    for j in range(len(scores)):
        t = math.exp(-alpha * abs(scores[j] - scores[i]))
        above[j] = 1.0 / (1.0 + t) if scores[j] > scores[i] else t / (1.0 + t)
        total += above[j]
    return total


@compiled
def _share(e_i: float, e: Array, above: Array) -> float:
    for j in range(len(e)):
        above[j] = e[j] / (e_i + e[j])
    return add_up(above)


@compiled
def _discounted_gain(gain: float, rank: float, measure: float, weight: Array) -> float:
    """G·D(r), D = 1/log2(1 + r), or 1/r for `mrr`; fills `weight` with −G·D'(r), the same for every p_ij."""
    log = rank if measure == MRR else math.log2(1.0 + rank)
    slope = gain / (log * log) if measure == MRR else gain / (log * log * (1.0 + rank) * math.log(2.0))
    for j in range(len(weight)):
        weight[j] = slope
    return float(gain / log)


@compiled
def _precision(rank: float, relevant: Array, above: Array, weight: Array) -> float:
    """Precision P = c/r at the rank of i, c = ½ + Σ_j relevant p_ij; fills `weight` with −∂P/∂p_ij = (P − y_j)/r."""
    count = 0.5
    for j in range(len(above)):
        count += relevant[j] * above[j]
    for j in range(len(above)):
        weight[j] = (count / rank - relevant[j]) / rank
    return float(count / rank)


@compiled
def _within(rank: float, k: float, weight: Array) -> float:
    """σ(k + ½ − r), the degree to which i is among the first k; fills `weight` with minus its derivative."""
    inside = 1.0 / (1.0 + math.exp(min(rank - k - 0.5, 700.0)))
    for j in range(len(weight)):
        weight[j] = inside * (1.0 - inside)
    return inside


@compiled
def _stopped(i: int, rank: float, stops: Array, above: Array, weight: Array) -> float:
    """R_i/r Π_j (1 − R_j p_ij); fills `weight` with −∂/∂p_ij."""
    value = stops[i] / rank
    for j in range(len(above)):
        value *= 1.0 - stops[j] * above[j] if j != i else 1.0
    for j in range(len(above)):
        weight[j] = value * (1.0 / rank + stops[j] / (1.0 - stops[j] * above[j]))
    return float(value)


@compiled
def _add_row(
    i: int, above: Array, weight: Array, scale: float, inverse: float, gradient: Array, curvature: Array
) -> None:
    """Add the derivatives of one term to all documents, and |slope| of each document to the curvature.

    p' = αp(1 − p) and |p''| ≤ α²p(1 − p). The second derivatives of −1/log2(1 + r), −1/r and the terms of ERR are
    negative; those of c/r are 2|P'|r'/r, those of σ(k + ½ − r) at most its slope.
    """
    above[i] = 0.0  # a document is not compared with itself
    for j in range(len(above)):
        above[j] *= 1.0 - above[j]  # p'/α from here on
        weight[j] *= scale * above[j]  # a force
    total, moved = add_up(weight), add_up(above)
    for j in range(len(above)):
        gradient[j] += weight[j]
        curvature[j] += abs(weight[j]) * (1.0 + 2.0 * inverse * above[j])
    for j in range(len(above)):
        weight[j] = abs(weight[j])
    gradient[i] -= total
    curvature[i] += add_up(weight) + 2.0 * abs(total) * moved * inverse


@register
class AppRank(Loss):
    """ApproxNDCG: 1 − NDCG, AP, MRR, precision or ERR, at smooth (approximate) ranks.

    Formula: r_i = 1 + Σ_{j≠i} σ(α(s_j − s_i)); L = 1 − Σ_i (2^{y_i} − 1)/log2(1 + r_i) / ideal DCG (`measure=ndcg`), or
        L = 1 − (1/R) Σ_i c_i/r_i over the R relevant documents, y ≥ 1, c_i = 1 + Σ_{j≠i} relevant σ(α(s_j − s_i))
        (`measure=ap`), or L = 1 − Σ_i y_i/r_i / Σ_i y_i (`measure=mrr`, as in TF-Ranking: the reciprocal rank if one
        document is relevant), or L = 1 − (1/k) Σ σ(k + ½ − r_i) over the relevant documents (`measure=p`), or
        L = 1 − Σ_i R_i/r_i Π_{j≠i} (1 − R_j σ(α(s_j − s_i))), R = (2^y − 1)/2^{y_max}, y_max the largest label of the
        data (`measure=err`). With `noise=gumbel`, the mean of L over `samples` of scores s + βε, ε standard Gumbel.
    Ties: documents of equal grade are compared like others, as the metric does; a query whose grades are all equal
        contributes 0. Noise is drawn from `seed` relative to the order of grades, then of scores; documents equal in
        both share their gradient, and stochastic solvers and boosting draw again in every step.
    Cost: O(n) per relevant document, so O(n²) per query at most; times `samples` with noise.
    Use it for: optimising the metric itself, smooth and bounded; not convex, so a large α needs a good start. Noise
        makes large networks robust.
    Curvature: a bound, since the second derivative of a rank has both signs.
    Reference: Qin, Liu & Li, A general approximation framework for direct optimization of information retrieval
        measures, Information Retrieval 2010. Noise: Bruch et al., A stochastic treatment of learning to rank scoring
        functions, WSDM 2020.
    """

    measure: Literal["ndcg", "ap", "mrr", "p", "err"] = "ndcg"
    """Metric that is made smooth."""
    alpha: float = param(default=10.0, above=0, search=(1.0, 50.0, "log"))
    """Steepness of the sigmoid that stands for “above”; the larger, the nearer to the metric."""
    k: int = param(default=10, least=1)
    """Cut-off of `measure=p`."""
    noise: Literal["none", "gumbel"] = "none"
    """Noise that is added to the scores in training."""
    samples: int = param(default=8, least=1)
    """Noisy copies of the scores over which the loss is averaged."""
    beta: float = param(default=1.0, above=0)
    """Size of the noise."""
    seed: int = param(default=0, least=0)
    """Seed of what is drawn at random."""
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"

    @property
    def grades(self) -> Any:
        """Kernel on grades."""
        return over_grades if self.noise == "none" else noisy(over_grades, SAMPLES, BETA, SEED)

    @property
    def seed_at(self) -> int | None:
        return None if self.noise == "none" else SEED

    def kernel_constants(self, labels: Array) -> Array:
        """The numeric fields, then 2^−y_max."""
        if self.measure not in ("ap", "p"):
            check_gains(self.name, labels)
        return np.append(super().kernel_constants(labels), 2.0 ** -labels.max(initial=0.0))
