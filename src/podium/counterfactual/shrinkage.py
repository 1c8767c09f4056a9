"""Shrunk weights of off-policy estimators: large ones vary most, so a little bias buys a smaller error.

An impression of document d has the weight w = ω_d/ρ_d, divided by Σω/Σρ of its query, so that it is 1 on average and
always 1 if the ranker gives every document the exposure that it had. It becomes

    switch        ŵ = w if w ≤ λ, else 0: estimated relevance alone
    dros          ŵ = λw/(w² + λ)
    sub-gaussian  ŵ = w/(1 − λ + λw)

switch and dros are doubly robust with λ = ∞ and the direct method with λ = 0; sub-gaussian is doubly robust with λ = 0,
and all its weights are 1 with λ = 1. The estimate is nearer to the truth, but nobody knows its bias, so its interval is
that of dr, widened by the difference of the two: √(σ² + difference²) is its standard error.
Reference: Wang, Agarwal & Dudík, Optimal and adaptive off-policy evaluation in contextual bandits, ICML 2017; Su et
al., Doubly robust off-policy evaluation with shrinkage, ICML 2020; Metelli, Russo & Restelli, Subgaussian and
differentiable importance sampling for off-policy evaluation and learning, NeurIPS 2021.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import ParameterError

Shrinking = Literal["switch", "dros", "sub-gaussian"]
"""Doubly robust estimators with shrunk weights."""
UNSHRUNK = {"switch": np.inf, "dros": np.inf, "sub-gaussian": 0.0}
"""λ with which an estimator is doubly robust."""


def is_shrinking(how: str) -> bool:
    """Whether an estimator shrinks its weights."""
    return how in get_args(Shrinking)


def check_shrinkage(how: str, shrinkage: float | None) -> None:
    """Raise a clear error if λ is not one of the estimator's."""
    if shrinkage is None:
        return
    if not is_shrinking(how):
        raise ParameterError(f"{how} has no shrinkage; {', '.join(get_args(Shrinking))} have.")
    most = 1.0 if how == "sub-gaussian" else np.inf
    if not 0.0 <= shrinkage <= most:
        raise ParameterError(f"shrinkage of {how} must be from 0 to {most:g}; got {shrinkage}.")


def candidates(how: str, weights: Array) -> list[float]:
    """Values of λ to choose from, by the weights that there are; the last does not shrink."""
    if how == "sub-gaussian":
        return [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.0]
    shares = np.quantile(weights, [0.5, 0.8, 0.9, 0.95, 0.99]) if len(weights) else np.ones(1)
    values = np.unique(shares[shares > 0])
    return [*(values if how == "switch" else values**2).tolist(), np.inf]


def shrunk(how: str, w: Array, shrinkage: float) -> Array:
    """ŵ of each weight."""
    if shrinkage == UNSHRUNK[how]:
        return w
    if how == "switch":
        return np.where(w <= shrinkage, w, 0.0)
    if how == "dros":
        with np.errstate(over="ignore"):
            return w / (w * (w / shrinkage) + 1.0) if shrinkage > 0 else np.zeros_like(w)
    return np.divide(w, 1.0 - shrinkage + shrinkage * w, out=np.zeros_like(w), where=w > 0)
