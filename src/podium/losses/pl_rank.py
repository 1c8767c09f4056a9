"""PL-Rank (Oosterhuis, 2021): the expected metric under Plackett–Luce, with an unbiased gradient from few rankings.

>>> from podium.losses import PLRank
>>> good, bad = PLRank()([2.0, 0.0], [1, 0]), PLRank()([0.0, 2.0], [1, 0])
>>> good.value < bad.value  # 1 − the expected NDCG@10
True
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.errors import ParameterError
from podium.base.registry import param, register
from podium.jit.compiled import compiled, inlined, outlined
from podium.jit.sorting import argsort_descending
from podium.kernels.blocks import bounds, by_grade_and_score, clear, take
from podium.kernels.draws import share, start
from podium.kernels.noise import GUMBEL, perturb
from podium.losses.base import Loss
from podium.metrics import NDCG, Metric
from podium.metrics.kernels import additive_swap

SAMPLES, SEED, FIXED, PER_DOCUMENT, CONFIG = range(5)
"""Indices in params[0]: the fields, the size of the metric's workspace, its configuration."""


@inlined
def expectation(
    prepare: Callable[..., None], scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array
) -> Any:  # fmt: skip
    """1 − the mean over drawn rankings of Σ_r w_r v̄_r; 0 if all documents are worth the same."""
    clear(gradient, curvature)
    order, ends = by_grade_and_score(scores, labels)
    n, samples, total = len(scores), int(params[0, SAMPLES]), 0.0
    if n < 2 or ends[0] == n:
        return 0.0
    y, work = take(labels, order), np.empty(int(params[0, FIXED] + n * params[0, PER_DOCUMENT]))
    prepare(y, y, params[0, CONFIG:], work)
    least, most = bounds(work[:n])
    if least == most:
        return 0.0
    s, v, w, slope, bend = take(scores, order), work[:n], work[n : 2 * n], np.zeros(n), np.zeros(n)
    rows = draw(s, samples, start(params[0, SEED], ends))
    for row in range(samples):
        total += one_ranking(s, rows[row], v, w, slope, bend)
    for p in range(n):
        gradient[order[p]], curvature[order[p]] = -slope[p] / samples, bend[p] / samples
    share(scores, order, ends, gradient)
    share(scores, order, ends, curvature)
    return 1.0 - total / samples


@compiled
def draw(s: Array, samples: int, state: np.uint64) -> Any:
    """Rankings of Plackett–Luce, documents best first, one per row: the orders of scores with Gumbel noise."""
    rows, keys = np.empty((samples, len(s)), np.int64), np.empty(len(s))
    for row in range(samples):
        state = perturb(s, GUMBEL, 1.0, state, keys)
        argsort_descending(keys, rows[row])
    return rows


@outlined("float64(float64[::1], int64[::1], float64[::1], float64[::1], float64[::1], float64[::1])")
def one_ranking(s: Array, ranked: Ints, v: Array, w: Array, slope: Array, bend: Array) -> float:
    """Σ_r w_r v̄_r of one ranking; adds the derivatives of the expected metric, and a bound of the second ones.

    With S_r = Σ_{l ≥ r} e^{s_l} and p_r(i) = e^{s_i}/S_r, document i at rank r_i has the derivative
    R_{r_i} + Σ_{r ≤ r_i} p_r(i)(ŵ_r(v_i − v̄_r) − R_r), and the second one is at most
    Σ_{r ≤ r_i} p_r(i)(1 − p_r(i))(|R_r| + |ŵ_r| max v). Sums over r are kept relative to S_r.
    """
    n, value, log_rest, mean, largest = len(s), 0.0, -np.inf, 0.0, bounds(v)[1]
    logs, means, rewards, weights = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    weights_below, values_below, both_below = 0.0, 0.0, 0.0
    for p in range(n - 1, -1, -1):
        i, below = ranked[p], max(n - 1.0 - p, 1.0)
        high = max(log_rest, s[i])
        log_rest = high + math.log1p(math.exp(min(log_rest, s[i]) - high))
        mean += (v[i] - mean) * math.exp(s[i] - log_rest)
        logs[p], means[p], weights[p] = log_rest, mean, w[p] - weights_below / below
        rewards[p] = both_below - weights_below * values_below / below
        value += w[p] * mean
        weights_below, values_below, both_below = weights_below + w[p], values_below + v[i], both_below + w[p] * v[i]
    gains, losses, curved, squares = 0.0, 0.0, 0.0, 0.0
    for p in range(n):
        i, shrink = ranked[p], math.exp(logs[p] - logs[p - 1]) if p > 0 else 1.0
        size, chance = abs(rewards[p]) + abs(weights[p]) * largest, math.exp(s[i] - logs[p])
        gains = gains * shrink + weights[p]
        losses = losses * shrink + weights[p] * means[p] + rewards[p]
        curved, squares = curved * shrink + size, squares * shrink * shrink + size
        slope[i] += rewards[p] + chance * (v[i] * gains - losses)
        bend[i] += max(chance * curved - chance * chance * squares, 0.0)
    return value


