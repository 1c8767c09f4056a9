"""Adam (Kingma & Ba, 2015): stochastic gradient descent whose step sizes adapt to each parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

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
        memory["m"] = self.momentum * memory["m"] + (1 - self.momentum) * gradient
        memory["v"] = 0.999 * memory["v"] + 0.001 * gradient**2
        mean = memory["m"] / (1 - self.momentum ** memory["t"])
        spread = np.sqrt(memory["v"] / (1 - 0.999 ** memory["t"]))
        return np.asarray(self.learning_rate * mean / (spread + 1e-8))
