"""StochasticRank (Ustimenko & Prokhorenkova, 2020): the expected metric of scores with normal noise.

>>> from podium.losses import StochasticRank
>>> good, bad = StochasticRank()([9.0, 0.0], [1, 0]), StochasticRank()([0.0, 9.0], [1, 0])
>>> good.value < bad.value  # 1 − NDCG of the noisy ranking
True
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.errors import ParameterError
from podium.base.registry import param, register
from podium.jit.compiled import compiled, inlined
from podium.jit.sorting import argsort_descending
from podium.kernels.blocks import by_grade_and_score, clear, take
from podium.kernels.draws import share, start
from podium.kernels.noise import NORMAL, perturb
from podium.losses.base import Loss
from podium.metrics import NDCG, Metric
from podium.metrics.kernels import additive_swap

SIGMA, MU, SAMPLES, SEED, ADDITIVE, FIXED, PER_DOCUMENT, CONFIG = range(8)
"""Indices in params[0]: the fields, whether the metric is a sum over ranks, the size of its workspace, its
configuration."""
FAR = 8.0
"""Documents that are further apart, in units of the noise, never cross."""


@inlined
def smoothed(
    measure: Callable[..., float], prepare: Callable[..., None], swap: Callable[..., float],
    scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array,
) -> Any:  # fmt: skip
    """1 − the mean metric of noisy rankings, with the conditional expectation of each document's own noise."""
    clear(gradient, curvature)
    order, ends = by_grade_and_score(scores, labels)
    n, sigma, samples, total = len(scores), params[0, SIGMA], int(params[0, SAMPLES]), 0.0
    if n < 2 or ends[0] == n:
        return 0.0
    for s in scores:
        if not np.isfinite(s):
            return np.nan  # a ranking of such scores has a metric
    y, config, single = take(labels, order), params[0, CONFIG:], np.arange(1, n + 1)
    work = np.empty(int(params[0, FIXED] + n * params[0, PER_DOCUMENT]))
    middle, z, ranked, moved = centres(take(scores, order), y, params), np.empty(n), np.empty(n, np.int64), np.empty(n)
    slope, bend, state = np.zeros(n), np.zeros(n), start(params[0, SEED], ends)
    prepare(y, y, config, work)
    for _ in range(samples):
        state = perturb(middle, NORMAL, sigma, state, z)
        argsort_descending(z, ranked)
        for p in range(n):
            moved[p] = y[ranked[p]]
        total += measure(moved, single, y, config)
        for i in range(n):
            below = 0  # the place of the next document that i crosses on its way down from the top
            for p in range(n):
                j = ranked[p]
                if j == i:
                    continue
                x = (z[j] - middle[i]) / sigma
                if y[i] != y[j] and abs(x) < FAR:
                    if params[0, ADDITIVE] != 0.0:
                        change = (work[i] - work[j]) * (work[n + below] - work[n + below + 1])
                    else:
                        _insert(y, ranked, i, below, moved)
                        prepare(moved, y, config, work)
                        change = swap(moved, config, work, below, below + 1) * (1.0 if y[i] > y[j] else -1.0)
                    density = math.exp(-0.5 * x * x) / (math.sqrt(2.0 * math.pi) * sigma * samples)
                    slope[i] -= density * change
                    bend[i] += density * max(abs(x), 1.0) * abs(change) / sigma
                below += 1
    hand_out(order, slope, bend, gradient, curvature)
    share(scores, order, ends, gradient)
    share(scores, order, ends, curvature)
    return 0.0 if np.isnan(total) else 1.0 - total / samples  # NaN: the metric is undefined, whatever the order


@compiled
def centres(s: Array, y: Array, params: Array) -> Any:
    """Means of the noisy scores: s − σμy."""
    middle = np.empty(len(s))
    for i in range(len(s)):
        middle[i] = s[i] - params[0, SIGMA] * params[0, MU] * y[i]
    return middle


@compiled
def _insert(y: Array, ranked: Any, i: int, place: int, moved: Array) -> None:
    """Fill `moved` with the labels of a ranking in which document i is at another place."""
    at = 0
    for p in range(len(ranked)):
        if ranked[p] != i:
            at += 1 if at == place else 0
            moved[at] = y[ranked[p]]
            at += 1
    moved[place] = y[i]


@compiled
def hand_out(order: Any, slope: Array, bend: Array, gradient: Array, curvature: Array) -> None:
    """Derivatives of documents: slopes less their mean, and the bound of the second derivative that follows."""
    n, mean, bent = len(order), 0.0, 0.0
    for p in range(n):
        mean += slope[p] / n
        bent += bend[p] / (n * n)
    for p in range(n):
        gradient[order[p]] = slope[p] - mean
        curvature[order[p]] = bend[p] * ((1.0 - 1.0 / n) ** 2 - 1.0 / (n * n)) + bent


