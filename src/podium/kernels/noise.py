"""Noise on scores, for losses that average over perturbed rankings."""

from __future__ import annotations

import math

import numpy as np

from podium.base.arrays import Array
from podium.jit.compiled import outlined
from podium.kernels.draws import advance, uniform

GUMBEL, LOGISTIC, NORMAL = 0.0, 1.0, 2.0
"""Standard distributions of noise. The order of scores with Gumbel noise is Plackett–Luce's."""
_LEAST = 1e-300


@outlined("uint64(float64[::1], float64, float64, uint64, float64[::1])")
def perturb(values: Array, kind: float, scale: float, state: np.uint64, out: Array) -> np.uint64:
    """Fill `out` with values + scale·ε; returns the next state."""
    for i in range(len(values)):
        state = advance(state)
        u = uniform(state)
        if kind == NORMAL:
            state = advance(state)
            noise = math.sqrt(-2.0 * math.log1p(-u)) * math.cos(2.0 * math.pi * uniform(state))
        elif kind == LOGISTIC:
            noise = math.log(max(u, _LEAST)) - math.log1p(-u)
        else:
            noise = -math.log(max(-math.log1p(-u), _LEAST))
        out[i] = values[i] + scale * noise
    return state
