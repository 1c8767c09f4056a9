"""ListNet (Cao et al., 2007): cross entropy between the top-k probabilities of labels and of scores.

>>> from podium.losses import ListNet
>>> round(ListNet()([2.0, 1.0], [1, 0]).value, 4)  # log(1 + e^−1) + 1/(1 + e)
0.5822
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from podium.base.arrays import Array, Flags, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.kernels.blocks import bounds, by_grade_and_score, clear
from podium.kernels.draws import advance, share, start, uniform
from podium.kernels.exponentials import exponentials
from podium.kernels.sums import add_up
from podium.losses.base import Loss
from podium.losses.bounds import Bound
from podium.losses.listmle import one_wide_ranking
from podium.losses.noisy_scores import noisy

SAMPLES, SEED, BETA = 1, 2, 4
"""Indices in params[0], whose first is k."""


@compiled
def top_1(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """−Σ P_y(i) log P_s(i), P_y = softmax(y), P_s = softmax(s); 0 if all grades are equal."""
    (worst, best), (_, top) = bounds(labels), bounds(scores)
    if worst == best:
        clear(gradient, curvature)
        return 0.0
    exponentials(scores, top, 1.0, curvature)
    exponentials(labels, best, 1.0, gradient)
    total, target = add_up(curvature), add_up(gradient)
    return math.log(total) - _compare(scores, top, 1.0 / target, 1.0 / total, gradient, curvature)


@compiled
def _compare(
    scores: Array, top: float, per_target: float, per_total: float, gradient: Array, curvature: Array
) -> float:
    """Σ P_y(i)·(s_i − s_top); replaces e^y and e^s in the two arrays by the derivatives."""
    terms = np.empty(len(scores))
    for i in range(len(scores)):
        terms[i] = gradient[i] * (scores[i] - top)
    for i in range(len(scores)):
        p = curvature[i] * per_total
        gradient[i] = p - gradient[i] * per_target
        curvature[i] = p * (1.0 - p)
    return add_up(terms) * float(per_target)


@compiled
def top_k_documents(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    """−Σ P_y(π) log P_s(π) over the first k > 1 documents π; 0 if all grades are equal.

    With R_π = Σ φ of the documents not in π, −log P_s is Σ_r log R_{π_1…π_{r−1}} − s_{π_r}: a stage needs the
    distribution of the documents before it, and P_y(i has rank r), the derivative of the same sum of logarithms at y.
    """
    worst, best = bounds(labels)
    k = min(int(params[0, 0]), len(scores))
    if worst == best or k <= 3:
        value = top_1(scores, labels, gradient, curvature, params)
        return value if worst == best or k == 1 else value + _top_three(scores, labels, gradient, curvature, k)
    clear(gradient, curvature)
    return _sampled(scores, labels, gradient, curvature, params)


@compiled
def _top_three(scores: Array, labels: Array, gradient: Array, curvature: Array, k: int) -> float:
    """Terms of rank 2, or of ranks 2 and 3, by sums over the documents that are ranked before."""
    n, value = len(scores), 0.0
    target, unused, here, first, second = np.zeros(n), np.zeros(n), np.ones(n, np.bool_), np.empty(n), np.empty(n)
    e, best, phi, top = np.empty(n), np.empty(n), np.empty(n), np.empty(n)  # best and top: without the best and the top
    favourite, leader = _exponentials(labels, here, e), _exponentials(scores, here, phi)
    _choose(e, here, 1.0, first)
    value += _leave_one_out(scores, phi, leader, here, first, gradient, curvature)
    _leave_one_out(labels, e, favourite, here, first, target, unused)
    for i in range(n if k == 3 else 0):
        here[i] = False
        e_i, favourite_i = (e, favourite) if i != favourite else (best, _exponentials(labels, here, best))
        phi_i, leader_i = (phi, leader) if i != leader else (top, _exponentials(scores, here, top))
        _choose(e_i, here, first[i], second)
        value += _leave_one_out(scores, phi_i, leader_i, here, second, gradient, curvature)
        _leave_one_out(labels, e_i, favourite_i, here, second, target, unused)
        here[i] = True
    for i in range(n):
        value -= target[i] * scores[i]
        gradient[i] -= target[i]
        curvature[i] = max(curvature[i], 0.0)
    return value


@compiled
def _exponentials(s: Array, here: Flags, out: Array) -> int:
    """Fill `out` with e^{s − s_top} of the documents that are `here`, else 0; returns the index of the highest, top."""
    top = -1
    for j in range(len(s)):
        if here[j] and (top < 0 or s[j] > s[top]):
            top = j
    for j in range(len(s)):
        out[j] = math.exp(s[j] - s[top]) if here[j] else 0.0
    return top


@compiled
def _choose(e: Array, here: Flags, weight: float, out: Array) -> None:
    """Fill `out` with weight·P(j is first) of the documents that are `here`."""
    total = 0.0
    for j in range(len(e)):
        out[j] = e[j] if here[j] else 0.0
        total += out[j]
    for j in range(len(e)):
        out[j] *= weight / total


@compiled
def _leave_one_out(
    s: Array, phi: Array, top: int, here: Flags, weights: Array, gradient: Array, curvature: Array
) -> float:
    """Σ_j w_j log R_j, R_j = Σ_{l≠j} φ_l, over the documents that are `here`; adds its two derivatives.

    `phi` is e^{s − s_top}. If a document has more than half of the sum, the others are added up, because the
    difference would lose digits. Only the top can be such a document.
    """
    total, value, inverse, inverse_2 = 0.0, 0.0, 0.0, 0.0
    for j in range(len(s)):
        total += phi[j] if here[j] else 0.0
    large = top if total < 2.0 else -1
    for j in range(len(s)):
        if here[j] and j != large:
            rest = total - phi[j]
            value += weights[j] * (math.log(rest) + s[top])
            inverse += weights[j] / rest
            inverse_2 += weights[j] / rest**2
    for j in range(len(s)):
        if here[j]:
            own, own_2 = 0.0, 0.0
            if j != large:
                own, own_2 = weights[j] / (total - phi[j]), weights[j] / (total - phi[j]) ** 2
            gradient[j] += phi[j] * (inverse - own)
            curvature[j] += phi[j] * (inverse - own) - phi[j] ** 2 * (inverse_2 - own_2)
    return value if large < 0 else value + _without(s, here, large, weights[large], gradient, curvature)


@compiled
def _without(s: Array, here: Flags, out: int, weight: float, gradient: Array, curvature: Array) -> Any:
    """weight·log Σ_{l≠out} φ_l and its derivatives, by a separate sum."""
    high, total = -np.inf, 0.0
    for j in range(len(s)):
        if here[j] and j != out:
            high = max(high, s[j])
    for j in range(len(s)):
        total += math.exp(s[j] - high) if here[j] and j != out else 0.0
    for j in range(len(s)):
        if here[j] and j != out:
            p = math.exp(s[j] - high) / total
            gradient[j] += weight * p
            curvature[j] += weight * p * (1.0 - p)
    return weight * (math.log(total) + high)


@compiled
def _sampled(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    """Mean of −log P_s over samples of the first k documents from P_y."""
    n, k, samples = len(scores), int(params[0, 0]), int(params[0, 1])
    order, ends = by_grade_and_score(scores, labels)
    state, k = start(params[0, 2], ends), min(k, n)
    ranked, work, value, weights = order.copy(), np.empty(n), 0.0, np.zeros(n)
    for p in range(k):
        weights[p] = 1.0
    for _ in range(samples):
        for p in range(n):
            ranked[p] = order[p]
        for p in range(k):
            state = advance(state)
            q = _pick(labels, ranked, p, uniform(state))
            ranked[p], ranked[q] = ranked[q], ranked[p]
        alone = 0.0, 0.0, -np.inf, 1.0
        value += one_wide_ranking(scores, ranked, weights, alone, gradient, curvature, work)[0]
    for i in range(n):
        gradient[i] /= samples
        curvature[i] = max(curvature[i] / samples, 0.0)
    share(scores, order, ends, gradient)
    share(scores, order, ends, curvature)
    return value / samples


@compiled
def _pick(labels: Array, ranked: Ints, first: int, u: float) -> int:
    """Index in `ranked` of a document drawn from `first` on, P ∝ e^y."""
    high, total = -np.inf, 0.0
    for p in range(first, len(ranked)):
        high = max(high, labels[ranked[p]])
    for p in range(first, len(ranked)):
        total += math.exp(labels[ranked[p]] - high)
    left = u * total
    for p in range(first, len(ranked) - 1):
        left -= math.exp(labels[ranked[p]] - high)
        if left < 0.0:
            return p
    return len(ranked) - 1


@register
class ListNet(Loss):
    """Cross entropy between the top-k probabilities of the labels and of the scores.

    Formula: L = −Σ P_y(π) log P_s(π) over all π of k documents, P_s(π) = Π_r e^{s_π(r)} / Σ_{l not before r} e^{s_l}
        and P_y likewise; for k = 1, L = −Σ P_y(i) log P_s(i) with P_y(i) = e^{y_i}/Σ e^{y_j}. With `noise=gumbel`, the
        mean of L over `samples` of scores s + βε, ε standard Gumbel from `seed` (ST-ListNet).
    Ties: documents of equal grade share their probability; a query whose grades are all equal contributes 0.
    Cost: O(n) per query for k = 1 and 2, O(n²) for 3, all exact. From k = 4 on it is the mean over `samples` π drawn
        from P_y, O(samples·k·n); stochastic solvers draw again in every step. Noise multiplies all of it by `samples`.
    Use it for: a fast, smooth, convex loss that cares about the top of the list; often the best linear ranker.
    Reference: Cao et al., Learning to rank: from pairwise approach to listwise approach, ICML 2007. Noise: Bruch et
        al., A stochastic treatment of learning to rank scoring functions, WSDM 2020.
    """

    k: int = param(default=1, least=1)
    """Top ranks whose probabilities are compared."""
    samples: int = param(default=20, least=1)
    """Rankings that are drawn for `k` of 4 and more, and noisy copies of the scores."""
    seed: int = param(default=0, least=0)
    """Seed of what is drawn at random."""
    noise: Literal["none", "gumbel"] = "none"
    """Noise that is added to the scores in training."""
    beta: float = param(default=1.0, above=0)
    """Size of the noise."""
    convex = True

    def bounds(self) -> tuple[Bound, ...]:
        if self.k != 1 or self.noise != "none":
            return ()
        return (Bound("ndcg[gain=e^y]", "−ln ndcg[gain=e^y] ≤ L", lambda v, y: math.exp(-v)),)

    def consistent_for(self) -> tuple[str, ...]:
        return ("the order of labels (permutation 0–1 loss)",)

    @property
    def grades(self) -> Any:
        """Kernel on grades; that of k = 1 is small and compiles on its own."""
        kernel = top_1 if self.k == 1 else top_k_documents
        return kernel if self.noise == "none" else noisy(kernel, SAMPLES, BETA, SEED)
