"""EnergyNDCG (Freno et al., 2011): a Markov random field over ranks with |ΔNDCG| of swaps as its energy.

The rank of a document depends on the others in its Markov blanket:

    P(r_i = r | mb(i)) ∝ exp(β A_i D(r)),   A_i = Σ_{j∈mb(i)} |2^{y_i} − 2^{y_j}| (s_i − s_j),   D(r) = 1/log2(r + 1)

and training maximises the pseudo-likelihood of the ranks in an optimal ranking. A pair has the energy |ΔNDCG|; with
the signed one that the paper prints, both orders of a pair have the same energy. With BoltzRank's energy of a pair,
(r_i − r_j)(s_i − s_j), P(r_i = r | mb(i)) ∝ exp(−β B_i r), B_i = Σ_{j∈mb(i)} (s_i − s_j).

>>> from podium.losses import EnergyNDCG
>>> round(EnergyNDCG()([0.0, 0.0, 0.0], [2, 1, 0]).value, 4)  # 3 log 3: all ranks alike
3.2958
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import ParameterError
from podium.base.registry import param, register
from podium.jit.compiled import compiled, inlined
from podium.kernels.blocks import bounds, by_grade_and_score, clear, count_edges, take
from podium.kernels.check_gains import check_gains
from podium.kernels.draws import share, shuffle_blocks, start
from podium.kernels.exponentials import exponentials
from podium.kernels.sums import add_up
from podium.losses.base import Loss
from podium.metrics import NDCG, Metric
from podium.metrics.kernels import log2_discount

WINDOW, SEED, SAMPLES, ENERGY, CUTOFF = 0, 1, 2, 3, 4  # indices in params[0]
RANK = 1.0  # energy of ranks instead of NDCG
WORK, CONFIG = 4, 6  # for metrics other than NDCG: the size of their workspace, and their configuration


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    """−Σ_i log P(r_i | mb(i)): with c_i = ∂L/∂A_i and v_i = ∂²L/∂A_i², and |ΔG| of the pairs of a blanket,

    ∂L/∂s_k = Σ_j |ΔG_kj| (c_k − c_j) and ∂²L/∂s_k² = v_k (Σ_j |ΔG_kj|)² + Σ_j v_j ΔG_kj². Equal grades have |ΔG| = 0.
    """
    clear(gradient, curvature)
    order, ends = by_grade_and_score(scores, labels)
    n, value = len(scores), 0.0
    if n < 2 or ends[0] == n:
        return 0.0
    window = n if params[0, WINDOW] < 0.0 else min(n, int(params[0, WINDOW]))
    discounts, by_rank = rank_discounts(n), params[0, ENERGY] == RANK
    for p in range(0 if by_rank else min(n, int(params[0, CUTOFF])), n):
        discounts[p] = -(p + 1.0) if by_rank else 0.0
    ranked, state = order.copy(), start(params[0, SEED], ends)
    samples = int(params[0, SAMPLES]) if window < n and count_edges(ends) < n * (n - 1) // 2 else 1
    for _ in range(samples):
        if window < n:
            state = shuffle_blocks(ranked, ends, state)
        value += _one_ranking(scores, labels, ranked, ends, window, discounts, by_rank, gradient, curvature)
    return finish(value, samples, scores, order, ends, gradient, curvature)


@compiled
def finish(
    value: float, samples: int, scores: Array, order: Ints, ends: Ints, gradient: Array, curvature: Array
) -> Any:
    """Mean over tie-breaks, the same for documents of equal grade and score."""
    for i in range(len(scores)):
        gradient[i] /= samples
        curvature[i] /= samples
    share(scores, order, ends, gradient)
    share(scores, order, ends, curvature)
    return value / samples


@compiled
def _one_ranking(
    scores: Array,
    labels: Array,
    ranked: Ints,
    ends: Ints,
    window: int,
    discounts: Array,
    by_rank: bool,
    gradient: Array,
    curvature: Array,
) -> Any:
    """−Σ_i log P(r_i | mb(i)) of one optimal ranking; adds its derivatives. All |ΔG| are 1 for the energy of ranks."""
    n, value = len(ranked), 0.0
    beta = 2.0 / (n * (n - 1)) if by_rank else 1.0 / n
    s, gains, slopes, bends, work = take(scores, ranked), _gains(labels, ranked), np.empty(n), np.empty(n), np.empty(n)
    gaps, terms = np.empty(n), np.empty(n)
    wanted = _block_means(discounts, ends) if window >= n else discounts
    for p in range(n):
        a, b = max(p - window, 0), min(p + window + 1, n)
        x = beta * _pull(gains[p], s[p], gains[a:b], s[a:b], by_rank, terms[a:b])
        v, slopes[p], bends[p] = minus_log_rank(x, wanted[p], discounts, work)
        value += v
    for p in range(n):
        a, b = max(p - window, 0), min(p + window + 1, n)
        slope, bend, reach = _collect(
            gains[p], slopes[p], gains[a:b], slopes[a:b], bends[a:b], by_rank, gaps[a:b], terms[a:b]
        )  # fmt: skip
        if by_rank:  # the document itself is not in its blanket
            reach, bend = reach - 1.0, bend - bends[p]
        gradient[ranked[p]] += beta * slope
        curvature[ranked[p]] += beta * beta * (bend + bends[p] * reach * reach)
    return value


@compiled
def _gains(labels: Array, ranked: Ints) -> Any:
    gains = np.empty(len(ranked))
    for p in range(len(ranked)):
        gains[p] = 2.0 ** labels[ranked[p]]
    return gains


@compiled
def rank_discounts(n: int) -> Any:
    """D(r) = 1/log2(r + 1) at r − 1."""
    discounts = np.empty(n)
    for p in range(n):
        discounts[p] = log2_discount(p + 1.0)
    return discounts


@compiled
def _block_means(discounts: Array, ends: Ints) -> Any:
    """Mean discount over each block of equal grades: its documents may have any of its ranks in an optimal ranking."""
    means, first = np.empty(len(ends)), 0
    while first < len(ends):
        end, total = ends[first], 0.0
        for q in range(first, end):
            total += discounts[q]
        for q in range(first, end):
            means[q] = total / (end - first)
        first = end
    return means


@compiled
def _pull(gain: float, score: float, gains: Array, s: Array, by_rank: bool, terms: Array) -> float:
    """A, or B, of a document of this gain and score, over its blanket."""
    for q in range(len(s)):
        terms[q] = (1.0 if by_rank else abs(gain - gains[q])) * (score - s[q])
    return add_up(terms)


@compiled
def minus_log_rank(x: float, wanted: float, discounts: Array, work: Array) -> Any:
    """log Σ_r e^{xD(r)} − xD for the wanted D, and its two derivatives in x: E[D] − D and Var[D]."""
    best = discounts[0 if x > 0.0 else len(discounts) - 1]
    exponentials(discounts, best, x, work)
    total, first, second = _moments(work, discounts, wanted)
    mean = first / total
    return math.log(total) + x * (best - wanted), mean, max(second / total - mean * mean, 0.0)


@compiled
def _moments(e: Array, discounts: Array, wanted: float) -> Any:
    """Σ e, Σ e·(D − wanted) and Σ e·(D − wanted)²; `e` is changed."""
    total = add_up(e)
    for r in range(len(e)):
        e[r] *= discounts[r] - wanted
    first = add_up(e)
    for r in range(len(e)):
        e[r] *= discounts[r] - wanted
    return total, first, add_up(e)


@compiled
def _collect(
    gain: float, c: float, gains: Array, slopes: Array, bends: Array, by_rank: bool, gaps: Array, terms: Array
) -> Any:
    """Σ |ΔG|·(c_p − c_q), Σ v_q ΔG² and Σ |ΔG| over the blanket of a document; ∂(βA_p)/∂s_p = β Σ |ΔG|."""
    for q in range(len(gains)):
        gaps[q] = 1.0 if by_rank else abs(gain - gains[q])
        terms[q] = gaps[q] * (c - slopes[q])
    slope, reach = add_up(terms), add_up(gaps)
    for q in range(len(gains)):
        terms[q] = bends[q] * gaps[q] * gaps[q]
    return slope, add_up(terms), reach


@inlined
def energies(
    prepare: Callable[..., None], swap: Callable[..., float],
    scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array,
) -> Any:  # fmt: skip
    """−Σ_i log P(r_i | the others), log P(r_i = r) = Σ_q ±|ΔM_rq| (s_i − s_q) + const, for any metric with swaps.

    To get rank r, the document swaps with the document there; q runs over the ranks within the window of r, + below it
    and − above, and |ΔM_rq| is the change of the metric if r and q are then swapped.
    """
    clear(gradient, curvature)
    order, ends = by_grade_and_score(scores, labels)
    n, value = len(scores), 0.0
    if n < 2 or ends[0] == n:
        return 0.0
    window = n if params[0, WINDOW] < 0.0 else int(params[0, WINDOW])
    ranked, state = order.copy(), start(params[0, SEED], ends)
    ideal, y = take(labels, order), take(labels, order)
    config, work = params[0, CONFIG:], np.empty(int(params[0, WORK] + n * params[0, WORK + 1]))
    samples = int(params[0, SAMPLES]) if count_edges(ends) < n * (n - 1) // 2 else 1
    for _ in range(samples):
        state = shuffle_blocks(ranked, ends, state)
        s, forces, slopes, bends = take(scores, ranked), np.empty((n, n)), np.zeros(n), np.zeros(n)
        for p in range(n):
            for r in range(n):
                y[p], y[r] = ideal[r], ideal[p]
                prepare(y, ideal, config, work)
                forces[r] = 0.0
                for q in range(max(r - window, 0), min(r + window + 1, n)):
                    if y[q] != y[r]:
                        delta = abs(swap(y, config, work, min(q, r), max(q, r)))
                        forces[r, q] = delta if r < q else -delta
                y[p], y[r] = ideal[p], ideal[r]
            value += minus_log_place(s, p, forces, slopes, bends)
        for p in range(n):
            gradient[ranked[p]] += slopes[p]
            curvature[ranked[p]] += bends[p]
    return finish(value, samples, scores, order, ends, gradient, curvature)


@compiled
def minus_log_place(s: Array, p: int, forces: Array, slopes: Array, bends: Array) -> Any:
    """−log P(r_p = p), P(r) ∝ exp(Σ_q forces[r, q]·(s_p − s_q)), after p and r are swapped; adds its derivatives.

    The second derivative by a score is the variance of its factor in the exponent.
    """
    n = len(s)
    logits, own, means, squares = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    for r in range(n):
        for q in range(n):
            logits[r] += forces[r, q] * (s[p] - s[r if q == p else q])
            own[r] += forces[r, q]
    top, total = bounds(logits)[1], 0.0
    for r in range(n):
        total += math.exp(logits[r] - top)
    for r in range(n):
        chance = math.exp(logits[r] - top) / total
        for q in range(n):
            other = r if q == p else q
            if other != p:
                means[other] -= chance * forces[r, q]
                squares[other] += chance * forces[r, q] ** 2
                slopes[other] += forces[r, q] if r == p else 0.0
        means[p] += chance * own[r]
        squares[p] += chance * own[r] ** 2
    slopes[p] -= own[p]
    for k in range(n):
        slopes[k] += means[k]
        bends[k] += max(squares[k] - means[k] ** 2, 0.0)
    return top + math.log(total) - logits[p]


@functools.cache
def kernel_for(prepare: Callable[..., None], swap: Callable[..., float]) -> Callable[..., float]:
    """Kernel of the loss for the swap functions of a metric."""

    def over_metric(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
        return energies(prepare, swap, scores, labels, gradient, curvature, params)

    return compiled(over_metric)


@register
class EnergyNDCG(Loss):
    """Negative log pseudo-likelihood of the ranks in an optimal ranking, with |ΔNDCG| as the energy of a pair.

    Formula: L = −Σ_i log P(r_i | mb(i)), P(r_i = r | mb(i)) ∝ exp(β A_i D(r)), D(r) = 1/log2(r + 1), β = 1/n,
        A_i = Σ_{j∈mb(i)} |2^{y_i} − 2^{y_j}|(s_i − s_j); convex in s. The blanket mb(i) is fixed: all documents, or
        those within `window` ranks of i in an optimal ranking. NDCG@k has D(r) = 0 beyond k. For any other `metric`
        with swaps, log P(r_i = r | rest) = Σ_q ±|ΔM_rq|(s_i − s_q) + const, after i is swapped with the document at r;
        q runs over the ranks within `window` of r (so the blanket moves with r), + below r and − above, and |ΔM_rq|
        is the change of the metric if r and q are then swapped; convex too. With `energy=rank`, the energy of a pair
        is BoltzRank's, (r_i − r_j)(s_i − s_j): P(r_i = r | mb(i)) ∝ exp(−β B_i r), B_i = Σ_{j∈mb(i)} (s_i − s_j),
        β = 2/(n(n − 1)).
    Ties: without a window D(r_i) is its mean over the ranks of i's block, exactly. With a window, and for other
        metrics, the mean over `samples` optimal rankings whose ties are broken at random from `seed`, again in every
        step of a stochastic solver; file order would ruin the result. A query whose grades are all equal contributes 0.
    Cost: O(n²) per query: each document's distribution of ranks has n terms. With a window, this for each sample; for
        other metrics O(n³).
    Use it for: graded labels and NDCG. The paper's window is 5; on OHSUMED quality rises with it up to all documents.
        With solver=adam, which breaks ties again in every step, `samples=1` is enough.
    Reference: Freno, Papini & Diligenti, Learning to rank using Markov random fields, ICMLA 2011.
    """

    window: int | None = param(default=None, least=1)
    """Ranks on either side that a document is compared with; all of them by default."""
    seed: int = param(default=0, least=0)
    """Seed of the random tie-breaks."""
    samples: int = param(default=5, least=1)
    """Random tie-breaks of the optimal ranking, with a window or another metric."""
    metric: Metric = NDCG()
    """Metric whose changes are the energies of pairs."""
    energy: Literal["ndcg", "rank"] = "ndcg"
    """Energy of a pair: the change of the metric by its exchange, or its differences in rank × in score."""
    name = "energy-ndcg"
    convex = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.metric.swap_functions()
        if self.energy == "rank" and self.metric != NDCG():
            raise ParameterError(f"energy-ndcg: energy=rank looks at no metric; leave out metric={self.metric}.")

    @property
    def grades(self) -> Any:
        """Kernel on grades."""
        return over_grades if self._is_ndcg else kernel_for(*self.metric.swap_functions())

    def kernel_constants(self, labels: Array) -> Array:
        """Window, seed, samples, energy, a cut-off; or the size of the workspace and the metric's configuration."""
        head = list(self.numeric_fields().values())
        if self._is_ndcg:
            if self.energy == "ndcg":
                check_gains(self.name, labels, negative=True)
            return np.array([*head, 2.0**53 if self.metric.cutoff is None else self.metric.cutoff])
        fixed = self.metric.work_size(0)
        return np.concatenate([head, [fixed, self.metric.work_size(1) - fixed], self.metric.config_array(labels)])

    @property
    def _is_ndcg(self) -> bool:
        return self.metric == NDCG(self.metric.cutoff)
