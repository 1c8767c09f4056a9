"""Adam (Kingma & Ba, 2015): stochastic gradient descent whose step sizes adapt to each parameter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.compiled import compiled
from podium.registry import param, register
from podium.solvers.base import Array
from podium.solvers.sgd import SGD


@register
class Adam(SGD):
    """θ ← θ − rate·m̂/(√v̂ + ε) with running means m of the gradient (β₁ = momentum) and v of its square (β₂ = 0.999)."""

    learning_rate: float = param(default=0.003, above=0, search=(3e-4, 0.1, "log"))
    momentum: float = param(default=0.9, least=0, below=1)
    name = "adam"

    def begin(self, theta: Array) -> dict[str, Any]:
        return {"m": np.zeros_like(theta), "v": np.zeros_like(theta), "t": 0}

    def step(self, gradient: Array, memory: dict[str, Any]) -> Array:
        memory["t"] += 1
        seen = 1 - self.momentum ** memory["t"], 1 - 0.999 ** memory["t"]
        down = np.empty_like(gradient)
        _step(gradient, memory["m"], memory["v"], self.momentum, self.learning_rate, *seen, down)
        return down


@compiled
def _step(gradient: Any, m: Any, v: Any, momentum: Any, rate: Any, seen_m: Any, seen_v: Any, out: Any) -> None:
    """One pass over both means and the step; `seen` are the weights that they hold so far."""
    for i in range(len(gradient)):
        g = gradient[i]
        m[i] = momentum * m[i] + (1.0 - momentum) * g
        v[i] = 0.999 * v[i] + 0.001 * (g * g)
        out[i] = rate * (m[i] / seen_m) / (math.sqrt(v[i] / seen_v) + 1e-8)
