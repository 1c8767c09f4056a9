"""LambdaRank (Burges et al., 2006): pairwise logistic loss, weighted by the change of a metric on a swap.

>>> from podium.losses import LambdaRank
>>> round(LambdaRank()([2.0, 1.0], [0, 1]).value, 4)  # (1 − 1/log2 3) · log(1 + e)
0.4847
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError, ParameterError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.jit import sorting as ranking
from podium.jit.compiled import compiled, inlined, outlined
from podium.jit.views import view
from podium.kernels.blocks import take
from podium.kernels.sums import add_up_sizes
from podium.losses import drawn_pairs
from podium.losses.bounds import Bound
from podium.losses.drawn_pairs import over_drawn_pairs
from podium.losses.order_of_ties import order_of_ties
from podium.losses.pair_comparison import ROWS, SCORES, STEP, WEIGHTS, compare, hand_out, lay_out
from podium.losses.pairs import PairwiseLoss, scale
from podium.metrics import NDCG, Metric
from podium.metrics.kernels import additive_swap

SIGMA, DISTANCE, PAIRS, SEED = range(2, 6)
BY_GRADE, CUTOFF, FIXED, PER_DOCUMENT, CONFIG = range(8, 13)
"""Indices in `params[0]`, after normalise and damped: the slope of the logistic, whether weights are divided by
distances, drawn pairs and their seed; after unbiased and p, the share of weights by grade, the cut-off, the fixed size
of the workspace and its size per document, the metric's configuration."""
NEAREST = 0.01
"""Added to distances before dividing by them, as in LightGBM and XGBoost."""


@inlined
def lambdas(
    prepare: Callable[..., None], weigh: Callable[..., None],
    scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array,
) -> float:  # fmt: skip
    """Σ |ΔM_ij| log(1 + e^(−σ(s_i − s_j))) over y_i > y_j, with |ΔM_ij| taken as constant in the derivatives.

    Pairs below the cut-off change nothing, so the upper document is among the first k. `weigh` fills in |ΔM| of a
    document and all below it, negative if it should be ranked below.
    """
    n, value = len(scores), 0.0
    order, by_score = order_of_ties(scores, labels)
    y, by_grade, rows = take(labels, order), np.empty(n, np.int64), np.zeros((ROWS, n + STEP))
    config, work = params[0, CONFIG:], np.empty(int(params[0, FIXED] + n * params[0, PER_DOCUMENT]))
    ranking.argsort_descending(labels, by_grade)
    ideal = take(labels, by_grade)
    prepare(y, ideal, config, work)
    near, end = lay_out(scores, order, params[0, SIGMA], rows), min(equal_from(y), int(params[0, CUTOFF]))
    share = params[0, BY_GRADE]
    per_grade = share * weight_per_grade(weigh, y, ideal, config, work, end, rows) if share > 0.0 else 0.0
    for p in range(end):
        weigh(y, config, work, p, rows[WEIGHTS, p + 1 : n])
        if share > 0.0:
            mix_weights(p, y, share, per_grade, rows)
        if params[0, DISTANCE] != 0.0:
            divide_by_distances(p, params[0, SIGMA], rows)
        value += compare(p, near, rows)
    hand_out(scores, labels, order, by_score, params[0, SIGMA], rows, gradient, curvature)
    if params[0, 1] != 0.0:
        value *= damp(gradient, curvature)
    return scale(value, count_pairs(ideal), gradient, curvature, params)


@compiled
def equal_from(y: Array) -> int:
    """First place from which on all grades are equal, so that there is nothing to compare."""
    p = max(len(y) - 1, 0)
    while p > 0 and y[p - 1] == y[p]:
        p -= 1
    return p


@inlined
def weight_per_grade(
    weigh: Callable[..., None], y: Array, ideal: Array, config: Array, work: Array, end: int, rows: Array
) -> float:  # fmt: skip
    """Σ |ΔM_ij| / Σ |y_i − y_j| over the pairs whose upper document is among the first places, up to `end`.

    0 if grades are so large that their differences are beyond floating-point numbers.
    """
    total = 0.0
    for p in range(end):
        weigh(y, config, work, p, rows[WEIGHTS, p + 1 : len(y)])
        total += add_up_sizes(rows[WEIGHTS, p + 1 : len(y)])
    apart = sum_of_differences(ideal) - differences_from(y, end)
    return total / apart if 0.0 < apart < np.inf else 0.0