@functools.cache
def kernel_for(
    measure: Callable[..., float], prepare: Callable[..., None], swap: Callable[..., float]
) -> Callable[..., float]:
    """Kernel of the loss for the functions of a metric."""

    def over_metric(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
        return smoothed(measure, prepare, swap, scores, labels, gradient, curvature, params)

    return compiled(over_metric)


@register
class StochasticRank(Loss):
    """1 − the expected metric of scores with normal noise, which is smooth for every metric.

    Formula: L = 1 − E M(z), z_i = s_i + σ(ε_i − μy_i), ε standard normal. Given the noise of the others, the derivative
        by s_i is exact: −Σ_{j≠i} φ((z_j − s_i + σμy_i)/σ)/σ · Δ_ij, Δ_ij the change of M if i moves from the place
        below j to the one above; φ is the normal density. The mean of `samples` draws, less its mean over documents.
    Ties: rankings are strict, and the metric handles tied grades. Noise follows the order of grades, then of scores, so
        row order does not matter; documents equal in both share their gradient. Stochastic solvers and boosting draw
        again in every step. A query whose grades are all equal contributes 0.
    Cost: O(samples·n²) per query for a metric that is a sum over ranks, O(samples·n³) for others such as MAP and ERR,
        less for documents whose scores are far apart.
    Use it for: any metric with swaps, also with trees. `mu` above 0 ranks relevant documents below equal others, so
        that scores are driven apart.
    Gradient: of the sum of these conditional expectations, each a function of its own score relative to the mean.
    Reference: Ustimenko & Prokhorenkova, StochasticRank: global optimization of scale-free discrete functions, ICML
        2020.
    """

    sigma: float = param(default=1.0, above=0, search=(0.1, 3.0, "log"))
    """Standard deviation of the noise."""
    mu: float = param(default=0.0, least=0)
    """Amount by which relevant documents are ranked below equal others, so that scores are driven apart."""
    samples: int = param(default=1, least=1)
    """Draws of noise over which the loss is averaged."""
    seed: int = param(default=0, least=0)
    """Seed of what is drawn at random."""
    metric: Metric = NDCG(10)
    """Metric whose expectation is maximised; any with swaps."""
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"
    surrogate: ClassVar[str | None] = "the sum of the conditional expectations given the current noise of the others"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.metric.swap_functions()
        if not self.metric.higher_is_better:
            raise ParameterError(f"stochastic-rank: less of {self.metric} is better. Use e.g. ndcg@10.")

    @property
    def grades(self) -> Any:
        """Kernel on grades."""
        return kernel_for(self.metric.kernel.measure, *self.metric.swap_functions())

    def kernel_constants(self, labels: Array) -> Array:
        """The numeric fields, whether the metric is additive, the size of its workspace, its configuration."""
        fixed, additive = self.metric.work_size(0), float(self.metric.swap_functions()[1] is additive_swap)
        head = [*self.numeric_fields().values(), additive, fixed, self.metric.work_size(1) - fixed]
        return np.concatenate([head, self.metric.config_array(labels)])

    def objective(self, scores: ArrayLike, labels: ArrayLike) -> Callable[[Array], float]:
        """Σ_i of the expected metric if document i alone moves, the others having their current noise."""
        from scipy.special import ndtr

        s, y = np.array(scores, np.float64), np.array(labels, np.float64)
        (order, ends), here, n = by_grade_and_score(s, y), self(s, y).value, len(s)
        if not self(s, y).curvature.any():
            return lambda moved: here
        constants, (prepare, swap) = self.kernel_constants(y), self.metric.swap_functions()
        state, z, work = np.uint64(start(float(self.seed), ends)), np.empty(n), np.empty(self.metric.work_size(n))
        middle, crossings = centres(s[order], y[order], constants[None, :]), []
        for _ in range(self.samples):
            state = np.uint64(perturb(middle, NORMAL, self.sigma, state, z))
            for i in range(n):
                others = [j for j in np.argsort(-z) if j != i]
                for p, j in enumerate(others):
                    row = y[order][[*others[:p], i, *others[p:]]]
                    prepare(row, y[order], constants[CONFIG:], work)
                    change = swap(row, constants[CONFIG:], work, p, p + 1) * np.sign(y[order[i]] - y[order[j]])
                    crossings.append((order[i], (z[j] - middle[i]) / self.sigma, change / self.samples))
        documents, distances, changes = (np.array(column) for column in zip(*crossings, strict=True))

        def conditional(moved: Array) -> float:
            steps = (moved - moved.mean() - s + s.mean())[documents.astype(int)] / self.sigma
            return here - float(changes @ (ndtr(steps - distances) - ndtr(-distances)))

        return conditional
