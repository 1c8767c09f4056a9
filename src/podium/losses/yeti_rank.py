"""YetiRank (Gulin et al., 2011): pairwise logistic loss on neighbours in rankings of noisy scores.

>>> from podium.losses import YetiRank
>>> round(YetiRank()([2.0, 1.0], [0, 2]).value, 4)  # 0.15 · 2 · log(1 + e)
0.394
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled, inlined
from podium.jit.sorting import argsort_descending
from podium.kernels.blocks import by_grade_and_score, clear, take
from podium.kernels.draws import share, start
from podium.kernels.noise import LOGISTIC, NORMAL, perturb
from podium.losses.base import Loss
from podium.metrics import Metric

SAMPLES, DECAY, NOISE, NEIGHBOURS, SEED, FIXED, PER_DOCUMENT, CONFIG = range(8)
"""Indices in params[0]: the fields, the size of the metric's workspace, its configuration."""
SHARE = 0.15
"""Weight of the first two places, per grade of difference, as in CatBoost."""


@inlined
def over_neighbours(
    prepare: Callable[..., None], swap: Callable[..., float],
    scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array,
) -> Any:  # fmt: skip
    """Mean over noisy rankings of Σ w log(1 + e^(−(s_i − s_j))) over neighbours, y_i > y_j; 0 for equal grades."""
    clear(gradient, curvature)
    order, ends = by_grade_and_score(scores, labels)
    n, samples, value = len(scores), int(params[0, SAMPLES]), 0.0
    if n < 2 or ends[0] == n:
        return 0.0
    y, config, ranked = take(labels, order), params[0, CONFIG:], np.empty(n)
    work = np.empty(int(params[0, FIXED] + n * params[0, PER_DOCUMENT]))
    rows = rankings(take(scores, order), start(params[0, SEED], ends), params)
    for row in range(samples):
        for p in range(n):
            ranked[p] = y[rows[row, p]]
        prepare(ranked, y, config, work)
        for p in range(n - 1):
            for q in range(p + 1, min(p + 1 + int(params[0, NEIGHBOURS]), n)):
                if ranked[p] != ranked[q]:
                    w = swap(ranked, config, work, p, q) / samples
                    i, j = order[rows[row, p]], order[rows[row, q]]
                    value += w * (add_pair(i, j, w, scores, gradient, curvature) if ranked[p] > ranked[q]
                                  else add_pair(j, i, w, scores, gradient, curvature))  # fmt: skip
    share(scores, order, ends, gradient)
    share(scores, order, ends, curvature)
    return value


@compiled
def rankings(s: Array, state: np.uint64, params: Array) -> Any:
    """Rankings of noisy scores, documents best first, one per row."""
    rows, noisy = np.empty((int(params[0, SAMPLES]), len(s)), np.int64), np.empty(len(s))
    kind = LOGISTIC if params[0, NOISE] == 0.0 else NORMAL
    for row in range(len(rows)):
        state = perturb(s, kind, 1.0, state, noisy)
        argsort_descending(noisy, rows[row])
    return rows


@compiled
def add_pair(i: int, j: int, w: float, scores: Array, gradient: Array, curvature: Array) -> Any:
    """log(1 + e^(−δ)), δ = s_i − s_j; adds its derivatives, times w."""
    delta = scores[i] - scores[j]
    e = math.exp(-abs(delta))
    p = e / (1.0 + e) if delta > 0.0 else 1.0 / (1.0 + e)
    gradient[i] -= w * p
    gradient[j] += w * p
    curvature[i] += w * e / (1.0 + e) / (1.0 + e)
    curvature[j] += w * e / (1.0 + e) / (1.0 + e)
    return max(-delta, 0.0) + math.log1p(e)


@compiled
def _prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """Weight of each place, the upper one of a pair: 0.15·decay^(r − 1)."""
    weight = SHARE
    for p in range(len(labels)):
        work[p] = weight
        weight *= config[0]


@compiled
def _swap(labels: Array, config: Array, work: Array, i: int, j: int) -> float:
    return float(work[i] * abs(labels[i] - labels[j]))


