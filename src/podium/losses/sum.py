"""Sum of losses, each with a weight.

>>> from podium.losses import Loss
>>> both = Loss.parse("sum(of=[ranknet,softmax],weights=[1,0.5])")
>>> round(both([2.0, 1.0], [1, 0]).value, 4)  # 1.5 · log(1 + e^−1)
0.4699
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.errors import ParameterError
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.blocks import clear
from podium.losses.base import Loss
from podium.losses.lambdarank import LambdaRank
from podium.losses.softmax import Softmax

if TYPE_CHECKING:
    from podium.data.dataset import Dataset

HEAD = 2
"""Numbers before the constants of each part: how many there are, and the weight."""


@compiled
def nothing(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Sum of no losses."""
    clear(gradient, curvature)
    return 0.0


@functools.cache
def kernel_for(first: Callable[..., float], rest: Callable[..., float]) -> Callable[..., float]:
    """Kernel of a loss plus a sum of others: params[0] holds the constants of the first, then those of the others."""

    def over_both(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
        count, weight = HEAD + int(params[0, 0]), params[0, 1]
        own, others = np.zeros((2, count - HEAD)), np.zeros((2, params.shape[1] - count))
        for k in range(HEAD, params.shape[1]):
            if k < count:
                own[0, k - HEAD] = params[0, k]
            else:
                others[0, k - count] = params[0, k]
        slope, bend = np.empty(len(scores)), np.empty(len(scores))
        value = rest(scores, labels, gradient, curvature, others) + weight * first(scores, labels, slope, bend, own)
        for i in range(len(scores)):
            gradient[i] += weight * slope[i]
            curvature[i] += weight * bend[i]
        return value

    return compiled(over_both)


@register
class Sum(Loss):
    """Weighted sum of losses.

    Formula: L = Σ_k w_k L_k(s, y), over the losses `of` and their `weights`, which are 1 if none are stated.
    Ties: as in each of the losses.
    Cost: of all of them.
    Use it for: two aims at once, e.g. the top of the list by lambdarank and calibrated scores by logistic. Losses that
        learn from grades and have no learned parameters, at most one of them drawing at random.
    Reference: TF-Ranking's and Rax's sums of losses; Pasumarthi et al., KDD 2019.
    """

    of: tuple[Loss, ...] = (LambdaRank(), Softmax())
    """Losses that are added up."""
    weights: tuple[float, ...] = ()
    """Weights of the losses; 1 each by default."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.of or not all(isinstance(part, Loss) for part in self.of):
            raise ParameterError(f"sum: `of` must be a list of losses; got {self.of}. Write of=[lambdarank,softmax].")
        for part in self.of:
            if part.grades is None or part.learned:
                why = f"learns {', '.join(part.learned)}" if part.learned else "learns from preferences only"
                raise ParameterError(f"sum: {part.name} {why} and cannot be a part of a sum. Leave it out.")
            if isinstance(part, LambdaRank) and part.unbiased:
                raise ParameterError("sum: lambdarank(unbiased=true) cannot be a part of a sum. Leave unbiased out.")
        if len(self._random) > 1:
            raise ParameterError(f"sum: {' and '.join(part.name for part in self._random)} draw at random. Keep one.")
        if self.weights and len(self.weights) != len(self.of):
            raise ParameterError(f"sum: {len(self.weights)} weights for {len(self.of)} losses. State one for each.")
        if not all(weight > 0 and np.isfinite(weight) for weight in self.weights):
            raise ParameterError(f"sum: weights must be above 0; got {list(self.weights)}.")

    @property
    def _random(self) -> list[Loss]:
        return [part for part in self.of if part.seed_at is not None]

    def _parts(self) -> list[tuple[Loss, float]]:
        """Losses and weights as the kernel has them: one that draws at random first, so that its seed has a place."""
        parts = zip(self.of, self.weights or (1.0,) * len(self.of), strict=True)
        return sorted(parts, key=lambda part: part[0].seed_at is None)

    @property
    def grades(self) -> Any:
        """Kernel on grades."""
        kernel: Any = nothing
        for part, _ in reversed(self._parts()):
            kernel = kernel_for(part.grades, kernel)
        return kernel

    def kernel_constants(self, labels: Array) -> Array:
        """Of each part: the number of its constants, its weight, the constants."""
        rows: list[Array] = []
        for part, weight in self._parts():
            constants = part.kernel_constants(labels)
            rows += [np.array([len(constants), weight]), constants]
        return np.concatenate(rows)

    @property
    def seed_at(self) -> int | None:
        return HEAD + self._random[0].seed_at if self._random else None  # type: ignore[operator]

    def resampled(self, step: int) -> Loss:
        return dataclasses.replace(self, of=tuple(part.resampled(step) for part in self.of))

    def fitted_to(self, data: Dataset) -> Loss:
        return dataclasses.replace(self, of=tuple(part.fitted_to(data) for part in self.of))

    @property
    def convex(self) -> bool:  # type: ignore[override]
        return all(part.convex for part in self.of)

    @property
    def shift_invariant(self) -> bool:  # type: ignore[override]
        return all(part.shift_invariant for part in self.of)

    @property
    def signed(self) -> bool:  # type: ignore[override]
        return any(part.signed for part in self.of)

    @property
    def compares_ties(self) -> bool:
        return any(part.compares_ties for part in self.of)

    @property
    def curvature_is(self) -> Literal["exact", "bound"]:  # type: ignore[override]
        return "exact" if all(part.curvature_is == "exact" for part in self.of) else "bound"

    @property
    def surrogate(self) -> str | None:  # type: ignore[override]
        held = [part.surrogate for part in self.of if part.surrogate is not None]
        return "; ".join(held) if held else None

    def objective(self, scores: ArrayLike, labels: ArrayLike) -> Callable[[Array], float]:
        """Sum of the objectives."""
        parts = [(part.objective(scores, labels), weight) for part, weight in self._parts()]
        return lambda moved: float(np.sum([weight * objective(moved) for objective, weight in parts]))
