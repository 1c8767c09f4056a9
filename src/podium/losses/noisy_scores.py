"""Losses of noisy scores: the mean of a kernel over scores with Gumbel noise (Bruch et al., 2020)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.jit.compiled import compiled
from podium.kernels.blocks import by_grade_and_score, clear, take
from podium.kernels.draws import share, start
from podium.kernels.noise import GUMBEL, perturb


@functools.cache
def noisy(kernel: Callable[..., float], samples: int, beta: int, seed: int) -> Callable[..., float]:
    """Kernel of the mean of another over scores + β·ε; the last three are the indices of the parameters.

    ε is drawn for documents in the order of grades, then of scores, so that the order of rows does not matter.
    """

    def over_noise(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
        clear(gradient, curvature)
        order, ends = by_grade_and_score(scores, labels)
        n, draws, value, state = len(scores), int(params[0, samples]), 0.0, start(params[0, seed], ends)
        slope, bend, drawn, moved = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
        for _ in range(draws):
            state = perturb(take(scores, order), GUMBEL, params[0, beta], state, drawn)
            for p in range(n):
                moved[order[p]] = drawn[p]
            value += kernel(moved, labels, slope, bend, params)
            for i in range(n):
                gradient[i] += slope[i] / draws
                curvature[i] += bend[i] / draws
        share(scores, order, ends, gradient)
        share(scores, order, ends, curvature)
        return value / draws

    return compiled(over_noise)
