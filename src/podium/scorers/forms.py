"""Forms: the function of a fitted model as plain arrays, from `Learner.form`, for explanations and exports.

A form describes scores as a function of the transformed features. Some models have none (a comparison network, a torch
module).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from podium.base.arrays import AnyArray, Array

if TYPE_CHECKING:
    from podium.scorers.activations import Activation


@dataclass(frozen=True, eq=False)
class LinearForm:
    """Linear scores f(x) = ⟨w, x⟩ + b."""

    weights: Array  # (d,)
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class TreesForm:
    """Sum of regression trees, as LightGBM's text."""

    text: AnyArray  # bytes
    n_features: int
    exact: bool = False  # whether tiny values are compared as they are; LightGBM takes them for 0


@dataclass(frozen=True, eq=False)
class StumpsForm:
    """Sum over thresholds: f(x) = Σ_t α_t·[x_l(t) > c_t], and α_t·m_t if the value is missing."""

    feature: AnyArray  # (T,)
    threshold: Array  # (T,)
    alpha: Array  # (T,)
    missing: Array  # (T,) m, the value of [x > c] for a missing x


@dataclass(frozen=True, eq=False)
class NetForm:
    """Neural network of layers x → a(x·W + b), or x → a(LN(x·W + b)) with layer norm; the last without a and LN."""

    layers: tuple[tuple[Array, Array], ...]
    activation: Activation
    norms: tuple[tuple[Array, Array], ...] = ()  # γ and β of each hidden layer; none without layer norm


@dataclass(frozen=True, eq=False)
class KernelForm:
    """Mean label of reference documents, weighted by exp(−½ Σ_l a_l²(x_l − x_il)²)."""

    widths: Array  # (d,)
    features: AnyArray  # (n, d)
    labels: Array  # (n,)


Form = LinearForm | TreesForm | StumpsForm | NetForm | KernelForm
