"""Losses of podium as functions of JAX: `jax.custom_vjp` around a callback to podium's kernels, on the processor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from podium.base.arrays import AnyArray
from podium.base.errors import MissingPackageError
from podium.integrations.batch import mean_loss, parsed
from podium.losses import Loss


def loss(spec: Loss | str) -> Callable[..., Any]:
    """Make a function of scores and labels that gives the mean of a loss over queries; jax.grad, jit and vmap take it.

        objective = podium.integrations.jax.loss("softmax")
        jax.grad(objective)(scores, labels, group=sizes)  # (N,), with sizes of consecutive queries
        jax.grad(objective)(scores, labels, mask=mask)  # (B, n), one query per row, mask False at padding

    The value has the type of the scores. `params` are the loss's learned parameters in their order, by default their
    initial values; `step` makes a loss that samples draw anew. A loss with a `surrogate` gives its value and the
    gradient of its surrogate.
    """
    try:
        import jax
    except ImportError:
        raise MissingPackageError("jax", "podium.integrations.jax", "jax") from None
    ranking = parsed(spec)

    def on_host(scores: Any, labels: Any, layout: Any, params: Any, step: Any) -> tuple[AnyArray, ...]:
        of = ranking.resampled(int(step)).with_learned(np.asarray(params))
        value, gradient, slopes = mean_loss(of, scores, labels, **layout)
        kind, kind_of_params = np.asarray(scores).dtype, np.asarray(params).dtype
        return np.asarray(value, kind), gradient.astype(kind), slopes.astype(kind_of_params)

    def both(*arguments: Any) -> Any:
        scores, params = arguments[0], arguments[3]
        shapes = [
            jax.ShapeDtypeStruct((), scores.dtype),
            *(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in (scores, params)),
        ]
        return jax.pure_callback(on_host, tuple(shapes), *arguments, vmap_method="sequential")

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def value_of(*arguments: Any) -> Any:
        return both(*arguments)[0]

    def forward(*arguments: Any) -> Any:
        value, gradient, slopes = both(*arguments)
        return value, (gradient, slopes)

    def backward(kept: Any, above: Any) -> tuple[Any, ...]:
        gradient, slopes = kept
        return above * gradient, None, None, above * slopes, None

    value_of.defvjp(forward, backward)

    def function(
        scores: Any, labels: Any, group: Any = None, mask: Any = None, *, params: Any = None, step: Any = 0
    ) -> Any:
        learned = ranking.learned_values() if params is None else params
        layout = {"group": group, "mask": mask}
        return value_of(jax.numpy.asarray(scores), labels, layout, jax.numpy.asarray(learned), step)

    return function