@outlined("float64(float64[::1], int64)")
def differences_from(y: Array, end: int) -> float:
    """Σ |y_i − y_j| over the pairs of documents from a place on."""
    if equal_from(y) == end:
        return 0.0
    ideal = np.empty(len(y) - end)
    ranking.sort_descending(y[end:], ideal)
    return sum_of_differences(ideal)


@compiled
def sum_of_differences(descending: Array) -> float:
    """Σ |y_i − y_j| over all pairs."""
    total, n = 0.0, len(descending)
    for p in range(n):
        total += (n - 1 - 2 * p) * descending[p]
    return total


@outlined("void(int64, float64[::1], float64, float64, float64[:, ::1])")
def mix_weights(p: int, y: Array, share: float, per_grade: float, rows: Array) -> None:
    """Weights of the document at place p and all below it: 1 − share of |ΔM|, and some per difference of grades."""
    weights, below = view(rows[WEIGHTS], p + 1, len(y)), view(y, p + 1, len(y))
    for q in range(len(below)):
        weights[q] *= 1.0 - share
    if per_grade > 0.0:
        for q in range(len(below)):
            weights[q] += per_grade * (y[p] - below[q])


@outlined("void(int64, float64, float64[:, ::1])")
def divide_by_distances(p: int, sigma: float, rows: Array) -> None:
    """Divide the weights of p and all below by 0.01 + |s_p − s_q|, unless all scores of the query are equal."""
    n, s, weights = rows.shape[1] - STEP, rows[SCORES], rows[WEIGHTS]
    if s[0] > s[n - 1]:
        for q in range(p + 1, n):
            weights[q] /= NEAREST + (s[p] - s[q]) / sigma


@outlined("float64(float64[::1], float64[::1])")
def damp(gradient: Array, curvature: Array) -> float:
    """Multiply both by log₂(1 + S)/S, S = Σ |gradient|. Returns the factor."""
    total = 0.0
    for force in gradient:
        total += abs(force)
    factor = math.log1p(total) / (math.log(2.0) * total) if total > 0.0 else 1.0
    for i in range(len(gradient)):
        gradient[i] *= factor
        curvature[i] *= factor
    return factor


@compiled
def count_pairs(descending: Array) -> int:
    """Number of pairs of different grades."""
    pairs, start = 0, 0
    for p in range(len(descending)):
        if descending[p] != descending[start]:
            start = p
        pairs += start
    return pairs


@compiled
def _additive_row(y: Array, config: Array, work: Array, p: int, out: Array) -> None:
    """Signed |ΔM| of `additive_swap`, vectorised."""
    n = len(y)
    grade, worth, counts = y[p], work[p], work[n + p]
    grades, worths, places = y[p + 1 :], work[p + 1 : n], work[n + p + 1 :]
    for k in range(len(out)):
        delta = abs((worth - worths[k]) * (counts - places[k]))
        out[k] = delta if grade > grades[k] else -delta if grade < grades[k] else 0.0


@functools.cache
def row_for(swap: Callable[..., float]) -> Callable[..., None]:
    """What fills in |ΔM| of a document and all below it, negative if it should be ranked below."""

    @compiled
    def any_row(y: Array, config: Array, work: Array, p: int, out: Array) -> None:
        for k in range(len(out)):
            q = p + 1 + k
            out[k] = swap(y, config, work, p, q) * (1.0 if y[p] > y[q] else -1.0 if y[p] < y[q] else 0.0)

    return _additive_row if swap is additive_swap else any_row