@functools.cache
def kernel_for(prepare: Callable[..., None]) -> Callable[..., float]:
    """Kernel of the loss for a metric Σ_r w_r v_r, whose workspace `prepare` fills with all v, then all w."""

    def over_metric(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
        return expectation(prepare, scores, labels, gradient, curvature, params)

    return compiled(over_metric)


@register
class PLRank(Loss):
    """1 − the expected metric over rankings of the Plackett–Luce distribution that the scores give.

    Formula: L = 1 − E Σ_r w_r v_{π(r)}, π drawn from P(π) = Π_r p_r(π(r)), p_r(i) = e^{s_i}/Σ_{l ≥ r} e^{s_π(l)}; v_i
        is what document i is worth and w_r the weight of rank r, e.g. (2^{y_i} − 1)/ideal DCG and 1/log2(1 + r). With
        v̄_r = Σ_{l ≥ r} p_r(π(l)) v_π(l), the value is the mean over `samples` rankings of 1 − Σ_r w_r v̄_r. Minus the
        gradient is the mean of R_{r_i} + Σ_{r ≤ r_i} p_r(i)(ŵ_r(v_i − v̄_r) − R_r) for document i at rank r_i, with
        R_r = Σ_{q > r} w_q(v_{π(q)} − m_r), m_r the mean of v below rank r, and ŵ_r = w_r − Σ_{q > r} w_q/(n − r).
        PL-Rank-3 has m_r = 0, ŵ_r = w_r and v_{π(r)} in place of v̄_r. The expectation is the same; the variance is far
        smaller here, since of the ranks below only the deviation from a random order is sampled.
    Ties: rankings are strict, and the metric handles tied grades. Draws follow the order of grades, then of scores, so
        row order does not matter; documents equal in both share their gradient. Stochastic solvers and boosting draw
        again in every step. A query whose documents are all worth the same contributes 0.
    Cost: O(samples·n) per query after `samples` sorts.
    Use it for: a metric that is a sum over ranks (dcg, ndcg, precision, recall, rbp), optimised as it is expected of
        rankings drawn from the model; the gradient is unbiased for any number of samples.
    Gradient: of E Σ_r w_r v̄_r over the current rankings, each weighted by the change of its probability.
    Reference: Oosterhuis, Computationally efficient optimization of Plackett–Luce ranking models for relevance and
        fairness, SIGIR 2021; Learning-to-rank at the speed of sampling, SIGIR 2022.
    """

    samples: int = param(default=16, least=1)
    """Rankings that are drawn of each query."""
    seed: int = param(default=0, least=0)
    """Seed of what is drawn at random."""
    metric: Metric = NDCG(10)
    """Metric whose expectation is maximised: a sum over ranks."""
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"
    surrogate: ClassVar[str | None] = "the mean of the metric over the current rankings, reweighted place by place"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _is_additive(type(self.metric)):
            able = ", ".join(sorted(name for name, kind in Metric.catalogue().items() if _is_additive(kind)))
            raise ParameterError(
                f"pl-rank: {self.metric.name} is not a sum over ranks that should be large. Use one of: {able}."
            )

    @property
    def grades(self) -> Any:
        """Kernel on grades."""
        return kernel_for(self.metric.swap_functions()[0])

    def kernel_constants(self, labels: Array) -> Array:
        """Samples and seed, the size of the metric's workspace, then its configuration."""
        fixed = self.metric.work_size(0)
        head = [*self.numeric_fields().values(), fixed, self.metric.work_size(1) - fixed]
        return np.concatenate([head, self.metric.config_array(labels)])

    def objective(self, scores: ArrayLike, labels: ArrayLike) -> Callable[[Array], float]:
        """Mean of the metric over the rankings of these scores, reweighted for other scores place by place."""
        s, y = np.array(scores, np.float64), np.array(labels, np.float64)
        if self(s, y).value == 0.0:
            return lambda moved: 0.0
        (order, ends), n = by_grade_and_score(s, y), len(s)
        work = np.empty(self.metric.work_size(n))
        self.metric.swap_functions()[0](y[order], y[order], self.metric.config_array(y), work)
        rows = draw(s[order], self.samples, np.uint64(start(float(self.seed), ends)))  # (samples, n)
        v, w, left = work[:n][rows], work[n : 2 * n], np.maximum(np.arange(n - 1, -1, -1), 1)
        w_below, v_below, both_below = (np.cumsum(x[..., ::-1], -1)[..., ::-1] - x for x in (w, v, w * v))
        rewards, weights = both_below - w_below * v_below / left, w - w_below / left

        def chosen(moved: Array) -> tuple[Array, Array]:
            """log p_r of each choice, and v̄_r."""
            ranked = moved[order][rows]
            p = np.exp(ranked[:, None, :] - ranked.max(axis=1)[:, None, None]) * np.triu(np.ones((n, n)))
            means = np.einsum("krl,kl->kr", p, v) / p.sum(axis=2)
            return ranked - np.logaddexp.accumulate(ranked[:, ::-1], axis=1)[:, ::-1], means

        before = chosen(s)

        def reweighted(moved: Array) -> float:
            logs, means = chosen(moved)
            change = weights * (means - before[1]) + rewards * (logs - before[0])
            return 1.0 - float((w * before[1] + change).sum(axis=1).mean())

        return reweighted


def _is_additive(metric: type[Metric]) -> bool:
    """Whether a metric is Σ_r w_r v_r, and better the larger it is."""
    swaps = metric.kernel.swaps
    return not metric.reads_topics and metric.higher_is_better and swaps is not None and swaps[1] is additive_swap
