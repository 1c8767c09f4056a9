"""Expectation maximisation (EM) of click models, accelerated by SQUAREM.

One EM step x ← M(x) never lowers the objective J, but plain EM is slow: fifty steps are far from the optimum. SQUAREM
takes two steps, x₁ = M(x₀) and x₂ = M(x₁), and extrapolates in logits z = log x/(1−x):

    r = z₁ − z₀,  v = z₂ − z₁ − r,  s = min(−‖r‖/‖v‖, −1),  z = z₀ − 2s·r + s²·v

One step from there is kept if J(z) ≥ J(x₁), else x₂ is, so J never falls here either.

Reference: Varadhan & Roland, Simple and globally convergent methods for accelerating the convergence of any EM
algorithm, Scandinavian Journal of Statistics 35 (2008).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import ConvergenceWarning
from podium.base.progress import Progress, quiet
from podium.base.registry import param
from podium.clicks.models.base import ClickModel

Step = Callable[[Array], tuple[float, Array]]
"""x → (J(x), M(x))"""


@dataclass(frozen=True, repr=False)
class IteratedModel(ClickModel):
    """Click model that is fitted by EM."""

    accelerate: bool = True
    """Use SQUAREM; false is plain EM."""
    iterations: int = param(default=300, least=1)
    """Largest number of EM steps."""
    tolerance: float = param(default=1e-7, least=0.0)
    """Stop if J rises by less than this per page."""

    def climb(self, step: Step, x: Array, *, n_pages: float, progress: Progress = quiet) -> tuple[Array, list[float]]:
        """Iterate EM from x: the last iterate, and J of each that was kept; warns if not converged.

        `step`: function of x that returns the objective J(x) and the next x.
        `x`: all parameters as one array, to start from.
        `n_pages`: pages of the log, each counted as often as it occurred; `tolerance` is for one of them.
        `progress`: called after each cycle with the part of `iterations` that is done.
        """
        x, history, converged = climb(
            step, x, iterations=self.iterations, tolerance=self.tolerance * n_pages, accelerate=self.accelerate,
            progress=progress,
        )  # fmt: skip
        if not converged and self.tolerance > 0:
            warnings.warn(
                f"{self.name}: not converged after {self.iterations} EM steps; J still rose by "
                f"{(history[-1] - history[-2]) / n_pages:.2g} for each page. Allow more iterations.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return x, history


def climb(
    step: Step, x: Array, *, iterations: int, tolerance: float, accelerate: bool = True, progress: Progress = quiet
) -> tuple[Array, list[float], bool]:
    """Iterate EM from x: the last iterate, J of each that was kept, and whether it converged.

    It has converged if J rises by less than `tolerance`; with tolerance 0 all iterations are made.
    """
    cycle = _squarem_cycle if accelerate else _plain_cycle
    history: list[float] = []
    used, converged = 0, False
    while used < iterations and not converged:
        value, x, steps = cycle(step, x, iterations - used)
        used += steps
        progress(used / iterations)
        converged = bool(history) and tolerance > 0 and value - history[-1] < tolerance
        history.append(value)
    return x, [*history, step(x)[0]], converged


def _plain_cycle(step: Step, x: Array, left: int) -> tuple[float, Array, int]:
    return *step(x), 1


def _squarem_cycle(step: Step, x: Array, left: int) -> tuple[float, Array, int]:
    """J(x), the next iterate, and the number of its EM steps."""
    value, first = step(x)
    if left < 3:
        return value, first, 1
    before, second = step(first)
    z0, z1, z2 = _logit(x), _logit(first), _logit(second)
    with np.errstate(invalid="ignore"):
        r, v = z1 - z0, z2 - z1 - (z1 - z0)
    moves = np.isfinite(r) & np.isfinite(v)  # a parameter at 0 or 1 stays
    r, v = np.where(moves, r, 0.0), np.where(moves, v, 0.0)
    bend = float(np.sqrt(v @ v))
    if bend == 0.0:
        return value, second, 2
    s = min(-float(np.sqrt(r @ r)) / bend, -1.0)
    far = np.where(moves, _expit(np.where(moves, z0, 0.0) - 2.0 * s * r + s * s * v), second)
    there, third = step(far)
    return value, third if there >= before else second, 3


def _logit(x: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(x) - np.log1p(-x)


def _expit(z: Array) -> Array:
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-z))
