"""BoltzRank (Volkovs & Zemel, 2009): the expected metric under a Boltzmann distribution of rankings.

>>> from podium.losses import BoltzRank
>>> good, bad = BoltzRank()([2.0, 0.0], [1, 0]), BoltzRank()([0.0, 2.0], [1, 0])
>>> good.value < bad.value  # minus the mean NDCG of rankings drawn from the distribution
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
from podium.base.registry import param, register
from podium.distributions.boltzmann import pull, visit
from podium.jit.compiled import compiled, inlined
from podium.jit.sorting import argsort_descending
from podium.kernels.blocks import bounds, by_grade_and_score, clear, filled, take
from podium.kernels.draws import advance, share, start, uniform
from podium.losses.base import Loss
from podium.metrics import NDCG, Metric

ALPHA, SAMPLES, SEED, PROPOSALS, CONFIG = 0, 1, 2, 3, 4
"""Indices in params[0]; the configuration of the metric starts at CONFIG."""
CHAIN = 0.0
"""Index of `chain` in the options of `proposals`."""


@inlined
def expectation(
    measure: Callable[..., float], scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array
) -> Any:  # fmt: skip
    """−mean of Φ(r) over rankings drawn at the current scores, with the derivatives of −Σ Φ(r)P(r)/Σ P(r) over them.

    With a = −∂E/∂s and weighted means over rankings, ∂/∂s_i = −mean of (Φ − Φ̄)(a_i − ā_i), and the second derivative
    −mean of (Φ − Φ̄)(a_i − ā_i)², of which |Φ − Φ̄| in place of −(Φ − Φ̄) is a bound. 0 if all grades are equal.
    """
    clear(gradient, curvature)
    order, ends = by_grade_and_score(scores, labels)
    n, samples = len(scores), int(params[0, SAMPLES])
    if n < 2 or ends[0] == n:
        return 0.0
    for s in scores:
        if not np.isfinite(s):
            return np.nan  # the chain would continue with meaningless rankings
    y, c = take(labels, order), pull(params[0, ALPHA], n)
    rows, weights = draw(take(scores, order), c, samples, start(params[0, SEED], ends), params[0, PROPOSALS])
    single, ranked, values, mean = np.arange(1, n + 1), np.empty(n), np.empty(samples), 0.0
    for row in range(samples):
        for p in range(n):
            ranked[p] = y[rows[row, p]]
        values[row] = measure(ranked, single, y, params[0, CONFIG:])
        mean += weights[row] * values[row]
    if np.isnan(mean):
        return 0.0  # the metric is undefined for this query, whatever the order
    places = _mean_places(rows, weights)
    for row in range(samples):
        gap = weights[row] * (values[row] - mean)
        for p in range(n):
            i = order[rows[row, p]]
            a = c * (places[rows[row, p]] - p)
            gradient[i] -= gap * a
            curvature[i] += abs(gap) * a * a
    share(scores, order, ends, gradient)
    share(scores, order, ends, curvature)
    return -mean


@compiled
def draw(s: Array, c: float, samples: int, state: np.uint64, proposals: float) -> Any:
    """Draw rankings, documents best first, one per row, and their weights, which sum to 1."""
    if proposals == CHAIN:
        return visit(s, c, samples, state), filled(samples, 1.0 / samples)
    n, scale = len(s), c * (len(s) + 1.0) / 3.0
    rows, logs, keys = np.empty((samples, n), np.int64), np.empty(samples), np.empty(n)
    for row in range(samples):
        for i in range(n):
            state = advance(state)
            keys[i] = scale * s[i] - math.log(max(-math.log1p(-uniform(state)), 1e-300))
        argsort_descending(keys, rows[row])
        logs[row] = _log_weight(s, c, scale, rows[row])
    top, total = bounds(logs)[1], 0.0
    for row in range(samples):
        logs[row] = math.exp(logs[row] - top)
        total += logs[row]
    for row in range(samples):
        logs[row] /= total
    return rows, logs


@compiled
def _log_weight(s: Array, c: float, scale: float, ranked: Ints) -> Any:
    """−E of a ranking minus its log-probability under Plackett–Luce with scores scale·s."""
    n, rest, log = len(ranked), -np.inf, 0.0
    for p in range(n - 1, -1, -1):
        log_phi = scale * s[ranked[p]]
        high = max(rest, log_phi)
        rest = high + math.log1p(math.exp(min(rest, log_phi) - high))
        log += c * (0.5 * (n - 1.0) - p) * s[ranked[p]] - log_phi + rest
    return log


@compiled
def _mean_places(rows: Ints, weights: Array) -> Any:
    places = np.zeros(rows.shape[1])
    for row in range(len(rows)):
        for p in range(rows.shape[1]):
            places[rows[row, p]] += weights[row] * p
    return places


@functools.cache
def kernel_for(measure: Callable[..., float]) -> Callable[..., float]:
    """Kernel of the loss for the kernel of a metric."""

    def over_metric(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
        return expectation(measure, scores, labels, gradient, curvature, params)

    return compiled(over_metric)


@register
class BoltzRank(Loss):
    """Minus the expected value of a metric over rankings with a Boltzmann distribution given by the scores.

    Formula: L = −Σ_r Φ(r) P(r | s), P ∝ e^{−E}, E(r) = (2α/(n−1)) Σ_u (r_u − (n+1)/2) s_u; Φ is any metric.
    Ties: the metric handles tied grades. Rankings are strict. Documents of equal grade and score
        share their gradient. A query whose grades are all equal contributes 0.
    Cost: O(samples·n) per query: a chain of Metropolis swaps at the current scores, O(1) each, and `samples` metrics.
    Proposals: `chain` samples rankings from the model itself. `plackett-luce` draws independent rankings from
        Plackett–Luce with scores (2α/3)(n+1)/(n−1)·s, which has the same mean ranks for small scores, and weighs each
        by P(r) over its probability there; few have weight if documents are many or scores far apart.
    Use it for: a custom metric as the objective. The rankings come from the model itself: uniform ones would hardly
        ever matter, and those near the labels bias the gradient. Stochastic solvers draw again in every step.
    Gradient: of the mean of Φ over the current rankings, each weighted by the change of its P(r).
    Reference: Volkovs & Zemel, BoltzRank: learning to maximize expected ranking gain, ICML 2009.
    """

    alpha: float = param(default=1.0, above=0, search=(0.3, 30.0, "log"))
    """Inverse temperature of the distribution."""
    samples: int = param(default=50, least=2)
    """Rankings that are drawn of each query."""
    seed: int = param(default=0, least=0)
    """Seed of what is drawn at random."""
    proposals: Literal["chain", "plackett-luce"] = "chain"
    """How rankings are drawn: by a Markov chain, or from Plackett–Luce with weights."""
    metric: Metric = NDCG()
    """Metric whose expectation is maximised."""
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"
    surrogate: ClassVar[str | None] = "the mean of the metric over the current rankings, reweighted"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.metric.check_reads_labels()

    @property
    def grades(self) -> Any:
        """Kernel on grades."""
        return kernel_for(self.metric.kernel.measure)

    def kernel_constants(self, labels: Array) -> Array:
        """α, samples, seed and proposals, then the configuration of the metric."""
        return np.concatenate([list(self.numeric_fields().values()), self.metric.config_array(labels)])

    def objective(self, scores: ArrayLike, labels: ArrayLike) -> Callable[[Array], float]:
        """Mean of the metric over the rankings of these scores, reweighted for other scores."""
        s, y = np.array(scores, np.float64), np.array(labels, np.float64)
        order, ends = by_grade_and_score(s, y)
        if self(s, y).value == 0.0:
            return lambda moved: 0.0
        n, config = len(s), self.metric.config_array(y)
        state = np.uint64(start(float(self.seed), ends))
        chosen = self.numeric_fields()["proposals"]
        rows, drawn = draw(s[order], pull(self.alpha, n), self.samples, state, chosen)
        rows = order[rows]
        single, ideal = np.arange(1, n + 1), y[order]
        values = np.array([self.metric.kernel.measure(y[row], single, ideal, config) for row in rows])
        pulls = pull(self.alpha, n) * -np.argsort(rows, axis=1)  # −∂E/∂s up to a constant

        def reweighted(moved: Array) -> float:
            logs = pulls @ (moved - s)
            weights = drawn * np.exp(logs - logs.max())
            return float(-(weights @ values) / weights.sum())

        return reweighted
