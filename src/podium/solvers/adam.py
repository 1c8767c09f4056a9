"""Adam (Kingma & Ba, 2015): stochastic gradient descent whose step sizes adapt to each parameter."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.solvers.sgd import SGD


@compiled
def _step(gradient: Array, memory: Array, numbers: Array, out: Array) -> None:
    numbers[2] += 1.0
    rate, momentum, t, m, v = numbers[0], numbers[1], numbers[2], memory[0], memory[1]
    seen_m, seen_v = 1.0 - momentum**t, 1.0 - 0.999**t  # sum of the weights in each mean so far
    for l in range(len(gradient)):
        g = gradient[l]
        m[l] = momentum * m[l] + (1.0 - momentum) * g
        v[l] = 0.999 * v[l] + 0.001 * (g * g)
        out[l] = rate * (m[l] / seen_m) / (math.sqrt(v[l] / seen_v) + 1e-8)


@register
class Adam(SGD):
    """Adam: θ ← θ − rate·m̂/(√v̂ + ε), running means m of the gradient (β₁ = momentum), v of its square (β₂ = 0.999)."""

    learning_rate: float = param(default=0.003, above=0, search=(3e-4, 0.1, "log"))
    """Length of a step."""
    momentum: float = param(default=0.9, least=0, below=1)
    """Share of the earlier gradients in their running mean (β₁)."""
    name = "adam"
    means: ClassVar[int] = 2
    kernel: ClassVar[Any] = staticmethod(_step)