@functools.cache
def kernel_for(prepare: Callable[..., None], swap: Callable[..., float]) -> Callable[..., float]:
    """Kernel of the loss for the swap functions of a metric, over all pairs."""
    weigh = row_for(swap)

    def over_metric(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
        return lambdas(prepare, weigh, scores, labels, gradient, curvature, params)

    return compiled(over_metric)


@functools.cache
def drawn_kernel_for(prepare: Callable[..., None], swap: Callable[..., float]) -> Callable[..., float]:
    """Kernel of the loss for the swap functions of a metric, over drawn pairs."""

    def over_drawn(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
        n, nearest = len(scores), NEAREST if params[0, DISTANCE] != 0.0 else 0.0
        work = np.empty(int(params[0, FIXED] + n * params[0, PER_DOCUMENT]))
        value = over_drawn_pairs(
            prepare, swap, order_of_ties, scores, labels, gradient, curvature, params[0, CONFIG:], work,
            int(params[0, PAIRS]), params[0, SEED], params[0, SIGMA], nearest, params[0, BY_GRADE], params[0, CUTOFF],
        )  # fmt: skip
        if params[0, 1] != 0.0:
            value *= damp(gradient, curvature)
        return scale(value, float(n), gradient, curvature, params)

    return compiled(over_drawn)


@register
class LambdaRank(PairwiseLoss):
    """Pairwise logistic loss, each pair weighted by |ΔM|, the change of a metric if its two documents are swapped.

    Formula: λ_ij = σ|ΔM_ij| / (1 + e^(σ(s_i − s_j))) for y_i > y_j, which pushes i up and j down; ΔM_ij is the change
        of M if i and j are swapped in the current ranking. `metric` is any metric with swaps. With `damped`, a query's
        loss is multiplied by log₂(1 + S)/S, S = Σ_i |λ_i| over its documents, so that queries with a bad ranking do not
        dominate. With `by_grade` a, |ΔM_ij| becomes (1 − a)|ΔM_ij| + a(y_i − y_j)·Σ|ΔM|/Σ(y − y'), with sums over the
        pairs of a query of which one is within the cut-off: what few pairs weigh is then shared by all, which makes
        trees of few queries better. With `distance`, |ΔM_ij| is divided by 0.01 + |s_i − s_j|, unless all scores are
        equal. LightGBM and XGBoost normalise as by `damped` and `distance`. With `unbiased`, boosted trees learn along
        with them how much each position brings about clicks, t⁺, and their absence, t⁻, from data that has positions:
        the loss of a pair is divided by t⁺ of i's position times t⁻ of j's; after each tree t⁺_k = (Σ c_ij/t⁻_j over
        clicked i at k)^(1/(1 + p)), t⁻_k likewise, relative to the first position, c_ij = |ΔM_ij| log(1 + e^(σ(s_i −
        s_j))) as in XGBoost. It is Unbiased LambdaMART, and not consistent. With `pairs`, L is the sum over documents
        of the mean over as many partners of other grades, drawn from `seed`: XGBoost's pair method `mean`.
    Ties: documents of equal grade are not compared. Documents of equal score are ranked in a pseudo-random order that
        does not depend on the order of rows, and those equal in both share their gradient. Nor do drawn pairs depend
        on it; boosting and stochastic solvers draw again in every step. With `unbiased`, documents at different
        positions are never equal.
    Cost: O(n·k) pairs per query for a metric at k, O(n²) without a cut-off, O(n·`pairs`) if they are drawn.
    Use it for: the top of the list; with trees it is LambdaMART.
    Gradient: of Σ |ΔM_ij| log(1 + e^(−σ(s_i − s_j))) with the current |ΔM_ij| and S held fixed. The value jumps if
        ranks change.
    Reference: Burges, Ragno & Le, Learning to rank with nonsmooth cost functions, NIPS 2006; `unbiased`: Hu, Wang, Peng
        & Li, Unbiased LambdaMART, WWW 2019.
    """

    metric: Metric = NDCG(10)
    """Metric whose change weighs a pair; any metric with swaps."""
    damped: bool = False
    """Whether queries with a bad ranking are damped, as LightGBM and XGBoost do."""
    sigma: float = param(default=1.0, above=0)
    """Steepness of the logistic loss."""
    distance: bool = False
    """Whether the change of the metric is divided by the distance of the two scores."""
    pairs: int | None = param(default=None, least=1)
    """Partners drawn for each document; all pairs if none."""
    seed: int = param(default=0, least=0)
    """Seed of the pairs that are drawn."""
    unbiased: bool = False
    """Whether boosted trees learn how positions bring about clicks, along with them."""
    p: float = param(default=1.0, least=0)
    """Of unbiased: larger values pull ratios of positions towards 1."""
    by_grade: float = param(default=0.0, least=0, most=1)
    """Share of the weight of all pairs that goes by the difference of their grades alone, whatever their ranks."""
    surrogate: ClassVar[str | None] = "the pair loss with the current |ΔM| held fixed"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.metric.swap_functions()
        if self.unbiased and self.pairs is not None:
            raise ParameterError(f"lambdarank: unbiased compares all pairs; leave out pairs={self.pairs}.")

    def check(self, data: Dataset) -> None:
        super().check(data)
        if self.unbiased and data.positions is None:
            raise IncompatibleError(
                "lambdarank(unbiased=true) learns from the positions at which documents were shown, and the data has "
                "none. Add a column shown_at, make the data by page_data, or leave unbiased out."
            )
        if self.unbiased and data.document_weights is not None:
            raise IncompatibleError(
                "lambdarank(unbiased=true) finds out how positions bring about clicks by itself, so it takes clicks as "
                "labels and no weights of documents. Leave the weights or unbiased out."
            )

    def bounds(self) -> tuple[Bound, ...]:
        changed = self.damped or self.normalise or self.distance or self.pairs or self.unbiased or self.by_grade
        if changed or not isinstance(self.metric, NDCG):
            return ()
        return (Bound(str(self.metric), f"1 − {self.metric} ≤ L/ln 2", lambda v, y: 1.0 - v / math.log(2.0)),)

    @property
    def offsets_are_exact(self) -> bool:
        return (
            self.sigma == 1.0 and not self.damped and self.pairs is None and not self.unbiased and not self.by_grade
        )  # damping, and shares of sums, weigh the two sides of a pair by different sums

    @property
    def grades(self) -> Any:
        """Kernel on grades."""
        return (kernel_for if self.pairs is None else drawn_kernel_for)(*self.metric.swap_functions())

    @property
    def seed_at(self) -> int | None:
        return None if self.pairs is None else SEED

    def kernel_constants(self, labels: Array) -> Array:
        """The numeric fields, the cut-off, the size of the workspace, then the configuration of the metric."""
        cutoff = np.inf if self.metric.cutoff is None else self.metric.cutoff
        fixed = self.metric.work_size(0)
        per_document = self.metric.work_size(1) - fixed
        head = [*self.numeric_fields().values(), min(cutoff, 2.0**53), fixed, per_document]
        return np.concatenate([head, self.metric.config_array(labels)])

    def objective(self, scores: ArrayLike, labels: ArrayLike) -> Callable[[Array], float]:
        """Pair loss of other scores, with the weights |ΔM| of these."""
        s, y = np.array(scores, np.float64), np.array(labels, np.float64)
        (prepare, swap), config = self.metric.swap_functions(), self.metric.config_array(y)
        order, work = order_of_ties(s, y)[0], np.empty(self.metric.work_size(len(s)))
        ranked = y[order]
        prepare(ranked, y[ranking.order(y)], config, work)
        places = [(p, q) for q in range(len(s)) for p in range(q) if ranked[p] != ranked[q]]
        weights = np.array([swap(ranked, config, work, p, q) for p, q in places])
        best = np.array([(p, q) if ranked[p] > ranked[q] else (q, p) for p, q in places], np.int64).reshape(-1, 2)
        winners, losers = order[best[:, 0]], order[best[:, 1]]
        if self.pairs is not None:
            weights *= (drawn := drawn_pairs.counts(s, y, self.pairs, self.seed)[winners, losers])
        if self.by_grade and places:
            apart = np.array([abs(ranked[p] - ranked[q]) * (p < (self.metric.cutoff or np.inf)) for p, q in places])
            apart *= 1.0 if self.pairs is None else drawn
            weights = (1.0 - self.by_grade) * weights + self.by_grade * apart * weights.sum() / max(apart.sum(), 1e-300)
        if self.distance and np.ptp(s) > 0.0:
            weights /= NEAREST + np.abs(s[winners] - s[losers])
        count = len(places) if self.pairs is None else len(s)
        times = 1.0 / count if self.normalise and places else 1.0
        if self.damped:
            plain = dataclasses.replace(self, damped=False, normalise=False)(s, y)
            times *= damp(plain.gradient, plain.curvature)
        return lambda moved: times * float(weights @ np.logaddexp(0.0, self.sigma * (moved[losers] - moved[winners])))
