"""XE-NDCG (Bruch, 2021): cross entropy of the softmax of scores from randomly perturbed gains.

>>> from podium.losses import XeNDCG
>>> good, bad = XeNDCG()([2.0, 0.0], [1, 0]), XeNDCG()([0.0, 2.0], [1, 0])
>>> good.value < bad.value
True
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.kernels.blocks import by_grade_and_score, clear
from podium.kernels.check_gains import check_gains
from podium.kernels.draws import advance, share, start, uniform
from podium.losses.base import Loss

ORDERS, SEED = 0, 1
"""Indices in params[0]."""


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    """−Σ φ_i log ρ_i; 0 if all grades are equal. Draws follow the order of grades and scores, not of rows."""
    clear(gradient, curvature)
    order, ends = by_grade_and_score(scores, labels)
    n, state = len(scores), start(params[0, SEED], ends)
    if n == 0 or ends[0] == n:
        return 0.0
    targets = np.empty(n)
    for i in order:
        state = advance(state)
        targets[i] = 2.0 ** labels[i] - uniform(state)
    value = cross_entropy(scores, targets, int(params[0, ORDERS]), gradient, curvature)
    share(scores, order, ends, gradient)
    return value


@compiled
def cross_entropy(scores: Array, targets: Array, orders: int, gradient: Array, curvature: Array) -> float:
    """−Σ φ_i log ρ_i, φ = targets/Σ targets, with LightGBM's further terms of the gradient if `orders` is above 1."""
    n, top, total, over, value = len(scores), 0, 0.0, 0.0, 0.0
    for i in range(n):
        top = i if scores[i] > scores[top] else top
        total += targets[i]
    rho, t, other = np.empty(n), np.empty(n), 0.0  # other: Σ ρ over all but the largest, to all its digits
    for i in range(n):
        rho[i] = math.exp(scores[i] - scores[top])
        over += rho[i]
    for i in range(n):
        rho[i] /= over
        other += rho[i] if i != top else 0.0
    for i in range(n):
        phi = targets[i] / total
        rest = other if i == top else 1.0 - rho[i]
        value += phi * (math.log(over) + (scores[top] - scores[i]))
        gradient[i] = rho[i] - phi
        curvature[i] = rho[i] * rest
        t[i] = gradient[i] / rest if rest > 0.0 else 0.0
    for _ in range(1, orders):
        _add_order(rho, other, top, t, gradient)
    return value


@compiled
def _add_order(rho: Array, other: float, top: int, t: Array, gradient: Array) -> None:
    """Add ρ_i Σ_{j≠i} t_j to each gradient, and replace t_i by that over 1 − ρ_i; t of the top may be huge."""
    small = 0.0
    for i in range(len(t)):
        small += t[i] if i != top else 0.0
    highest = t[top]
    for i in range(len(t)):
        force = rho[i] * (small if i == top else highest + (small - t[i]))
        rest = other if i == top else 1.0 - rho[i]
        gradient[i] += force
        t[i] = force / rest if rest > 0.0 else 0.0


@register
class XeNDCG(Loss):
    """Cross entropy between the softmax of scores and gains that are perturbed at random.

    Formula: L = −Σ φ_i log ρ_i, ρ = softmax(s), φ_i = (2^{y_i} − γ_i)/Σ_j (2^{y_j} − γ_j), γ_i uniform in [0, 1).
        With `orders=3`, two terms are added to the gradient ρ − φ, as LightGBM's rank_xendcg does: with
        t_i = (ρ_i − φ_i)/(1 − ρ_i), ρ_i Σ_{j≠i} t_j; and again with t_i = ρ_i Σ_{j≠i} t_j/(1 − ρ_i).
    Ties: γ is drawn from `seed` relative to the order of grades, then of scores, so row order does not matter;
        documents of equal grade and score share their gradient. Stochastic solvers and boosting draw again in every
        step. A query whose grades are all equal contributes 0, which LightGBM does not skip.
    Cost: O(n) per query after sorting.
    Use it for: NDCG, of whose −log the expected loss is a bound; convex for fixed γ, robust to noise in grades.
        `orders=3` with trees is XE-NDCG-MART.
    Gradient: with `orders` above 1, of L plus the linear function whose slopes are the further terms.
    Reference: Bruch, An alternative cross entropy loss for learning-to-rank, WWW 2021.
    """

    orders: int = param(default=1, least=1, most=3)
    """Terms of the gradient: 1, or up to 3 as in LightGBM's rank_xendcg."""
    seed: int = param(default=0, least=0)
    """Seed of what is drawn at random."""
    grades = staticmethod(over_grades)

    @property
    def surrogate(self) -> str | None:  # type: ignore[override]
        return "the cross entropy, with further terms of the gradient held fixed" if self.orders > 1 else None

    def kernel_constants(self, labels: Array) -> Array:
        check_gains(self.name, labels)
        return super().kernel_constants(labels)

    def objective(self, scores: ArrayLike, labels: ArrayLike) -> Callable[[Array], float]:
        """Cross entropy of other scores, plus the further terms at these."""
        first, s = XeNDCG(orders=1, seed=self.seed), np.array(scores, np.float64)
        more = self(s, labels).gradient - first(s, labels).gradient
        return lambda moved: first(moved, labels).value + float(more @ (moved - s))