@functools.cache
def kernel_for(prepare: Callable[..., None], swap: Callable[..., float]) -> Callable[..., float]:
    """Kernel of the loss for the swap functions of a metric."""

    def over_metric(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
        return over_neighbours(prepare, swap, scores, labels, gradient, curvature, params)

    return compiled(over_metric)


@register
class YetiRank(Loss):
    """Pairwise logistic loss on documents that are neighbours in rankings of noisy scores, weighted from the top.

    Formula: L = mean over rankings by s + ε of Σ w log(1 + e^(−(s_i − s_j))), over documents i and j, y_i > y_j, at
        places p and p + 1, …, p + `neighbours`. w = 0.15·decay^(p−1)·|y_i − y_j|; with a `metric`, w = |ΔM|, its change
        if the two are swapped in that ranking. ε is logistic or standard normal noise, alike for all documents.
    Ties: documents of equal grade are not compared; those equal in score too share their gradient. Noise is drawn from
        `seed` relative to the order of grades, then of scores, so row order does not matter. Stochastic solvers and
        boosting draw again in every step. A query whose grades are all equal contributes 0.
    Cost: O(samples·n·neighbours) per query after `samples` sorts.
    Use it for: boosted trees, as in CatBoost; the noise averages over the order of documents with close scores.
    Gradient: of the pair loss with the current w held fixed.
    Reference: Gulin, Kuralenok & Pavlov, Winning the transfer learning track of Yahoo!'s Learning To Rank Challenge
        with YetiRank, JMLR 2011; metrics: Lyzhin et al., Which tricks are important for learning to rank?, ICML 2023.
    """

    samples: int = param(default=10, least=1)
    """Noisy rankings over which the loss is averaged."""
    decay: float = param(default=0.85, above=0, most=1)
    """Weight of a place over that of the place above it, without a metric."""
    noise: Literal["logistic", "normal"] = "logistic"
    """Noise that is added to the scores in training."""
    neighbours: int = param(default=1, least=1)
    """Places below a document within which it is compared."""
    seed: int = param(default=0, least=0)
    """Seed of what is drawn at random."""
    metric: Metric | None = None
    """Metric whose change weighs a pair; none for the weights by decay."""
    surrogate: ClassVar[str | None] = "the pair loss with the current weights held fixed"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._swaps()

    def _swaps(self) -> tuple[Any, Any]:
        return (_prepare, _swap) if self.metric is None else self.metric.swap_functions()

    @property
    def grades(self) -> Any:
        """Kernel on grades."""
        return kernel_for(*self._swaps())

    def kernel_constants(self, labels: Array) -> Array:
        """The fields but for the metric, the size of its workspace, then its configuration."""
        head = list(self.numeric_fields().values())[:FIXED]
        if self.metric is None:
            return np.array([*head, 0.0, 1.0, self.decay])
        fixed = self.metric.work_size(0)
        return np.concatenate([head, [fixed, self.metric.work_size(1) - fixed], self.metric.config_array(labels)])

    def objective(self, scores: ArrayLike, labels: ArrayLike) -> Callable[[Array], float]:
        """Pair loss of other scores, with the neighbours and weights of these."""
        s, y = np.array(scores, np.float64), np.array(labels, np.float64)
        constants, (prepare, swap), weights = self.kernel_constants(y), self._swaps(), np.zeros((len(s), len(s)))
        order, ends = by_grade_and_score(s, y)
        rows: Ints = order[rankings(s[order], np.uint64(start(float(self.seed), ends)), constants[None, :])]
        config, work = constants[CONFIG:], np.empty(int(constants[FIXED] + len(s) * constants[PER_DOCUMENT]))
        for row in rows:
            prepare(y[row], y[order], config, work)
            for p in range(len(s)):
                for q in range(p + 1, min(p + 1 + self.neighbours, len(s))):
                    better, worse = (row[p], row[q]) if y[row[p]] > y[row[q]] else (row[q], row[p])
                    apart = y[better] > y[worse]
                    weights[better, worse] += swap(y[row], config, work, p, q) / self.samples if apart else 0.0
        return lambda moved: float((weights * np.logaddexp(0.0, moved - moved[:, None])).sum())
